import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { initialState } from '../../src/core/decide/state.js';
import type { Decision } from '../../src/core/decide/eviction.js';
import type { DiskHoldings } from '../../src/core/disk/disk-amount.js';
import type { Protection } from '../../src/core/workload/workload.js';
import { InputError } from '../../src/errors.js';
import type { StepReport, WorkloadSource } from '../../src/monitor/ports/ports.js';
import { openRecording, type RecordingLimits } from '../../src/recording/recording-file.js';
import { RecordingStream, type RecordingEnd } from '../../src/recording/recording-stream.js';
import type { RecordedStep, RecordingEntry } from '../../src/recording/recording-format.js';
import { toJson } from '../../src/storage/tagged-json.js';
import { candidates, Mi, observations, policy, SECOND, stats, threshold, workload } from '../core/support.js';
import { recorder, scratch, SimulatedRun, type Recorded } from './recorded-run.js';

const POLICY = policy([threshold('memory.available', '256Mi')]);
const [web, batch] = [workload('web', { path: '/node/web' }), workload('batch', { path: '/node/batch', priority: -1 })];

interface ReadRun {
  readonly entries: RecordingEntry[];
  end: RecordingEnd;
}

async function readRuns(path: string): Promise<ReadRun[]> {
  const stream = await RecordingStream.open(path);
  let run: ReadRun = { entries: [], end: { kind: 'open' } };
  const runs = [run];
  for await (const { entry } of stream.entries()) {
    if (entry.kind !== 'run') {
      run.entries.push(entry);
      continue;
    }
    run.end = entry.before;
    run = { entries: [], end: { kind: 'open' } };
    runs.push(run);
  }
  run.end = stream.end;
  return runs;
}

/** The only run. */
async function read(path: string): Promise<ReadRun> {
  const [run, ...more] = await readRuns(path);
  if (run === undefined || more.length > 0) throw new Error(`${String(more.length + 1)} runs`);
  return run;
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
    rechecks: [],
    outside: [],
    state: initialState,
    effects: [],
    ...rest,
  };
}

test('every step is read back as recorded, with an eviction, its victim, and the other readings', async () => {
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

test('a standing order that was carried out, a resumption and a pause are read back', async () => {
  const it = recorder();
  const { input } = report(0);
  const ordered = {
    serial: 7,
    decidedAtNs: 5n,
    standingOrder: { preparedAtNs: 1n, crossedAtNs: 2n, signalledAtNs: 5n },
  } as unknown as Decision;
  it.recorder.stepped(report(0, { input: { ...input, ordered } }));
  it.recorder.stepped(report(1, { input: { ...input, resumed: { by: 'uid 0' } } }));
  const pause = { forNs: 60n, reason: 'test', workload: { name: 'web', path: '/web' } };
  it.recorder.stepped(report(2, { input: { ...input, pause, bootNs: 5n } }));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const steps = stepsIn((await read(it.path)).entries);
  expect(steps.map(({ input: read }) => [read.ordered, read.resumed, read.pause, read.bootNs])).toEqual([
    [ordered, undefined, undefined, undefined],
    [undefined, { by: 'uid 0' }, undefined, undefined],
    [undefined, undefined, pause, 5n],
  ]);
});

test('memory outside the workloads is read back, or the reason why it could not be read', async () => {
  const it = recorder();
  const held = {
    cgroups: new Map([['/backup', 5n]]),
    othersAtMost: 0n,
    unread: [],
    counters: new Map([['Shmem', 7n]]),
    above: new Set(['/']),
  };
  it.recorder.stepped(report(0, { outside: [held, undefined] }));
  it.recorder.stepped(report(1));
  it.recorder.close();
  await it.recorder.flush(5_000);
  expect(stepsIn((await read(it.path)).entries).map(({ outside }) => outside)).toEqual([[held, undefined], []]);
});

test('the facts of a pod are read back, and unknown ones stay unknown', async () => {
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
  expect(step?.candidates).toEqual([
    { candidates: { usages: [pod, unknown], unreadable, timeNs: 2n ** 60n }, vetoes: new Map(), awaited: [] },
  ]);
});

test('managed workloads are read back where a policy used them', async () => {
  const it = recorder();
  const leaf = { workload: workload('leaf'), stats: stats({ workingSetBytes: 5n, swapBytes: 7n }) };
  const source = it.recorder.watching({
    candidates: () => ({ usages: [], unreadable: [], timeNs: 1n, managed: () => [leaf], veto: () => ({ kind: 'self' }) }),
    refresh: () => undefined,
    holding: () => undefined,
    problems: () => [],
    close: () => undefined,
  });
  const [asked, silent] = [source.candidates(), source.candidates()];
  expect(asked.managed?.()).toEqual([leaf]);
  asked.veto?.(leaf.workload);
  it.recorder.stepped(report(0, { candidates: [asked, silent] }));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const [step] = stepsIn((await read(it.path)).entries);
  expect(step?.candidates.map(({ managed, vetoes }) => [managed, vetoes.size])).toEqual([
    [[leaf], 1],
    [undefined, 0],
  ]);
});

test('a value that has no reading yet is read back, and is neither missing nor absent', async () => {
  const it = recorder();
  const pending = new Map([['memory.pressure.full', 'not read for 2 s yet'] as const]);
  it.recorder.stepped(report(0, { observations: { observed: new Map(), missing: new Map(), pending } }));
  it.recorder.stepped(report(1));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const [first, second] = stepsIn((await read(it.path)).entries);
  expect(first?.observations).toEqual({ observed: new Map(), missing: new Map(), pending });
  expect(second?.observations).not.toHaveProperty('pending');
});

test('values that were read after the candidates are read back after the earlier ones', async () => {
  const it = recorder();
  const rechecks = [observations(3n, { 'memory.available': 7n * Mi, 'pid.available': 9n })];
  it.recorder.stepped(report(0, { rechecks }));
  it.recorder.stepped(report(1));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const [first, second] = stepsIn((await read(it.path)).entries);
  expect(first?.observations).toEqual(report(0).observations);
  expect(first?.rechecks).toEqual(rechecks);
  expect(second?.rechecks).toEqual([]);
});

test('the answer of a veto is recorded with the candidates that it was about, as in the step', async () => {
  const it = recorder();
  const vacant: Protection = { kind: 'vacant' };
  let dead = false;
  const source = it.recorder.watching({
    candidates: () => ({ ...candidates([web, 1n], [batch, 2n]), veto: ({ name }) => (dead || name === 'web' ? vacant : undefined) }),
    refresh: () => undefined,
    holding: () => undefined,
    problems: () => [],
    close: () => undefined,
  });
  const found = source.candidates();
  expect([found.veto?.(web), found.veto?.(batch)]).toEqual([vacant, undefined]);
  it.recorder.stepped(report(0, { candidates: [found] }));
  dead = true;
  expect(found.veto?.(batch)).toEqual(vacant); // oom_score_adj asks for candidates, too
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

test('process counts are recorded where they were counted, and are not counted for the recording', async () => {
  const it = recorder(undefined, { sampleEveryNs: 0n });
  let asked = 0;
  const processes = (): ReadonlyMap<string, bigint> => {
    asked += 1;
    return new Map([['id-web', 7n]]);
  };
  const source: WorkloadSource = {
    candidates: () => ({ ...candidates([web, 1n], [batch, 2n]), processes }),
    refresh: () => undefined,
    holding: () => undefined,
    problems: () => [],
    close: () => undefined,
  };
  const watched = it.recorder.watching(source);
  const counted = watched.candidates();
  expect(counted.processes?.().get('id-web')).toBe(7n);
  it.recorder.stepped(report(0, { candidates: [counted] }));
  it.recorder.stepped(report(1, { candidates: [watched.candidates()] }));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const found = stepsIn((await read(it.path)).entries).map((step) =>
    step.candidates[0]?.candidates.usages.map(({ stats }) => stats?.processes),
  );
  expect(found).toEqual([
    [7n, undefined],
    [undefined, undefined],
  ]);
  expect(asked).toBe(1);
});

test('disk usage is recorded whatever resource was short, because another configuration may use it', async () => {
  const it = recorder(undefined, { sampleEveryNs: 0n });
  const amount = { bytes: Mi, inodes: 1n };
  const nodefs = { uses: amount, frees: amount, atNs: 5n };
  const holdings = (path: string): DiskHoldings => (path === web.path ? { nodefs } : { nodefs: 'measuring' });
  it.recorder.stepped(report(0, { candidates: [{ ...candidates([web, 1n], [batch, 2n]), holdings }] }));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const [step] = stepsIn((await read(it.path)).entries);
  expect(step?.candidates[0]?.candidates.usages.map(({ stats }) => stats?.disks)).toEqual([{ nodefs }, { nodefs: 'measuring' }]);
});

test.each<[rule: string, everySeconds: bigint, samples: number]>([
  ['at every tick if the interval is as long', 10n, 7],
  ['at every third tick', 30n, 3],
  ['never', 0n, 0],
])('workloads are read though no eviction is due: %s', async (_rule, everySeconds, samples) => {
  const it = recorder(undefined, { sampleEveryNs: everySeconds * SECOND });
  await (await new SimulatedRun(it, POLICY, () => [[web, 1n]]).until(60)).end();
  expect(kinds((await read(it.path)).entries).filter((kind) => kind === 'sample')).toHaveLength(samples);
});

test('a full file is followed by the next, which can be read alone', async () => {
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

/** A run with these steps. killed: it is not closed. */
async function recordedRun(
  path: string,
  seconds: readonly number[],
  how: 'ends' | 'is killed' = 'ends',
  limits?: RecordingLimits,
): Promise<void> {
  const { recorder: run } = recorder(path, limits && { limits });
  for (const second of seconds) run.stepped(report(second));
  if (how === 'ends') run.close();
  expect(await run.flush(5_000)).toBe(true);
  onTestFinished(async () => {
    run.close();
    await run.flush(5_000);
  });
}

const stepTimes = (runs: readonly ReadRun[]): number[][] =>
  runs.map(({ entries }) => stepsIn(entries).map(({ input }) => Number(input.nowNs / SECOND)));

test('a new run is appended to earlier ones, also to one that was killed', async () => {
  const path = join(scratch(), 'rec.gz');
  await recordedRun(path, [0, 10]);
  await recordedRun(path, [5, 15, 25], 'is killed');
  await recordedRun(path, [7], 'is killed');
  await recordedRun(path, [1]);
  const runs = await readRuns(path);
  expect(stepTimes(runs)).toEqual([[0, 10], [5, 15, 25], [7], [1]]);
  expect(runs.map(({ end }) => end.kind)).toEqual(['whole', 'open', 'open', 'whole']);
  expect(existsSync(`${path}.1`)).toBe(false);
});

test('a run whose end is lost does not damage the next run', async () => {
  const path = join(scratch(), 'rec.gz');
  await recordedRun(path, [0]);
  const ended = statSync(path).size;
  await recordedRun(path, [5], 'is killed');
  const killed = statSync(path).size;
  await recordedRun(path, [7]);
  const bytes = readFileSync(path);
  const third = bytes.subarray(killed);
  const [inFirstLine, inLastLine] = [bytes.subarray(0, ended + 30), bytes.subarray(0, killed - 20)];
  for (const torn of [inFirstLine, inLastLine]) {
    writeFileSync(path, Buffer.concat([torn, third]));
    const runs = await readRuns(path);
    expect(stepTimes(runs).at(-1)).toEqual([7]);
    expect(stepTimes(runs)[0]).toEqual([0]);
    expect([runs[0]?.end.kind, runs.at(-1)?.end.kind]).toEqual(['whole', 'whole']);
    expect(runs.slice(1, -1).every(({ end }) => end.kind !== 'whole')).toBe(true);
  }
});

const HALF_DAY_AGO = Date.now() - 43_200_000;
const begunAt = (path: string, ms: number): void => {
  const [header = '', ...rest] = gunzipSync(readFileSync(path)).toString('utf8').split('\n');
  const json = JSON.parse(header) as object;
  writeFileSync(path, gzipSync([JSON.stringify({ ...json, startedAt: new Date(ms).toISOString() }), ...rest].join('\n')));
};

test.each<[rule: string, prepare: (path: string) => void, limits: RecordingLimits, before: number[][], now: number[][]]>([
  ['too big', () => undefined, { maxBytes: 600, maxAgeMs: 86_400_000 }, [[0]], [[5]]],
  ['half as old as may be', (path) => begunAt(path, HALF_DAY_AGO), { maxBytes: 1 << 26, maxAgeMs: 86_400_000 }, [[0]], [[5]]],
  ['nearly so', (path) => begunAt(path, HALF_DAY_AGO + 60_000), { maxBytes: 1 << 26, maxAgeMs: 86_400_000 }, [], [[0], [5]]],
  ['older than may be: removed', (path) => begunAt(path, HALF_DAY_AGO), { maxBytes: 1 << 26, maxAgeMs: 3_600_000 }, [], [[5]]],
  [
    'from the future, because a clock was set back',
    (path) => begunAt(path, Date.now() + 1e10),
    { maxBytes: 1 << 26, maxAgeMs: 3_600_000 },
    [],
    [[0], [5]],
  ],
])('the recording of an earlier run is %s', async (_rule, prepare, limits, before, now) => {
  const path = join(scratch(), 'rec.gz');
  await recordedRun(path, [0]);
  prepare(path);
  await recordedRun(path, [5], 'ends', limits);
  expect(stepTimes(existsSync(`${path}.1`) ? await readRuns(`${path}.1`) : [])).toEqual(before);
  expect(stepTimes(await readRuns(path))).toEqual(now);
});

test('a file from the future counts as a new one, and is replaced when it is full', async () => {
  const path = join(scratch(), 'rec.gz');
  await recordedRun(path, [0]);
  begunAt(path, Date.now() + 1e10);
  const { file, ageMs } = await openRecording(path, { maxBytes: 1 << 26, maxAgeMs: 3_600_000 }, false);
  await file.close();
  expect(ageMs).toBe(0);
});

test('FILE.1 of an earlier run is removed when it becomes too old, though FILE is not full', async () => {
  const path = join(scratch(), 'rec.gz');
  await recordedRun(`${path}.1`, [0]);
  begunAt(`${path}.1`, HALF_DAY_AGO);
  await recordedRun(path, [5], 'ends', { maxBytes: 1 << 26, maxAgeMs: 43_200_000 - 60_000 });
  expect(existsSync(`${path}.1`)).toBe(false);
  expect(stepTimes(await readRuns(path))).toEqual([[5]]);
});

test('of two writers of one file the first begins another file, reports that, and has lost its last lines', async () => {
  const path = join(scratch(), 'rec.gz');
  const [first, second] = [recorder(path), recorder(path)];
  const step = async ({ recorder: it }: Recorded, at: number): Promise<void> => {
    it.stepped(report(at));
    await it.flush(5_000);
  };
  await step(first, 0);
  await step(second, 5);
  await step(first, 10);
  await step(second, 15);
  await step(first, 20);
  for (const { recorder: it } of [second, first]) {
    it.close();
    await it.flush(5_000);
  }
  expect(first.errors.map(({ message }) => message)).toEqual([expect.stringMatching(/another process writes to .*rec\.gz, too/)]);
  expect([second.errors, first.recorder.lost, second.recorder.lost]).toEqual([[], 1, 0]);
  expect(stepTimes(await readRuns(`${path}.1`))).toEqual([[0], [5, 15]]);
  const { entries, end } = await read(path);
  expect(stepTimes([{ entries, end }])).toEqual([[20]]);
  expect(entries.slice(0, 2)).toMatchObject([{ kind: 'policy' }, { kind: 'state', lost: 1 }]);
  expect(end.kind).toBe('whole');
});

test('a run that continues a saved state begins with that state', async () => {
  const initial = { ...initialState, decisions: 7, conditions: ['MemoryPressure'] as const };
  const it = recorder(undefined, { initial });
  it.recorder.stepped(report(0));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const { entries } = await read(it.path);
  expect(kinds(entries)).toEqual(['policy', 'state', 'step', 'end']);
  expect(entries[1]).toEqual({ kind: 'state', state: initial, lost: 0 });
});

test('a file that is not a recording becomes FILE.1', async () => {
  const path = join(scratch(), 'rec.gz');
  writeFileSync(path, 'before');
  await recordedRun(path, [0]);
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('before');
  expect((await read(path)).end).toEqual({ kind: 'whole' });
});

test('the state of an older evictd is completed with default values', async () => {
  const it = recorder();
  await recordedRun(it.path, [0]);
  const lines = gunzipSync(readFileSync(it.path)).toString('utf8').split('\n');
  const { lastSeenAt, policies, ...rest } = initialState;
  const { passes, ...known } = policies;
  expect([lastSeenAt.size, passes.length]).toEqual([0, 0]);
  const older = JSON.stringify({ kind: 'state', lost: 0, state: toJson({ ...rest, policies: known, decisions: 3 }) });
  writeFileSync(it.path, [...lines.slice(0, 2), older, ...lines.slice(2)].join('\n'));
  const { entries } = await read(it.path);
  expect(entries[1]).toEqual({ kind: 'state', lost: 0, state: { ...initialState, decisions: 3 } });
});

test('a truncated recording is read up to its last complete part', async () => {
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
    // the last eight bytes of gzip are a checksum and a length
    expect(['cut', 'open', size > whole.length - 9 ? 'whole' : 'cut']).toContain(found.end.kind);
    const steps = stepsIn(found.entries);
    expect(steps).toEqual(all.slice(0, steps.length));
    lengths.add(steps.length);
  }
  expect(lengths.size).toBeGreaterThan(3);
});

test('after kill −9 the file has everything up to the last second', async () => {
  const it = recorder();
  it.recorder.stepped(report(0));
  await it.recorder.flush(5_000); // as after a SIGKILL
  it.recorder.stepped(report(10));
  const { entries, end } = await read(it.path);
  expect(end).toEqual({ kind: 'open' });
  expect(stepsIn(entries)).toHaveLength(1);
  it.recorder.close();
  await it.recorder.flush(5_000);
});

test('a damaged block ends the recording, or is named by its line', async () => {
  const it = recorder();
  for (let second = 0; second < 6_000; second += 10) {
    const noise = BigInt(second * 7919) % 1_000_003n;
    it.recorder.stepped(report(second, { observations: observations(noise, { 'memory.available': BigInt(second) ** 5n }) }));
    if (second % 100 === 0) await it.recorder.flush(5_000);
  }
  const bytes = readFileSync(it.path);
  bytes.fill(0xff, bytes.length - 400, bytes.length - 200);
  writeFileSync(it.path, bytes);
  const found = await read(it.path).catch((error: unknown) => error as InputError);
  // Damaged bytes may still decompress to lines. Then the line is wrong.
  if (found instanceof InputError) expect(found.code).toBe('EVICTD_RECORDING_LINE');
  else expect(found.end).toMatchObject({ kind: 'cut', reason: expect.stringMatching(/damaged/) as string });
  it.recorder.close();
  await it.recorder.flush(5_000);
});

test('a missing directory is reported once and tried again, and no line is lost meanwhile', { timeout: 15_000 }, async () => {
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
  'beyond the limit of the queue the oldest lines are lost and counted, and the file has the position and the state after them',
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

test('a file that is not a regular file is not written to', async () => {
  const it = recorder(scratch());
  it.recorder.stepped(report(0));
  await it.recorder.flush(500);
  expect(it.errors.map(({ message }) => message)).toEqual([expect.stringMatching(/not a regular file/)]);
  expect(existsSync(`${it.path}.1`)).toBe(false);
});

test('a step that decides nothing has a small line of about 300 bytes before compression', async () => {
  const it = recorder();
  for (let second = 0; second < 100; second++) it.recorder.stepped(report(second));
  it.recorder.close();
  await it.recorder.flush(5_000);
  const lines = gunzipSync(readFileSync(it.path)).toString('utf8').split('\n');
  expect(Math.max(...lines.filter((line) => line.includes('"kind":"step"')).map(({ length }) => length))).toBeLessThan(300);
});
