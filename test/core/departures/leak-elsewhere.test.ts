import { describe, expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import type { Policy } from '../../../src/core/decide/state.js';
import { alertMessage } from '../../../src/core/message/message.js';
import type { Signal } from '../../../src/core/signal/signal.js';
import type { Candidates, Workload } from '../../../src/core/workload/workload.js';
import { listed } from '../listed.js';
import { candidates, Mi, policy, SECOND, threshold, without } from '../support.js';
import { Timeline } from '../timeline.js';
import { pod } from '../usage.js';

/** What an eviction freed is consumed again at once, and not by what may be evicted: the next one would not help either. */
const memory = threshold('memory.available', '100Mi');
const NAMES = ['a', 'b', 'c', 'd'];

type Sizes = Readonly<Record<string, number>>;

class Leaking extends Timeline {
  constructor(overrides: Partial<Policy> = {}) {
    super(policy([memory], overrides), candidates());
  }

  /** A step in which the last victim is gone, and workloads have these sizes in MiB, 10 by default. */
  next(seconds: number, available: number, sizes: Sizes = {}): Effect[] {
    const { evictions } = this.state;
    const gone = Object.fromEntries(
      evictions.map(({ decision: { serial } }) => [serial, { processes: 0, usageBytes: 0n, signalledAtNs: 1n }]),
    );
    for (const { decision } of evictions) this.#ended.add(decision.victim.workload.name);
    const named = NAMES.filter((name) => !this.#ended.has(name)).map((name): [Workload, bigint] => [
      pod(name).workload,
      BigInt(sizes[name] ?? 10) * Mi,
    ]);
    const db = { ...pod('db').workload, protection: { kind: 'critical' } as const };
    this.candidates = { ...candidates(...named, [db, BigInt(sizes.db ?? 5) * Mi]), ...(this.veto && { veto: this.veto }) };
    return this.at(seconds, { 'memory.available': BigInt(available) * Mi, ...this.pressure }, gone);
  }

  pressure: Partial<Record<Signal, bigint>> = {};
  veto: Candidates['veto'];
  readonly #ended = new Set<string>();
}

const acts = (effects: readonly Effect[]): string[] =>
  effects.flatMap((effect) => (effect.kind === 'evict' ? ['evict'] : effect.kind === 'alert' ? [effect.alert] : []));

test.each<[rule: string, veto: Candidates['veto'], act: string]>([
  [
    'could not be evicted without a reset of the machine',
    ({ name }) => (name === 'b' ? { kind: 'emergency-action', unit: 'b', setting: 'reboot' } : undefined),
    'leak-elsewhere',
  ],
  ['may be evicted', undefined, 'evict'],
])('a workload has consumed it that %s', (_rule, veto, act) => {
  const timeline = new Leaking();
  timeline.veto = veto;
  timeline.next(0, 99);
  timeline.next(1, 99);
  expect(acts(timeline.next(2.5, 98, { b: 21 }))).toEqual([act]);
});

test('memory that the kernel has not yet added to its counters is not a leak', () => {
  const timeline = new Leaking();
  timeline.next(0, 99);
  expect(acts(timeline.next(1, 99))).toEqual([]);
  expect(acts(timeline.next(2.499, 99))).toEqual([]);
  expect(acts(timeline.next(2.5, 99))).toEqual(['leak-elsewhere']);
});

test.each<[rule: string, available: number, sizes: Sizes, act: string]>([
  ['a protected workload has consumed it', 98, { db: 17 }, 'leak-elsewhere'],
  ['memory outside the workloads has', 98, {}, 'leak-elsewhere'],
  ['a workload that may be evicted has', 98, { b: 21 }, 'evict'],
  ['half of the growth is in the evictable workload', 97, { b: 16, db: 11 }, 'evict'],
  ['less than half of the growth is in the evictable workload', 98, { b: 15, db: 12 }, 'leak-elsewhere'],
])('%s', (_rule, available, sizes, act) => {
  const timeline = new Leaking();
  expect(acts(timeline.next(0, 99))).toEqual(['evict']);
  const said = [...acts(timeline.next(1, available, sizes)), ...acts(timeline.next(2.5, available, sizes))];
  expect(said).toEqual([act]);
});

test('the alert names the protected workload, or the memory outside the workloads, with its growth', () => {
  const said = (sizes: Sizes): string => {
    const timeline = new Leaking();
    timeline.next(0, 99);
    timeline.next(1, 90, sizes);
    const alert = timeline.next(2.5, 90, sizes).find((effect) => effect.kind === 'alert');
    return alert?.kind === 'alert' ? alertMessage(alert) : '';
  };
  expect(said({ db: 25 })).toMatch(/the last eviction freed 10MiB, and memory that no eviction frees has grown by 20MiB since/);
  expect(said({ db: 25 })).toMatch(/; in the last 2.5s db \(never evicted: critical\) grew by 20MiB$/);
  expect(said({ db: 8 })).toMatch(/and memory outside the workloads \(another unit, the kernel, or a tmpfs\) has grown by 19MiB since/);
});

test.each<[rule: string, before: number, act: string[]]>([
  ['half of it is consumed', 94, ['leak-elsewhere']],
  ['less than half: it was too little', 93, ['evict']],
])('%s', (_rule, before, act) => {
  const timeline = new Leaking();
  timeline.next(0, before);
  expect([...acts(timeline.next(1, 99)), ...acts(timeline.next(2.5, 99))]).toEqual(act);
});

test('page cache that was available before is neither freed nor consumed', () => {
  const timeline = new Leaking();
  timeline.next(0, 90);
  const usageBytes = 500n * Mi;
  timeline.at(0.5, { 'memory.available': 90n * Mi }, { 1: { processes: 1, usageBytes } });
  expect(acts(timeline.next(1, 99))).toEqual(['evict']);
});

test('a leak costs at most one workload, and causes one alert, however long it lasts', () => {
  const timeline = new Leaking();
  const said = Array.from({ length: 20 }, (_, second) => acts(timeline.next(second * 20, 99 - second, { db: 10 + second * 100 }))).flat();
  expect(said).toEqual(['evict', 'leak-elsewhere']);
});

test.each<[rule: string, second: number, available: number, sizes: Sizes, act: string[]]>([
  ['the leak goes on', 3, 80, { db: 35 }, []],
  ['a workload that may be evicted begins to grow', 3, 80, { db: 17, b: 28 }, ['evict']],
  ['a workload that hardly grows is not evicted', 3, 97, { db: 17, b: 11 }, []],
])('while the leak pauses evictions: %s', (_rule, second, available, sizes, act) => {
  const timeline = new Leaking();
  timeline.next(0, 99);
  for (const at of [1, 2.5]) timeline.next(at, 98, { db: 17 });
  expect(acts(timeline.next(second, available, sizes))).toEqual(act);
});

test('growth before the pause is not counted against a workload that begins to grow in it', () => {
  const timeline = new Leaking();
  timeline.next(0, 99);
  timeline.next(1, 98, { db: 17 });
  expect(acts(timeline.next(2.5, 50, { db: 65 }))).toEqual(['leak-elsewhere']);
  expect(acts(timeline.next(4, 42, { db: 65, b: 18 }))).toEqual(['evict']);
});

test('evictd evicts again when memory recovers, or when an operator resumes', () => {
  const recovered = new Leaking();
  recovered.next(0, 99);
  for (const second of [1, 2.5]) recovered.next(second, 98, { db: 17 });
  for (const second of [3, 13]) recovered.next(second, 200, { db: 17 });
  expect(acts(recovered.next(14, 98, { db: 100 }))).toEqual(['evict']);

  const resumed = new Leaking();
  resumed.next(0, 99);
  for (const second of [1, 2.5]) resumed.next(second, 98, { db: 17 });
  const effects = resumed.at(3, { 'memory.available': 90n * Mi }, {}, { resumed: {} });
  expect(effects[0]).toMatchObject({ kind: 'resume', lifted: { leak: true } });
  expect(acts(effects)).toEqual(['evict']);
});

test.each<[rule: string, overrides: Partial<Policy>, victim: object]>([
  ['without the departure', { departures: { ...without('budget'), 'node-yield': false } }, { processes: 0, usageBytes: 0n }],
  ['a workload that survived has freed nothing that could be consumed', {}, { processes: 1, error: 'EIO', usageBytes: 0n }],
])('%s the next workload is evicted', (_rule, overrides, victim) => {
  const timeline = new Leaking(overrides);
  timeline.next(0, 99);
  timeline.candidates = { ...timeline.candidates, usages: timeline.candidates.usages.slice(1) };
  expect(acts(timeline.at(1, { 'memory.available': 90n * Mi }, { 1: victim }))).toEqual(['evict']);
});

test.each([
  ['almost', 60.999, 'leak-elsewhere'],
  ['has', 61, 'evict'],
])('an eviction whose freed memory lasted for a minute was effective: it %s', (_rule, second, act) => {
  const timeline = new Leaking();
  timeline.next(0, 99);
  timeline.next(1, 120); // no process is left
  expect(acts(timeline.next(second, 98, { db: 100 }))).toEqual([act]);
});

test('the minute begins when the victim has ended, however long its grace period was', () => {
  const soft = threshold('memory.available', '100Mi', { graceSeconds: 1 });
  const timeline = new Leaking({ thresholds: [soft], maxPodGracePeriodNs: 90n * SECOND });
  timeline.next(0, 99);
  expect(acts(timeline.next(1, 99))).toEqual(['evict']);
  timeline.next(90, 120);
  timeline.next(92, 98, { db: 100 });
  expect(acts(timeline.next(94, 98, { db: 100 }))).toEqual(['leak-elsewhere']);
});

describe('a pressure threshold that joins bytes of memory', () => {
  const thrashing = listed('memory.pressure.full>30% & memory.available<10%', 'hard');
  const STALLED = { 'memory.pressure.full': 900_000_000n };

  test('does not evict during the pause of another threshold for these bytes', () => {
    const timeline = new Leaking({ thresholds: [memory, thrashing], pressureWindowNs: 1n });
    timeline.next(0, 99);
    for (const second of [1, 2.5]) timeline.next(second, 98, { db: 17 });
    timeline.pressure = STALLED;
    expect(acts(timeline.next(3, 98, { db: 17 }))).toEqual(['leak-elsewhere']);
    expect(acts(timeline.next(4, 90, { db: 17, b: 18 }))).toEqual(['evict']);
  });

  test('finds a leak itself, and pauses until its episode ends', () => {
    const timeline = new Leaking({ thresholds: [thrashing], pressureWindowNs: 1n });
    timeline.pressure = STALLED;
    expect(acts(timeline.next(0, 99))).toEqual(['evict']);
    timeline.next(1, 106); // most of it comes back
    timeline.next(2, 98, { db: 17 });
    expect(acts(timeline.next(3, 98, { db: 17 }))).toEqual(['leak-elsewhere']);
    expect([4, 5, 70].flatMap((second) => acts(timeline.next(second, 98, { db: 20 })))).toEqual([]);
  });
});
