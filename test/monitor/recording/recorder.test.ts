import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { initialState } from '../../../src/core/state.js';
import type { Protection } from '../../../src/core/workload.js';
import { InputError } from '../../../src/errors.js';
import type { StepReport } from '../../../src/monitor/ports.js';
import { RecordingStream, type RecordingEnd } from '../../../src/monitor/recording/stream.js';
import type { RecordedStep, RecordingEntry } from '../../../src/monitor/recording/format.js';
import { candidates, Mi, observations, policy, SECOND, stats, threshold, workload } from '../../core/support.js';
import { recorder, scratch, SimulatedRun } from './recorded-run.js';

const POLICY = policy([threshold('memory.available', '256Mi')]);
const [web, batch] = [workload('web', { path: '/node/web' }), workload('batch', { path: '/node/batch', priority: -1 })];

async function read(path: string): Promise<{ entries: RecordingEntry[]; end: RecordingEnd }> {
  const stream = await RecordingStream.open(path);
  const entries: RecordingEntry[] = [];
  for await (const { entry } of stream.entries()) entries.push(entry);
  return { entries, end: stream.end };
}

const stepsIn = (entries: readonly RecordingEntry[]): RecordedStep[] => entries.filter((entry) => entry.kind === 'step');
const kinds = (entries: readonly RecordingEntry[]): string[] => entries.map(({ kind }) => kind);

function report(second: number, rest: Partial<StepReport> = {}): StepReport {
  const nowNs = BigInt(second) * SECOND;
  return {
    wake: { source: 'tick', atNs: nowNs },
    policy: POLICY,
    input: { nowNs, layout: 'single', victims: new Map(), reclaimed: undefined },
    observations: observations(nowNs, { 'memory.available': 512n * Mi }),
    candidates: [],
    state: initialState,
    effects: [],
    ...rest,
  };
}

test('every step comes back as it was told: an eviction, its victim, and what was read besides', async () => {
  const it = recorder();
  const run = await new SimulatedRun(it, POLICY, (second) => [
    [web, 100n * Mi],
    [batch, BigInt(second) * 30n * Mi],
  ]).until(60);
  await run.end();
  const { entries, end } = await read(it.path);
  expect(end).toEqual({ kind: 'whole' });
  const steps = stepsIn(entries);
  expect(steps.map(({ wake, input, observations: observed }) => ({ wake, input, observed }))).toEqual(
    run.reports.map(({ wake, input, observations: observed }) => ({ wake, input, observed })),
  );
  const asked = steps.flatMap(({ candidates: each }) => each.map(({ candidates: { usages } }) => usages));
  expect(asked).toEqual(run.reports.flatMap(({ candidates: each }) => each.map(({ usages }) => usages)));
  expect(steps.flatMap(({ decisions }) => decisions)).toEqual([{ serial: 1, victim: 'id-batch' }]);
  expect(kinds(entries).filter((kind) => kind !== 'step' && kind !== 'sample')).toEqual(['policy', 'end']);
});

test('what a pod has comes back, too, and what is not known stays so', async () => {
  const it = recorder();
  const pod = {
    workload: workload('pod'),
    stats: stats({ workingSetBytes: 5n, volumes: [{ name: 'v', usedBytes: 1n, inodesUsed: undefined }] }),
  };
  const unknown = { workload: workload('unknown'), stats: undefined };
  const unreadable = [{ name: 'x', path: '/x', reason: 'EACCES' }];
  it.recorder.stepped(report(0, { candidates: [{ usages: [pod, unknown], unreadable, timeNs: 2n ** 60n }] }));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const [step] = stepsIn((await read(it.path)).entries);
  expect(step?.candidates).toEqual([{ candidates: { usages: [pod, unknown], unreadable, timeNs: 2n ** 60n }, vetoes: new Map() }]);
});

test('what a veto answered is remembered with the candidates that it was asked of, as it was in the step', async () => {
  const it = recorder();
  const vacant: Protection = { kind: 'vacant' };
  let dead = false;
  const source = it.recorder.watching({
    candidates: () => ({ ...candidates([web, 1n], [batch, 2n]), veto: ({ name }) => (dead || name === 'web' ? vacant : undefined) }),
    refresh: () => undefined,
    problems: () => [],
    close: () => undefined,
  });
  const found = source.candidates();
  expect([found.veto?.(web), found.veto?.(batch)]).toEqual([vacant, undefined]);
  it.recorder.stepped(report(0, { candidates: [found] }));
  dead = true;
  expect(found.veto?.(batch)).toEqual(vacant); // oom_score_adj asks, too
  it.recorder.close();
  await it.recorder.flush(5_000);
  const [step] = stepsIn((await read(it.path)).entries);
  expect(step?.candidates[0]?.vetoes).toEqual(
    new Map([
      ['id-web', vacant],
      ['id-batch', undefined],
    ]),
  );
});

test.each<[rule: string, everySeconds: bigint, samples: number]>([
  ['at every tick where that is the pace', 10n, 7],
  ['at every third tick', 30n, 3],
  ['never', 0n, 0],
])('workloads are read though nobody has to go: %s', async (_rule, everySeconds, samples) => {
  const it = recorder(undefined, { sampleEveryNs: everySeconds * SECOND });
  await (await new SimulatedRun(it, POLICY, () => [[web, 1n]]).until(60)).end();
  expect(kinds((await read(it.path)).entries).filter((kind) => kind === 'sample')).toHaveLength(samples);
});

test('a full file makes room for the next, which goes on by itself', async () => {
  const it = recorder(undefined, { limits: { maxBytes: 3_000, maxAgeMs: 86_400_000 } });
  let second = 0;
  for (let round = 0; round < 6; round++) {
    for (let each = 0; each < 40; each++) {
      second += 10;
      it.recorder.stepped(
        report(second, { observations: observations(BigInt(second * 7919) % 1_000_003n, { 'memory.available': BigInt(second) ** 5n }) }),
      );
    }
    await it.recorder.flush(5_000);
  }
  it.recorder.close();
  await it.recorder.flush(5_000);
  const [older, newer] = [await read(`${it.path}.1`), await read(it.path)];
  expect([older.end, newer.end]).toEqual([{ kind: 'whole' }, { kind: 'whole' }]);
  expect(kinds(newer.entries).slice(0, 2)).toEqual(['policy', 'state']);
  const [last, first] = [stepsIn(older.entries).at(-1), stepsIn(newer.entries)[0]];
  expect(first?.input.nowNs).toBe((last?.input.nowNs ?? 0n) + 10n * SECOND);
  expect(stepsIn(newer.entries).at(-1)?.input.nowNs).toBe(BigInt(second) * SECOND);
  expect(statSync(it.path).size + statSync(`${it.path}.1`).size).toBeLessThan(3 * 3_000);
});

test('what an earlier run left becomes FILE.1', async () => {
  const it = recorder();
  writeFileSync(it.path, 'before');
  it.recorder.stepped(report(0));
  it.recorder.close();
  expect(await it.recorder.flush(5_000)).toBe(true);
  expect(readFileSync(`${it.path}.1`, 'utf8')).toBe('before');
  expect((await read(it.path)).end).toEqual({ kind: 'whole' });
});

test('cut off anywhere, it is read up to where it is whole', async () => {
  const it = recorder();
  for (let second = 0; second < 200; second += 10) {
    it.recorder.stepped(report(second));
    if (second % 50 === 0) await it.recorder.flush(5_000); // several blocks
  }
  it.recorder.close();
  await it.recorder.flush(5_000);
  const whole = readFileSync(it.path);
  const all = stepsIn((await read(it.path)).entries);
  const lengths = new Set<number>();
  for (let size = whole.length - 1; size > 0; size -= 7) {
    truncateSync(it.path, size);
    const found = await read(it.path).catch((error: unknown) => error as InputError);
    if (found instanceof InputError) {
      expect(found.code).toBe('EVICTD_RECORDING_EMPTY');
      continue;
    }
    expect(['cut', 'open', size > whole.length - 9 ? 'whole' : 'cut']).toContain(found.end.kind); // the last eight bytes are a sum and a length
    const steps = stepsIn(found.entries);
    expect(steps).toEqual(all.slice(0, steps.length));
    lengths.add(steps.length);
  }
  expect(lengths.size).toBeGreaterThan(3);
});

test('after a kill −9 the file has everything up to the last second', async () => {
  const it = recorder();
  it.recorder.stepped(report(0));
  await it.recorder.flush(5_000); // neither closed nor ended
  it.recorder.stepped(report(10));
  const { entries, end } = await read(it.path);
  expect(end).toEqual({ kind: 'open' });
  expect(stepsIn(entries)).toHaveLength(1);
  it.recorder.close();
  await it.recorder.flush(5_000);
});

test('a damaged block ends it, or is named by its line', async () => {
  const it = recorder();
  for (let second = 0; second < 6_000; second += 10) {
    const noise = BigInt(second * 7919) % 1_000_003n;
    it.recorder.stepped(report(second, { observations: observations(noise, { 'memory.available': BigInt(second) ** 5n }) }));
    if (second % 100 === 0) await it.recorder.flush(5_000);
  }
  const bytes = readFileSync(it.path);
  bytes.fill(0xff, bytes.length - 40, bytes.length - 20);
  writeFileSync(it.path, bytes);
  const found = await read(it.path).catch((error: unknown) => error as InputError);
  // Damaged bytes may still give lines: then it is the line that is wrong.
  if (found instanceof InputError) expect(found.code).toBe('EVICTD_RECORDING_LINE');
  else expect(found.end).toMatchObject({ kind: 'cut', reason: expect.stringMatching(/damaged/) as string });
  it.recorder.close();
  await it.recorder.flush(5_000);
});

test('a directory that is not there is said once, and it is tried again; nothing is lost meanwhile', { timeout: 15_000 }, async () => {
  const directory = join(scratch(), 'later');
  const it = recorder(join(directory, 'rec.gz'));
  it.recorder.stepped(report(0));
  expect(await it.recorder.flush(500)).toBe(false);
  it.recorder.stepped(report(10));
  expect(await it.recorder.flush(500)).toBe(false);
  expect(it.errors.map(({ message }) => message)).toEqual([expect.stringMatching(/ENOENT/)]);
  mkdirSync(directory);
  it.recorder.close();
  expect(await it.recorder.flush(5_000)).toBe(true);
  expect(stepsIn((await read(it.path)).entries)).toHaveLength(2);
  expect(it.recorder.lost).toBe(0);
});

test(
  'beyond what may wait the oldest are lost, counted, and the file says where and in which state it goes on',
  { timeout: 60_000 },
  async () => {
    const directory = join(scratch(), 'later');
    const it = recorder(join(directory, 'rec.gz'));
    const state = { ...initialState, decisions: 7 };
    for (let second = 0; second < 40_000; second++) it.recorder.stepped(report(second, { state }));
    expect(it.recorder.lost).toBeGreaterThan(7_000);
    expect(it.lost()).toBe(1);
    mkdirSync(directory);
    it.recorder.close();
    expect(await it.recorder.flush(20_000)).toBe(true);
    const { entries } = await read(it.path);
    expect(entries[1]).toMatchObject({ kind: 'state', lost: it.recorder.lost, state: { decisions: 7 } });
    expect(stepsIn(entries)).toHaveLength(40_000 - it.recorder.lost);
    expect(entries.at(-1)).toEqual({ kind: 'end', lost: it.recorder.lost });
  },
);

test('something that is no regular file is not written to', async () => {
  const it = recorder(scratch());
  it.recorder.stepped(report(0));
  await it.recorder.flush(500);
  expect(it.errors.map(({ message }) => message)).toEqual([expect.stringMatching(/not a regular file/)]);
  expect(existsSync(`${it.path}.1`)).toBe(false);
});

test('a line at rest is small: a step that decides nothing has about 300 bytes before it is compressed', async () => {
  const it = recorder();
  for (let second = 0; second < 100; second++) it.recorder.stepped(report(second));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const lines = gunzipSync(readFileSync(it.path)).toString('utf8').split('\n');
  expect(Math.max(...lines.filter((line) => line.includes('"kind":"step"')).map(({ length }) => length))).toBeLessThan(300);
});
