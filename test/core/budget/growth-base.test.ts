import { expect, test } from 'vitest';
import { ancestorsOf, type MemoryHoldings } from '../../../src/core/budget/growth-base.js';
import type { Effect } from '../../../src/core/decide/effect.js';
import type { VictimReading } from '../../../src/core/decide/eviction.js';
import type { Policy } from '../../../src/core/decide/state.js';
import { alertMessage } from '../../../src/core/message/message.js';
import type { Candidates, WorkloadStats } from '../../../src/core/workload/workload.js';
import { Mi, policy, SECOND, stats, threshold, without, workload } from '../support.js';
import { Timeline } from '../timeline.js';

/** What workloads and others held at an eviction for memory is known, and compared when evictd stops evicting. */
const memory = threshold('memory.available', '100Mi');
const GONE = { processes: 0, usageBytes: 0n, signalledAtNs: 1n };

class Node extends Timeline {
  cgroups: Readonly<Record<string, bigint>> = {};
  readonly reads: (readonly string[])[] = [];
  readonly measured: string[] = [];
  sizes: Readonly<Record<string, Partial<WorkloadStats>>>;

  constructor(overrides: Partial<Policy>, sizes: Node['sizes']) {
    super(policy([memory], overrides), { usages: [], unreadable: [], timeNs: 0n });
    this.sizes = sizes;
  }

  next(seconds: number, mebibytes: bigint, victims: Readonly<Record<number, Partial<VictimReading>>> = {}): Effect[] {
    this.candidates = this.#found();
    return this.at(seconds, { 'memory.available': mebibytes * Mi }, victims, {
      outside: (above): MemoryHoldings => {
        this.reads.push([...above]);
        return { cgroups: new Map(Object.entries(this.cgroups)), othersAtMost: 0n, unread: [], counters: new Map(), above };
      },
    });
  }

  /** The pass has read only bounds of all workloads that the ranking does not need. */
  #found(): Candidates {
    const known = Object.entries(this.sizes).map(([name, one]) => {
      const protection = name === 'db' ? ({ kind: 'critical' } as const) : undefined;
      return { workload: workload(name, { path: `/apps/${name}`, protection }), stats: stats({ usageBytes: one.workingSetBytes, ...one }) };
    });
    const usages = known.map(({ workload: of, stats: all }) => {
      const isBound = all.workingSetAtMost === true;
      return {
        workload: of,
        stats: isBound ? stats({ usageBytes: all.usageBytes, workingSetBytes: all.usageBytes, workingSetAtMost: true }) : all,
      };
    });
    return {
      usages,
      unreadable: [],
      timeNs: 0n,
      measure: ({ id, name }) => {
        this.measured.push(name);
        const at = usages.findIndex(({ workload: of }) => of.id === id);
        const { workingSetAtMost: _, ...measured } = known[at]?.stats ?? stats({});
        const [before] = usages.slice(at, at + 1);
        if (before) usages[at] = { ...before, stats: measured };
        return measured;
      },
    };
  }
}

/** A working set, and page cache beside it which makes the bound larger. */
const bound = (mebibytes: bigint, cache: bigint): Partial<WorkloadStats> => ({
  workingSetBytes: mebibytes * Mi,
  usageBytes: (mebibytes + cache) * Mi,
  workingSetAtMost: true,
});
const uses = (mebibytes: bigint): Partial<WorkloadStats> => ({ workingSetBytes: mebibytes * Mi });
const kinds = (effects: readonly Effect[]): string[] =>
  effects.flatMap((effect) =>
    effect.kind === 'evict' ? [effect.decision.victim.workload.name] : effect.kind === 'alert' ? [effect.alert] : [],
  );

const alertIn = (effects: readonly Effect[]): string => {
  const [alert] = effects.flatMap((effect) => (effect.kind === 'alert' ? [effect] : []));
  return alert === undefined ? '' : alertMessage(alert);
};

test('growth of page cache does not count: the usage of workloads with only upper bounds is measured after the signal', () => {
  const node = new Node({}, { big: uses(50n), leak: bound(10n, 30n), other: bound(10n, 30n) });
  expect(kinds(node.next(0, 99n))).toEqual(['big']);
  expect(node.asked).toBe(1);
  node.next(0.001, 99n, { 1: {} });
  expect(node.asked).toBe(2);
  node.sizes = { leak: bound(62n, 0n), other: bound(10n, 30n) };
  expect(kinds(node.next(2, 97n, { 1: GONE }))).toEqual(['leak']); // and not an alert that something else has grown
});

test.each<[rule: string, cache: bigint, measured: readonly string[]]>([
  ['cannot have grown as much as the victim: it is not measured before the signal', 12n, []],
  ['may be what has grown: it is measured', 70n, ['other']],
])('after an eviction a workload %s', (_rule, cache, measured) => {
  const node = new Node({}, { big: uses(50n), leak: uses(10n), other: bound(1n, 8n) });
  node.next(0, 99n);
  node.next(0.001, 99n, { 1: {} });
  node.measured.length = 0;
  node.sizes = { leak: uses(62n), other: bound(1n, cache) };
  expect(kinds(node.next(2, 97n, { 1: GONE }))).toEqual(['leak']);
  expect(node.measured).toEqual(measured);
});

test('a decision that measured all workloads causes no second reading', () => {
  const node = new Node({}, { big: uses(50n), other: uses(10n) });
  node.next(0, 99n);
  node.next(0.001, 99n, { 1: {} });
  expect(node.asked).toBe(1);
});

test('memory outside the workloads is read after the signal of an eviction, and for the alert; cgroups above workloads are remembered', () => {
  const node = new Node({}, { big: uses(50n), other: uses(10n) });
  node.next(0, 99n);
  expect(node.reads).toEqual([]);
  node.next(0.001, 99n, { 1: {} });
  node.next(0.002, 99n, { 1: {} });
  expect(node.reads).toEqual([['/apps', '/']]);
  node.sizes = {};
  node.cgroups = { '/backup': 60n * Mi };
  const effects = node.next(2, 98n, { 1: GONE });
  expect(kinds(effects)).toEqual(['nothing-evictable']);
  node.sizes = { other: uses(10n) };
  expect(alertIn(node.next(4, 98n))).toMatch(/memory outside the workloads .*; in the last 4s cgroup \/backup grew by 60MiB$/);
  expect(node.reads).toHaveLength(2);
  expect(node.reads.at(-1)).toContain('/apps');
});

test('the cgroups above the workloads are remembered, though the workloads have ended', () => {
  const before = { cgroups: new Map(), othersAtMost: 0n, unread: [], counters: new Map(), above: new Set(['/apps']) };
  expect([...ancestorsOf([], before)]).toEqual(['/apps']);
});

test.each<[rule: string, overrides: Partial<Policy>]>([
  ['a dry run', { dryRun: true }],
  ['the profile kubelet', { departures: { ...without('budget'), 'no-yield': false } }],
])('%s: no memory outside the workloads is read', (_rule, overrides) => {
  const node = new Node(overrides, { big: uses(50n), other: uses(10n) });
  node.next(0, 99n);
  node.next(0.001, 99n, { 1: {} });
  expect(node.reads).toEqual([]);
});

test('a budget that is used up: the alert names the workload that has grown since the last eviction', () => {
  const node = new Node({ evictionBudget: { max: 1, windowNs: 600n * SECOND, bands: [] } }, { big: uses(50n), db: uses(10n), b: uses(5n) });
  node.next(0, 99n);
  node.sizes = { db: uses(70n), b: uses(5n) };
  expect(alertIn(node.next(30, 90n, { 1: GONE }))).toMatch(
    /the eviction budget is used up: .*; in the last 30s db \(never evicted: critical\) grew by 60MiB$/,
  );
  expect(node.asked).toBe(2);
  node.next(31, 90n);
  expect([node.asked, node.reads.length]).toEqual([3, 2]); // whether a victim is there again; the alert comes once per episode
});

test('an eviction without effect: the alert names the workload that has grown since it began', () => {
  const node = new Node({}, { big: { workingSetBytes: 50n * Mi, staysBytes: 40n * Mi }, db: uses(10n), b: uses(5n) });
  node.next(0, 90n);
  node.next(0.001, 90n, { 1: {} });
  node.sizes = { db: uses(14n), b: uses(5n) };
  node.next(0.1, 96n, { 1: { ...GONE, usageBytes: 40n * Mi } });
  expect(alertIn(node.next(1.7, 96n, { 1: { ...GONE, usageBytes: 40n * Mi } }))).toMatch(
    /the last eviction freed too little; .*; in the last 1.7s db \(never evicted: critical\) grew by 4MiB$/,
  );
});
