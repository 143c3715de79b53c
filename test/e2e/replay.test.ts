import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Evictd, evictd as command, type JournalLine } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

/** The threshold of `guarding`. */
const HIGHER = ['--eviction-hard', 'memory.available<384Mi'];
const CLOCKS_MS = 1_000;

interface Replayed {
  readonly records: readonly JournalLine[];
  readonly deviations: readonly string[];
  readonly end: string;
  readonly steps: number;
  readonly lost: number;
  readonly other: {
    readonly differences: readonly {
      readonly difference: string;
      readonly victim: string;
      readonly time: string;
      readonly notBefore?: string;
    }[];
  };
}

async function runsOf(file: string, ...args: readonly string[]): Promise<readonly Replayed[]> {
  const { code, stdout, stderr } = await command('replay', file, '--output', 'json', ...args);
  expect(code, stderr).toBe(0);
  return (JSON.parse(stdout) as { runs: readonly Replayed[] }).runs;
}

/** The only run of a recording. */
async function replayed(file: string, ...args: readonly string[]): Promise<Replayed> {
  const [run, ...more] = await runsOf(file, ...args);
  if (run === undefined || more.length > 0) throw new Error(`${String(more.length + 1)} runs`);
  return run;
}

/** Waits until the first episode is over and the recording has it: evictd writes it once a second. */
async function episodeIn(file: string, evictd: Evictd): Promise<void> {
  const isOver = (lines: readonly JournalLine[]): boolean => lines.some(({ type, met }) => type === 'threshold' && met === false);
  await evictd.until('the threshold is no longer met', () => isOver(evictd.journal()));
  await evictd.until('the recording has it', async () => {
    const { code, stdout } = await command('replay', file, '--output', 'json');
    return code === 0 && (JSON.parse(stdout) as { runs: readonly Replayed[] }).runs.some(({ records }) => isOver(records));
  });
}

/** Spans from the crossing to the signal that a recording does not have. */
const ONLY_LIVE = ['crossingToWake', 'wakeToDecision', 'decisionToCandidates', 'candidatesToChoice', 'choiceToRecord', 'recordToSignal'];

/** Journal records without times, starts, stops, reloads, processes, and spans that depend on when JavaScript ran. */
function decided(lines: readonly JournalLine[]): unknown[] {
  return lines
    .filter(({ type }) => !['start', 'stop', 'reload'].includes(type))
    .map(({ time, processes: _processes, processesSecondsBefore: _age, ...line }) => {
      expect(Number.isNaN(Date.parse(time))).toBe(false);
      const spans = line.spansMs as Record<string, number> | undefined;
      if (spans === undefined) return line;
      const known = Object.entries(spans).filter(([span]) => !ONLY_LIVE.includes(span));
      return { ...line, spansMs: Object.fromEntries(known) };
    });
}

/** A node like that of the demo: db is critical, web stays within its request, batch leaks. */
async function demo(directory: string, through: readonly string[] = []) {
  const node = testNode();
  await workload(node.child('db'), { holdsMib: 48 });
  await workload(node.child('web'), { holdsMib: 24 });
  const batch = await workload(node.child('batch'), { growsMib: Infinity });
  const rules = [
    { match: { name: 'db' }, critical: true },
    { match: { name: 'web' }, requests: { memory: '64Mi' } },
    { match: { name: 'batch' }, priority: -10 },
  ];
  const file = join(directory, 'rec/recording.gz');
  const config = { ...guarding(node, rules), monitoringInterval: '500ms' };
  const evictd = new Evictd({ config, directory, through, args: ['--record', file, '--record-workloads', '500ms'] });
  return { node, batch, evictd, file };
}

describe(`record and replay (${ON})`, () => {
  test('a recording of evictd demo replays to the decisions of its journal', async () => {
    const file = join(temporaryDirectory('/dev/shm'), 'demo.gz');
    const { code, stdout, stderr } = await command('demo', '--record', file, '--output', 'json');
    expect(code, stdout + stderr).toBe(0);
    const { journal, checks } = JSON.parse(stdout) as { journal: readonly JournalLine[]; checks: readonly unknown[] };
    expect(checks).toContainEqual({ check: 'evictd wrote the recording', ok: true, seen: `written to ${file}` });
    const again = await replayed(file);
    expect(again).toMatchObject({ deviations: [], end: 'whole', lost: 0 });
    expect(decided(again.records)).toEqual(decided(journal));
    expect(again.records.filter(({ type }) => type === 'decision')).toMatchObject([{ decision: 1, victim: { name: 'batch' } }]);
    expect(again.records.filter(({ type }) => type === 'outcome')).toHaveLength(1);
  });

  test('a demo that cannot record reports that and fails', async () => {
    const { code, stdout } = await command('demo', '--record', '/nowhere/demo.gz');
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/failed: evictd wrote the recording \(.*ENOENT.*\/nowhere\/demo\.gz/) as string,
    ]);
  });

  test('the same configuration replays to the records of the journal: same order, same fields', async () => {
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'rec'));
    const { batch, evictd, file } = await demo(directory);
    await evictd.guarding();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome', 'batch');
    await aWhile();
    expect(await evictd.stop()).toBe(0);

    const journal = evictd.journal();
    const again = await replayed(file);
    expect(again).toMatchObject({ deviations: [], end: 'whole', lost: 0 });
    expect(decided(again.records)).toEqual(decided(journal));
    expect(journal.filter(({ type }) => type === 'decision')).toHaveLength(1);

    const same = await replayed(file, '--config', evictd.configFile);
    expect(same.other.differences).toMatchObject([{ difference: 'same', victim: 'batch' }]);

    // Without --config: the recorded workloads and rules, and the same single victim.
    const sooner = await replayed(file, '--eviction-hard', 'memory.available<388Mi');
    expect(sooner.other.differences).toMatchObject([{ difference: expect.stringMatching(/^(earlier|same)$/) as string, victim: 'batch' }]);
    const kubelet = await replayed(file, '--compatibility', 'kubelet');
    expect(kubelet.other.differences).toMatchObject([{ difference: 'same', victim: 'batch' }]);
  });

  test('with a grace period the replay has SIGTERM, escalation, and their times', async () => {
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'rec'));
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'ignore' });
    const file = join(directory, 'rec/recording.gz');
    const soft = {
      evictionHard: { 'memory.available': '64Mi' },
      evictionSoft: { 'memory.available': '384Mi' },
      evictionSoftGracePeriod: { 'memory.available': '100ms' },
      evictionMaxPodGracePeriod: 1,
    };
    const evictd = await new Evictd({ config: { ...guarding(node), ...soft }, directory, args: ['--record', file] }).guarding();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome', 'batch');
    expect(await evictd.stop()).toBe(0);
    const again = await replayed(file);
    expect(decided(again.records)).toEqual(decided(evictd.journal()));
    expect(again.records.map(({ type }) => type)).toEqual(expect.arrayContaining(['decision', 'escalation', 'outcome']));
  });

  test('another configuration has other victims', async () => {
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'rec'));
    const { node, batch, evictd, file } = await demo(directory);
    await evictd.guarding();
    batch.grow();
    await evictd.recorded('outcome', 'batch');
    expect(await evictd.stop()).toBe(0);
    evictd.configure(guarding(node, [{ match: { name: 'batch' }, critical: true }]));
    const { other } = await replayed(file, '--config', evictd.configFile);
    expect(other.differences.map(({ difference, victim }) => `${difference} ${victim}`)).toEqual(
      expect.arrayContaining(['missing batch', 'additional db']),
    );
  });

  test('with a higher threshold the replay says between which times the eviction of such an evictd lies', async () => {
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'rec'));
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const file = join(directory, 'rec/recording.gz');
    const config = { ...guarding(node), monitoringInterval: '3s' };
    const low = { ...config, evictionHard: { 'memory.available': '16Mi' } };
    const evictd = await new Evictd({ config: low, directory, args: ['--dry-run', '--record', file] }).guarding();
    const real = await new Evictd({ config, args: ['--dry-run'] }).guarding();
    batch.grow();
    const { time } = await real.recorded('decision', 'batch');
    await evictd.until('the recording has a step after it', async () => {
      const { code } = await command('replay', file, '--output', 'json');
      return code === 0 && (await replayed(file, ...HIGHER)).other.differences.length > 0;
    });
    expect(await evictd.stop()).toBe(0);
    const { other } = await replayed(file, ...HIGHER);
    const [found] = other.differences;
    expect(other.differences).toMatchObject([{ difference: 'additional', victim: 'batch' }]);
    // The decision follows the crossing, and the recorded time comes from another clock.
    const [earliest, decided, latest] = [found?.notBefore, time, found?.time].map((text) => Date.parse(text ?? '')) as [
      number,
      number,
      number,
    ];
    expect([earliest - CLOCKS_MS <= decided, decided <= latest + CLOCKS_MS, earliest < latest]).toEqual([true, true, true]);
    expect((await command('replay', file, ...HIGHER)).stdout).toMatch(
      /not later than this, not before .*[^]*\ntotal: 1 eviction, recorded 0 /,
    );
  });

  test('after SIGKILL the recording has everything up to the last second', async () => {
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'rec'));
    const { batch, evictd, file } = await demo(directory);
    await evictd.guarding();
    batch.grow();
    await evictd.recorded('outcome', 'batch');
    await episodeIn(file, evictd);
    expect(await evictd.stop('SIGKILL')).toBe('SIGKILL');
    const again = await replayed(file);
    expect(again).toMatchObject({ deviations: [], end: 'open' });
    expect(decided(again.records)).toEqual(decided(evictd.journal()));
  });

  test('after SIGKILL and a restart the same file has both runs', async () => {
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'rec'));
    const node = testNode();
    const [first, second] = [
      await workload(node.child('first'), { growsMib: Infinity }),
      await workload(node.child('second'), { growsMib: Infinity }),
    ];
    const file = join(directory, 'rec/recording.gz');
    const start = () => new Evictd({ config: guarding(node), directory, args: ['--record', file] }).guarding();
    const killed = await start();
    first.grow();
    await killed.recorded('outcome', 'first');
    await episodeIn(file, killed);
    await killed.stop('SIGKILL');
    const before = killed.journal();
    const evictd = await start();
    second.grow();
    await evictd.recorded('outcome', 'second');
    expect(await evictd.stop()).toBe(0);

    const runs = await runsOf(file);
    expect(runs).toMatchObject([
      { deviations: [], end: 'open' },
      { deviations: [], end: 'whole' },
    ]);
    expect(runs.map(({ records }) => decided(records))).toEqual([decided(before), decided(evictd.journal().slice(before.length))]);
    expect((await command('replay', file)).stdout).toMatch(
      /: run 1 of 2: .*\nthe recording has no end: evictd was killed\n[^]*: run 2 of 2: /,
    );
  });

  test.each<[trouble: string, script: string, said: RegExp]>([
    ['missing', 'true', /cannot write the recording: ENOENT/],
    [
      'full',
      'mkdir $DIR && mount -t tmpfs -o size=16k none $DIR && { cat /dev/zero > $DIR/filler; true; } 2>/dev/null',
      /cannot write the recording: ENOSPC/,
    ],
    ['read-only', 'mkdir $DIR && mount -t tmpfs -o ro none $DIR', /cannot write the recording: EROFS/],
  ])('a directory that is %s does not stop an eviction, and is reported', async (_trouble, script, said) => {
    const directory = temporaryDirectory('/dev/shm');
    const prepare = `${script.replaceAll('$DIR', join(directory, 'rec'))} && exec "$@"`;
    const { batch, evictd } = await demo(directory, ['unshare', '--mount', 'sh', '-c', prepare, 'sh']);
    await evictd.guarding();
    await evictd.logged(said);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome', 'batch');
    expect(await evictd.stop()).toBe(0);
  });

  test('a run that continues an eviction of an earlier run replays exactly', async () => {
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'rec'));
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'say' });
    const file = join(directory, 'rec/recording.gz');
    const config = {
      ...guarding(node),
      evictionHard: { 'memory.available': '64Mi' },
      evictionSoft: guarding(node).evictionHard,
      evictionSoftGracePeriod: { 'memory.available': '1ns' },
      evictionMaxPodGracePeriod: 2,
    };
    const start = () => new Evictd({ config, directory, args: ['--record', file] }).guarding();
    const first = await start();
    batch.grow();
    await first.recorded('decision');
    await first.stop();
    const before = first.journal();
    const evictd = await start();
    await evictd.recorded('outcome');
    await aWhile();
    await evictd.stop();

    const runs = await runsOf(file);
    expect(runs).toMatchObject([{ deviations: [] }, { deviations: [] }]);
    // The recording has neither the crossing nor the signal of the earlier run.
    const timeless = (lines: readonly JournalLine[]): unknown[] =>
      decided(lines).map((line) => ({ ...(line as object), spansMs: undefined }));
    expect(runs.map(({ records }) => timeless(records))).toEqual([timeless(before), timeless(evictd.journal().slice(before.length))]);
    expect(runs[1]?.records.map(({ type }) => type)).toEqual(expect.arrayContaining(['escalation', 'outcome']));
  });

  test('a recording of a dry run replays as a dry run', async () => {
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'rec'));
    const node = testNode();
    const batch = await workload(node.child('batch'), { holdsMib: 140 });
    const file = join(directory, 'rec/recording.gz');
    const evictd = await new Evictd({ config: guarding(node), directory, args: ['--dry-run', '--record', file] }).guarding();
    await evictd.recorded('decision', 'batch');
    expect(await evictd.stop()).toBe(0);
    expect(batch.alive).toBe(true);
    const again = await replayed(file);
    expect(decided(again.records)).toEqual(decided(evictd.journal()));
    expect(again.records.find(({ type }) => type === 'decision')).toMatchObject({ dryRun: true });
  });
});
