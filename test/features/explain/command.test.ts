import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { explainCommand } from '../../../src/features/explain/command.js';
import { recordedMoment } from '../../../src/features/explain/recorded-moment.js';
import { candidates, Mi, policy, SECOND, threshold, workload } from '../../core/support.js';
import type { Observation } from '../../../src/core/signal/observation.js';
import type { Signal } from '../../../src/core/signal/signal.js';
import { RecordingStream } from '../../../src/recording/recording-stream.js';
import { recorder, SimulatedRun } from '../../recording/recorded-run.js';
import { reading } from '../check/support.js';
import { fakeReading, ran, type Ran } from '../../cli/support.js';

const MEMBERS = candidates([workload('web'), 32n * Mi], [workload('batch', { priority: -10 }), 200n * Mi]);
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  mkdirSync(join(directory, 'state'));
  mkdirSync(join(directory, 'run'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const explain = (...args: string[]): Promise<Ran> => {
  const places = ['--state-directory', join(directory, 'state'), '--runtime-directory', join(directory, 'run')];
  const given = fakeReading(() => reading({}), { candidates: MEMBERS });
  return ran((io) => explainCommand({ io, open: () => given }), ['--workload-cgroup', '/w', ...places, ...args]);
};

test('explain shows a workload by name, path or pattern, with its rank and values', async () => {
  const { out, error } = await explain('web');
  expect(error).toBeUndefined();
  expect(out).toMatch(/^web \(\/web\): place 2 of 2; 1 is evicted before it\n/);
  expect(out).toMatch(/COMPARED +1 batch +2 web/);
  expect(out).toMatch(/\nyoungest [^\n]*\n\n/); // name and id only repeat the heading
  expect(out).toContain('batch comes before it by priority');
  expect(out).toContain('\nno evictd guards this node (');
  for (const same of ['/web', 'w*']) expect((await explain(same)).out).toBe(out);
});

test('explain reads pressure from the average of the kernel, as check does', async () => {
  const avg10: Observation = { available: 125_000_000n, capacity: 1_000_000_000n, timeNs: 0n, source: 'a test', standIn: 'avg10' };
  const asked = new Map<Signal, Observation>([['memory.pressure.full', avg10]]);
  const given = fakeReading(() => ({ ...reading({}), ...(given.armed.length > 0 && { observed: asked }) }), { candidates: MEMBERS });
  const places = ['--runtime-directory', join(directory, 'run')];
  const { out } = await ran((io) => explainCommand({ io, open: () => given }), places);
  expect(out).toContain('memory.pressure.full (avg10) 12.5% > 30%');
});

test('explain says that a signal without a threshold evicts nothing', async () => {
  const said = 'pid.available has no threshold: evictd evicts nothing for it (set evictionHard.pid.available)\n';
  expect((await explain('--signal', 'pid.available')).out).toContain(said);
  expect((await explain()).out).not.toContain('has no threshold');
});

test('explain prints a name with terminal codes without effect', async () => {
  const given = fakeReading(() => reading({}), { candidates: candidates([workload('b\u001b[2J'), Mi], [workload('web'), Mi]) });
  const { out } = await ran(
    (io) => explainCommand({ io, open: () => given }),
    ['--workload-cgroup', '/w', '--runtime-directory', join(directory, 'run'), 'web'],
  );
  expect(out).toMatch(/COMPARED +1 b\\x1b\[2J +2 web/);
  expect(out).not.toContain('\u001b');
});

test('explain shows no rank for a protected workload', async () => {
  const found = candidates([workload('web', { protection: { kind: 'critical' } }), 32n * Mi], [workload('batch'), 200n * Mi]);
  const given = fakeReading(() => reading({}), { candidates: found });
  const { out } = await ran(
    (io) => explainCommand({ io, open: () => given }),
    ['--workload-cgroup', '/w', '--runtime-directory', join(directory, 'run'), 'web'],
  );
  expect(out).toMatch(/^web \(\/web\): never evicted: critical\n/);
});

test('explain refuses a workload that does not exist, or an ambiguous name', async () => {
  expect((await explain('nope')).error).toMatchObject({ code: 'EVICTD_EXPLAIN_WORKLOAD', message: "there is no workload 'nope'" });
  const places = ['--runtime-directory', join(directory, 'run')];
  const unnamed = await ran((io) => explainCommand({ io, open: () => fakeReading(() => reading({})) }), [...places, 'web']);
  expect(unnamed.error).toMatchObject({ hint: expect.stringMatching(/^name a source: workloads: /) as string });
  expect((await explain('*')).error).toMatchObject({ message: "2 workloads match '*': /batch, /web" });
});

test('explain -o json has the same content', async () => {
  const { out } = await explain('batch', '-o', 'json');
  expect(JSON.parse(out)).toMatchObject({
    source: 'this process',
    signal: 'memory.available',
    next: { name: 'batch' },
    workload: { place: 1, before: null },
  });
});

const at = (clock: string): string => `2026-11-21T${clock}.000Z`;
const line = (clock: string, type: string, fields: object): string =>
  JSON.stringify({ time: at(clock), type, node: 'machine', dryRun: false, ...fields });
const row = (place: number, name: string, priority: number, fields: object = {}): object => ({
  ...{ place, name, exceedsRequest: true, priority, aboveRequestBytes: 1024 * 1024 * 50, startOrder: 1, workingSetBytes: 1024 * 1024 * 50 },
  ...{ requestBytes: 0, path: `/w/${name}`, ...fields },
});
const JOURNAL = [
  line('08:00:00', 'start', { version: '0.1.0', message: 'evictd 0.1.0 starts' }),
  line('08:10:00', 'threshold', {
    signal: 'memory.available',
    threshold: '64Mi',
    kind: 'hard',
    met: true,
    message: 'memory.available 60MiB < 64Mi (hard)',
  }),
  line('08:10:00', 'condition', { condition: 'MemoryPressure', status: true, message: 'node condition MemoryPressure is now true' }),
  line('08:10:00', 'decision', {
    ...{
      decision: 7,
      signal: 'memory.available',
      kind: 'hard',
      victim: { name: 'batch', path: '/w/batch', id: 'b' },
      counts: { ranking: 3, unreadable: 0 },
    },
    ranking: [
      row(1, 'batch', -10),
      row(2, 'db', 0, { protected: 'critical', protectedBecause: 'critical' }),
      row(3, 'web', 0, { startOrder: 0 }),
    ],
    message: 'evicting batch with SIGKILL',
  }),
  line('08:10:01', 'outcome', {
    decision: 7,
    result: 'killed',
    victim: { name: 'batch', path: '/w/batch', id: 'b' },
    message: 'evicted batch: freed 50MiB',
  }),
  line('08:10:02', 'alert', { alert: 'leak-elsewhere', signal: 'memory.available', message: 'tmpfs /run/x grew by 64MiB' }),
  line('08:20:00', 'threshold', { signal: 'memory.available', threshold: '64Mi', kind: 'hard', met: false, message: 'over' }),
  line('08:30:00', 'threshold', {
    signal: 'memory.available',
    threshold: '64Mi',
    kind: 'hard',
    met: true,
    message: 'memory.available 61MiB < 64Mi (hard)',
  }),
  line('08:30:00', 'alert', { alert: 'budget-exhausted', signal: 'memory.available', message: 'the budget is used up' }),
  line('08:50:00', 'stop', { message: 'evictd stops' }),
].map((each) => `${each}\n`);

const past = async (time: string, ...args: string[]): Promise<string> => {
  writeFileSync(join(directory, 'state', 'journal.jsonl'), JOURNAL.join(''));
  const { out, error } = await explain('--utc', '--at', time, ...args);
  expect(error).toBeUndefined();
  return out;
};

test('explain of a time after a restart: pauses and thresholds that evictd took over last until they end', async () => {
  const memory = { signal: 'memory.available', threshold: '64Mi', kind: 'hard' };
  const lines = [
    line('08:00:00', 'start', {
      ...{ version: '0.1.0', message: 'evictd starts' },
      resumed: { thresholds: ['memory.available<64Mi'], pauses: [{ reason: 'backup' }, { workload: { path: '/w/db' }, reason: 'dump' }] },
    }),
    line('08:20:00', 'pause', { event: 'end', workload: { path: '/w/db' }, reason: 'dump' }),
    line('08:30:00', 'resume', { message: 'resumed' }),
    line('08:40:00', 'threshold', { ...memory, met: false, message: 'over' }),
  ];
  writeFileSync(join(directory, 'state', 'journal.jsonl'), lines.join('\n'));
  const at = async (time: string): Promise<string> => (await explain('--utc', '--at', `2026-11-21T${time}Z`)).out;
  expect(await at('08:10:00')).toMatch(
    / {2}memory\.available<64Mi was met already before that\n.* {4}an operator had paused evictions: backup\n {4}.* of \/w\/db: dump\n$/s,
  );
  expect(await at('08:25:00')).toMatch(/minute of it:\n {4}an operator had paused evictions: backup\n$/);
  expect(await at('08:35:00')).toMatch(/minute of it:\n {4}a threshold was met, and no eviction was due: [^\n]*\n$/);
  expect(await at('08:45:00')).toMatch(/minute of it:\n {4}no threshold was met\n$/);
});

test('explain of a time has the values of a recording that covers it', async () => {
  const it = recorder(join(directory, 'rec.gz'));
  const run = await new SimulatedRun(it, policy([threshold('memory.available', '10Mi')]), () => [[workload('web'), 24n * Mi]]).until(60);
  await run.end();
  const stream = await RecordingStream.open(it.path);
  await stream.close();
  const { header } = stream;
  const wall = (second: number): string =>
    new Date(Date.parse(header.startedAt) + Number(BigInt(second) * SECOND - header.startedAtNs) / 1e6).toISOString();
  const began = { type: 'start', node: 'machine', dryRun: false, version: '0.1.0', message: 'evictd starts' };
  const asked = async (recording: string | undefined, second: number): Promise<string> => {
    const start = { time: wall(-10_000), ...began, ...(recording !== undefined && { recording }) };
    writeFileSync(join(directory, 'state', 'journal.jsonl'), `${JSON.stringify(start)}\n`);
    return (await explain('--utc', '--at', wall(second))).out;
  };
  expect(await asked(it.path, 35)).toContain(`\n  read at ${wall(30).replace('T', ' ')}: memory.available 1000MiB of 1GiB\n`);
  expect(await asked(it.path, 500)).toContain(`\n  values at that time are not known: the recording ${it.path} does not cover that time\n`);
  expect(await asked('/nowhere/rec.gz', 35)).toMatch(/values at that time are not known: \/nowhere\/rec\.gz cannot be read: ENOENT/);
  expect(await asked(undefined, 35)).toContain('not known: the journal has values only at episodes and decisions; evictd run --record');
});

test('explain of a time is right after the clock was set, or the machine has slept', async () => {
  const it = recorder(join(directory, 'rec.gz'));
  const now = Date.now.bind(Date);
  const run = await new SimulatedRun(it, policy([threshold('memory.available', '10Mi')]), () => [[workload('web'), 24n * Mi]]).until(30);
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
  await run.until(60);
  clock.mockRestore();
  await run.end();
  const aheadMs = now() - Number(process.hrtime.bigint()) / 1e6;
  const read = async (second: number, setMs: number): Promise<number | string> => {
    const found = await recordedMoment(it.path, aheadMs + second * 1e3 + setMs);
    return typeof found === 'string' ? found : Math.round((found.atMs - aheadMs - setMs) / 1e3);
  };
  expect([await read(25, 0), await read(55, 3_600_000)]).toEqual([20, 50]);
});

test('explain of a time that the wall clock showed twice answers about the last one, and says so', async () => {
  const met = (time: string, signal: string, isMet: boolean): string =>
    line(time, 'threshold', { signal, threshold: '1', kind: 'hard', met: isMet, message: `${signal} is low` });
  const first = { decision: 1, signal: 'pid.available', victim: { name: 'batch', path: '/b', id: 'b' }, message: 'evicting batch' };
  const lines = [
    line('08:00:00', 'start', { version: '0.1.0', message: 'evictd starts' }),
    met('08:20:00', 'pid.available', true),
    line('08:29:50', 'decision', first),
    line('08:29:51', 'outcome', { ...first, result: 'killed', message: 'evicted batch' }),
    met('08:40:00', 'pid.available', false),
    met('08:10:00', 'nodefs.available', true), // the clock was set back
    met('08:50:00', 'nodefs.available', false),
  ];
  writeFileSync(join(directory, 'state', 'journal.jsonl'), lines.join('\n'));
  const at = async (time: string): Promise<string> => (await explain('--utc', '--at', `2026-11-21T${time}Z`)).out;
  const note = 'the clock was set back after 2026-11-21 08:40:00.000Z and showed this time more than once: this is the last';
  const twice = await at('08:30:00');
  expect(twice).toContain(`\n  ${note}\n`);
  expect(twice).toContain('since 2026-11-21 08:10:00.000Z: nodefs.available is low');
  expect(twice).toContain('nothing was decided within a minute of it');
  expect(twice).not.toMatch(/pid.available|evicting batch/);
  const json = JSON.parse((await explain('-o', 'json', '--at', '2026-11-21T08:30:00Z')).out) as { readonly clockSetBackAfter: unknown };
  expect(json.clockSetBackAfter).toBe('2026-11-21T08:40:00.000Z');
  const once = await at('08:05:00');
  expect(once).toContain('no threshold was met');
  expect(once).not.toContain('the clock was set back');
  const later = await at('08:45:00');
  expect(later).toContain('since 2026-11-21 08:10:00.000Z: nodefs.available is low');
  expect(later).not.toContain('the clock was set back');
  writeFileSync(join(directory, 'state', 'journal.jsonl'), lines.slice(0, -1).join('\n'));
  onTestFinished(() => void vi.restoreAllMocks());
  vi.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-11-21T08:12:00Z')); // it has not shown the time again yet
  const before = await at('08:35:00');
  expect(before).toContain('since 2026-11-21 08:20:00.000Z: pid.available is low');
  expect(before).not.toMatch(/nodefs.available|the clock was set back/);
});

test('explain of a time with a decision shows what evictd saw, the order, and the reason for each rank', async () => {
  const out = await past('2026-11-21T08:10:30Z');
  expect(out).toContain('since 2026-11-21 08:10:00.000Z: memory.available 60MiB < 64Mi (hard)');
  expect(out).toContain('conditions: MemoryPressure');
  expect(out).toContain('decided at 2026-11-21 08:10:00.000Z: evicting batch with SIGKILL');
  expect(out).toContain('alert at 2026-11-21 08:10:02.000Z: tmpfs /run/x grew by 64MiB');
  expect(out).toMatch(
    /1 +batch +yes +-10 +50MiB +evicted\n- +db +yes +0 +50MiB +priority +never evicted: critical\n2 +web +yes +0 +50MiB +youngest\n/,
  );
});

test.each<[workload: string, why: string]>([
  ['web', 'web was not evicted: batch came before it by priority (-10 against 0)'],
  ['db', 'db was not evicted: critical'],
  ['batch', 'batch was evicted'],
  ['other', 'other is not among the 3 recorded candidates of 3'],
])('explain says why batch and not %s was evicted', async (workload, why) => {
  expect(await past('2026-11-21T08:10:00Z', workload)).toContain(why);
});

test.each<[time: string, why: string]>([
  ['2026-11-21T08:25:00Z', 'no threshold was met'],
  ['2026-11-21T08:35:00Z', 'budget-exhausted: the budget is used up'],
  ['2026-11-21T08:55:00Z', 'evictd did not run: it stopped at 2026-11-21T08:50:00.000Z'],
  ['2026-11-21T07:00:00Z', 'the journal has nothing from before that time'],
])('explain says why nothing was evicted at %s', async (time, why) => {
  const out = await past(time);
  expect(out).toContain('nothing was decided within a minute of it:');
  expect(out).toContain(why);
});
