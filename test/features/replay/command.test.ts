import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { exitCodeOf, formatError } from '../../../src/cli/output/error-text.js';
import { replay as replayCommand } from '../../../src/features/replay/command.js';
import type { JournalRecord } from '../../../src/journal/records/record.js';
import type { RecordedConfig } from '../../../src/recording/recording-format.js';
import type { Rule } from '../../../src/core/workload/rule.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import { condition, KILL, ofCgroup, reading } from '../../core/ladder/policies.js';
import { Mi, policy, requesting, SECOND, threshold, workload } from '../../core/support.js';
import { recorder, scratch, SimulatedRun, type Dying, type Usages } from '../../recording/recorded-run.js';
import { ran } from '../../cli/support.js';

interface Replayed {
  readonly records: readonly JournalRecord[];
  readonly deviations: readonly string[];
  readonly end: string;
  readonly other?: {
    readonly differences: readonly {
      readonly difference: string;
      readonly victim: string;
      readonly time: string;
      readonly notBefore?: string;
    }[];
    readonly readings: readonly unknown[];
    readonly records: readonly { readonly time: string; readonly type: string }[];
    readonly warnings: readonly string[];
    readonly assumptions: readonly string[];
  };
}

const replay = (...args: readonly string[]) => ran((io) => replayCommand({ io }), args);
const at = (name: string, rest: Partial<Workload> = {}): Workload => workload(name, { path: `/node/${name}`, ...rest });

const DB = at('db', { protection: { kind: 'critical' } });
const WEB = at('web', { requests: requesting(300n * Mi) });
const BATCH = at('batch', { priority: -10 });
const RULES: readonly Rule[] = [
  { match: { name: 'db' }, critical: true },
  { match: { name: 'web' }, requestsMemory: 300n * Mi },
  { match: { name: 'batch' }, priority: -10 },
];

/** batch grows by 50 MiB every ten seconds; 256 MiB are to be available of 1 GiB, so it goes at 90 s. */
const LEAK: Usages = (second) => [
  [DB, 100n * Mi],
  [WEB, 250n * Mi],
  [BATCH, BigInt(second) * 5n * Mi],
];

async function recorded(
  usages: Usages = LEAK,
  rest: Dying & { dryRun?: boolean; file?: string; written?: RecordedConfig['written'] } = {},
): Promise<string> {
  const dryRun = rest.dryRun ?? false;
  const config = { settings: {}, workloads: [{ cgroup: '/node' }], rules: RULES, ...(rest.written && { written: rest.written }) };
  const it = recorder(rest.file, { dryRun, config });
  const run = await new SimulatedRun(it, policy([threshold('memory.available', '256Mi')], { dryRun }), usages, rest).until(300);
  await run.end();
  return it.path;
}

const SETTINGS = {
  apiVersion: 'evictd.dev/v1',
  kind: 'EvictdConfiguration',
  evictionHard: { 'memory.available': '256Mi', 'nodefs.available': '0%', 'nodefs.inodesFree': '0%' },
  node: { cgroup: '/node' },
  workloads: [{ cgroup: '/node' }],
  rules: [
    { match: { name: 'db' }, critical: true },
    { match: { name: 'web' }, requests: { memory: '300Mi' } },
    { match: { name: 'batch' }, priority: -10 },
  ],
};

/** As the recorded one, but for `changes`. */
function configuration(changes: Readonly<Record<string, unknown>> = {}): string {
  const file = join(scratch(), 'other.yaml');
  writeFileSync(file, JSON.stringify({ ...SETTINGS, ...changes }), { mode: 0o600 });
  return file;
}

const WRITTEN = { files: [{ file: '/etc/evictd/config.yaml', settings: SETTINGS }], flags: {} };

const hard = (limit: string) => ({ evictionHard: { 'memory.available': limit, 'nodefs.available': '0%', 'nodefs.inodesFree': '0%' } });

async function runsOf(...args: readonly string[]): Promise<readonly Replayed[]> {
  const { out, error } = await replay(...args, '--output', 'json');
  expect(error).toBeUndefined();
  return (JSON.parse(out.slice(out.indexOf('{'))) as { runs: readonly Replayed[] }).runs;
}

/** The only run. */
async function json(...args: readonly string[]): Promise<Replayed> {
  const [run, ...more] = await runsOf(...args);
  if (run === undefined || more.length > 0) throw new Error(`${String(more.length + 1)} runs`);
  return run;
}

test('a replay repeats the recorded run: decision, outcome, episode and condition', async () => {
  const { records, deviations, end } = await json(await recorded());
  expect(records.map(({ type }) => type)).toEqual(['decision', 'threshold', 'condition', 'outcome', 'threshold']);
  expect(records[0]).toMatchObject({ decision: 1, victim: { name: 'batch' }, wake: 'tick', limit: 256 * 1024 * 1024 });
  expect(records[3]).toMatchObject({ result: 'killed', spansMs: { decisionToSignal: 1_000, signalToExit: 9_000 } });
  expect({ deviations, end }).toEqual({ deviations: [], end: 'whole' });
});

test('a replay evicts nothing if the shortage was over at the last reading', async () => {
  const untilReadAt = 90;
  const ends: Usages = (second) => (second <= untilReadAt ? LEAK(second) : LEAK(0));
  const path = await recorded(ends, { rechecks: new Map([[untilReadAt, 674n * Mi]]) });
  const { records, deviations, other } = await json(path, '--config', configuration());
  expect(records.map(({ type }) => type)).toEqual(['threshold', 'condition', 'threshold']);
  expect(deviations).toEqual([]);
  expect(other?.differences).toEqual([]);
});

test('during a recorded shutdown no soft threshold evicts under another configuration, but after its cancellation', async () => {
  const it = recorder(undefined, { config: { settings: {}, workloads: [{ cgroup: '/node' }], rules: RULES } });
  const before = policy([threshold('memory.available', '256Mi', { graceSeconds: 1 })]);
  const run = await new SimulatedRun(it, before, LEAK).until(50);
  run.reconfigure({ ...before, shuttingDown: true });
  await run.until(150);
  run.reconfigure(before);
  await run.until(300);
  await run.end();
  const soft = { 'memory.available': '256Mi' };
  const changes = { ...hard('0%'), evictionSoft: soft, evictionSoftGracePeriod: { 'memory.available': '1s' } };
  const { deviations, other } = await json(it.path, '--config', configuration(changes));
  expect(deviations).toEqual([]);
  expect(other?.differences.map(({ difference, victim }) => `${difference} ${victim}`)).toEqual(['same batch']);
});

describe('a condition about a named cgroup', () => {
  const ofOther = ofCgroup([KILL], { scope: { cgroup: '/node' }, when: condition('cgroup(/db).memory.current > 100Mi', 'cgroup') });
  const recording = async (): Promise<string> => {
    const it = recorder(undefined, { config: { settings: {}, workloads: [{ cgroup: '/node' }], rules: RULES } });
    const policyReadings = (second: number) => {
      const timeNs = BigInt(second) * SECOND;
      return {
        scopes: new Map([['p', [reading('/node', timeNs, { 'memory.current': 1 })]]]),
        named: [reading('/db', timeNs, { 'memory.current': second * 3 * 1024 * 1024 })],
      };
    };
    await (await new SimulatedRun(it, policy([], { policies: [ofOther] }), LEAK, { policyReadings }).until(60)).end();
    return it.path;
  };
  const then = ['kill'];

  test('is replayed with the recorded values of the cgroup', async () => {
    const { records, deviations } = await json(await recording());
    expect(deviations).toEqual([]);
    expect(records.find(({ type }) => type === 'decision')).toMatchObject({
      victim: { name: 'batch' },
      policy: { name: 'p', condition: 'cgroup(/db).memory.current > 100Mi', values: { 'cgroup(/db).memory.current': 120 * 1024 * 1024 } },
      message: expect.stringContaining('(cgroup(/db).memory.current 120MiB)') as string,
    });
  });

  test('is replayed under another configuration, whose policies know only these values', async () => {
    const same = { name: 'p', scope: { cgroup: '/node' }, when: 'cgroup(/db).memory.current > 100Mi', then };
    const other = { ...same, name: 'q', when: 'cgroup(/x) exists' };
    const { other: compared } = await json(await recording(), '--config', configuration({ ...hard('0%'), policies: [same, other] }));
    expect(compared?.differences.map(({ difference, victim }) => `${difference} ${victim}`)).toEqual(['same batch']);
    expect(compared?.warnings).toEqual([
      'policy q is not in the recorded configuration with this scope and condition: only values that the recorded policies read are known',
    ]);
  });
});

test('a file that continues another goes on in its state, with the outcome of an eviction decided before', async () => {
  const limits = { maxBytes: 100, maxAgeMs: 86_400_000 }; // every write fills a file
  const it = recorder(undefined, { limits, config: { settings: {}, workloads: [{ cgroup: '/node' }], rules: RULES } });
  const run = await new SimulatedRun(it, policy([threshold('memory.available', '256Mi')]), LEAK).until(90);
  await it.recorder.flush(5_000);
  await run.until(200);
  await run.end();
  expect((await json(`${it.path}.1`)).records.map(({ type }) => type)).toEqual(['decision', 'threshold', 'condition']);
  const { records, deviations, other } = await json(it.path, '--config', configuration());
  expect(records.map(({ type, decision }) => [type, decision])).toEqual([
    ['outcome', 1],
    ['threshold', undefined],
  ]);
  expect(deviations).toEqual([]);
  expect(other?.differences).toEqual([]);
});

test.each<[rule: string, changes: Readonly<Record<string, unknown>>, differences: readonly string[]]>([
  ['the same configuration', {}, ['same batch']],
  ['with a higher threshold the same eviction is earlier', hard('400Mi'), ['earlier batch']],
  ['with a lower threshold there is no eviction, though the leak keeps its memory', hard('10Mi'), ['missing batch']],
  [
    'with another protected workload the next one is evicted',
    {
      rules: [
        { match: { name: 'batch' }, critical: true },
        { match: { name: 'web' }, requests: { memory: '300Mi' } },
      ],
    },
    ['missing batch', 'additional db'],
  ],
  ['without rules the workload with the largest usage is evicted', { rules: [] }, ['same batch']],
  [
    'with other priorities another workload is evicted',
    {
      rules: [
        { match: { name: 'web' }, priority: -100 },
        { match: { name: 'db' }, critical: true },
      ],
    },
    ['missing batch', 'additional web'],
  ],
  [
    'a request that is exceeded',
    { rules: [{ match: { name: 'batch' }, requests: { memory: '1Gi' } }] },
    ['missing batch', 'additional web'],
  ],
  ['with another source there is no eviction', { workloads: [{ cgroup: '/elsewhere' }] }, ['missing batch']],
  ['without a source there is no eviction', { workloads: [] }, ['missing batch']],
])('a replay with another configuration: %s', async (_rule, changes, expected) => {
  const { other } = await json(await recorded(), '--config', configuration(changes));
  expect(other?.differences.map(({ difference, victim }) => `${difference} ${victim}`)).toEqual(expected);
});

test.each<[rule: string, changes: Readonly<Record<string, unknown>>, said: RegExp]>([
  ['a workload that only the other configuration evicts has ended', hard('400Mi'), /has ended at the next step/],
  ['a workload that only the recorded run evicted stays', hard('10Mi'), /keeps its memory/],
  ['only the first difference is certain', hard('10Mi'), /certain, as far as the readings go, and later ones are estimates/],
  ['a source that was not recorded', { workloads: [{ cgroup: '/elsewhere' }] }, /\/elsewhere were not recorded/],
  ['a request that a recorded rule gave', { rules: [] }, /whose request came only from a recorded rule/],
])('a replay states its assumption: %s', async (_rule, changes, said) => {
  const { other } = await json(await recorded(), '--config', configuration(changes));
  expect(other?.assumptions).toContainEqual(expect.stringMatching(said));
});

test.each<[rule: string, changes: Readonly<Record<string, unknown>>, secondsBefore: readonly (number | undefined)[]]>([
  ['the recorded threshold is exact', {}, [undefined]],
  ['the recorded threshold is exact, also for another victim', { rules: [{ match: { name: 'batch' }, critical: true }] }, [undefined]],
  ['with another threshold it is after the reading before', hard('400Mi'), [10]],
  [
    'with another threshold it is after the reading before and its grace period',
    { ...hard('0%'), evictionSoft: { 'memory.available': '400Mi' }, evictionSoftGracePeriod: { 'memory.available': '10s' } },
    [10],
  ],
  ['with another threshold it is in the same step as the recorded one, and not later', hard('270Mi'), [10]],
])('a replay states the earliest time of an eviction: %s', async (_rule, changes, secondsBefore) => {
  const { other } = await json(await recorded(), '--config', configuration(changes));
  const found = other?.differences.filter(({ difference }) => difference !== 'missing') ?? [];
  const before = found.map(({ time, notBefore }) => notBefore && (Date.parse(time) - Date.parse(notBefore)) / 1_000);
  expect(before).toEqual(secondsBefore);
  expect(other?.readings).toEqual([{ signal: 'memory.available', readings: 31, largestGapMs: 10_000 }]);
});

test('the text has a time that is not exact, and the total', async () => {
  const { out } = await replay(await recorded(), '--config', configuration(hard('400Mi')));
  expect(out).toMatch(/ earlier +batch +not later than this, not before \S+Z: by 30\.0 s: evicting batch/);
  expect(out).toMatch(
    /\ntotal: 1 eviction, recorded 1 \(1 earlier\); 1 not later than shown; readings at most apart: memory\.available 10\.0 s\n/,
  );
});

test('with the same configuration only the times of the samples are assumptions', async () => {
  const { other } = await json(await recorded(), '--config', configuration());
  expect(other?.assumptions).toEqual([expect.stringMatching(/the readings are those of the recorded evictd/)]);
});

test('in a recorded dry run no workload is assumed to end', async () => {
  const { other } = await json(await recorded(LEAK, { dryRun: true }), '--config', configuration(hard('400Mi')));
  expect(other?.differences.map(({ difference }) => difference)).toEqual(['earlier']);
  expect(other?.assumptions).toHaveLength(1);
});

test('a victim that stays keeps its memory, so that in the replay too little is free', async () => {
  // In reality batch goes with 350 MiB, and cache may grow to 400 MiB. Where batch is critical, web goes in its place,
  // and cache when it has grown.
  const leak: Usages = (second) => [
    [WEB, 250n * Mi],
    [BATCH, BigInt(second) * 5n * Mi],
    [at('cache'), second < 100 ? 200n * Mi : 400n * Mi],
  ];
  const rules = [{ match: { name: 'batch' }, critical: true }];
  const { other } = await json(await recorded(leak), '--config', configuration({ rules, ...hard('300Mi') }));
  expect(other?.differences.map(({ difference, victim }) => `${difference} ${victim}`)).toEqual([
    'additional web',
    'missing batch',
    'additional cache',
  ]);
});

test('several runs in one file are replayed one by one, each from its own beginning', async () => {
  const file = await recorded();
  await recorded((second) => [[WEB, BigInt(second) * 5n * Mi]], { file });
  const runs = await runsOf(file, '--config', configuration(hard('400Mi')));
  expect(runs.map(({ records }) => records.filter(({ type }) => type === 'decision'))).toMatchObject([
    [{ decision: 1, victim: { name: 'batch' } }],
    [{ decision: 1, victim: { name: 'web' } }],
  ]);
  expect(runs.map(({ other }) => other?.differences)).toMatchObject([
    [{ difference: 'earlier', victim: 'batch' }],
    [{ difference: 'earlier', victim: 'web' }],
  ]);
  const { out } = await replay(file);
  expect(out).toMatch(/run 1 of 2: \/node, .* 31 steps\n[^]*evicting batch[^]*run 2 of 2: \/node, .* 31 steps\n[^]*evicting web/);
});

test.each<[compatibility: string, seconds: number]>([
  ['kubelet', 30],
  ['evictd', 0],
])('after a failed kill the next decision follows as in compatibility %s: %d s later', async (compatibility, seconds) => {
  const file = await recorded(LEAK, { killError: 'EPERM' });
  const records = (await json(file, '--config', configuration({ compatibility }))).other?.records ?? [];
  const at = (type: string) => records.filter((record) => record.type === type).map(({ time }) => Date.parse(time));
  const [, ...next] = at('decision');
  expect(next.length).toBeGreaterThan(3);
  expect(next.map((time, index) => (time - (at('outcome')[index] ?? 0)) / 1_000)).toEqual(next.map(() => seconds));
});

test('the text has decisions, differences and assumptions', async () => {
  const { out } = await replay(await recorded(), '--config', configuration(hard('400Mi')));
  expect(out).toMatch(/31 steps\n/);
  expect(out).toMatch(/decision +evicting batch with SIGKILL: memory\.available 224MiB < 256Mi \(hard\)/);
  const reported = [...out.matchAll(/^\S+Z {2}(\w+)/gm)].map(([, type]) => type);
  expect(reported.slice(0, 5)).toEqual(['threshold', 'condition', 'decision', 'outcome', 'threshold']);
  expect(out).toMatch(
    /with the other configuration:\nTIME +CHANGE +WORKLOAD +REASON\n.* earlier +batch +(not later .*: )?by 30\.0 s: evicting batch/,
  );
  expect(out).toMatch(/assumptions:\n {2}- the readings are those of/);
});

test.each<[rule: string, flags: readonly string[], differences: readonly string[], warnings: readonly RegExp[]]>([
  ['a higher threshold, and the recorded workloads and rules', ['--eviction-hard', 'memory.available<400Mi'], ['earlier batch'], []],
  ['a lower threshold', ['--eviction-hard', 'memory.available<10Mi'], ['missing batch'], []],
  ['a profile', ['--compatibility', 'kubelet'], ['same batch'], []],
  ['other workloads', ['--workload-cgroup', '/elsewhere'], ['missing batch'], []],
  ['the recorded node', ['--node-cgroup', '/node'], ['same batch'], []],
  ['another node, which is stated', ['--node-cgroup', '/other'], ['same batch'], [/its node is \/other, .* those of \/node/]],
  [
    'a flag that changes decisions beside one that does not',
    ['--log-format', 'json', '--eviction-hard', 'memory.available<400Mi'],
    ['earlier batch'],
    [],
  ],
])('flags alone override the recorded configuration: %s', async (_rule, flags, differences, warnings) => {
  const { other } = await json(await recorded(LEAK, { written: WRITTEN }), ...flags);
  expect(other?.differences.map(({ difference, victim }) => `${difference} ${victim}`)).toEqual(differences);
  expect(other?.warnings).toEqual(warnings.map((said) => expect.stringMatching(said) as string));
});

test.each([{ reclaim: [{ step: 'journald' }] }, { workloads: [{ cgroup: '/node' }, { cri: { endpoint: 'unix:///run/c.sock' } }] }])(
  'the replay warns that reclaim under another configuration is unknown: %o',
  async (rest) => {
    const { other } = await json(await recorded(), '--config', configuration({ ...hard('256Mi'), ...rest }));
    expect(other?.differences).toMatchObject([{ difference: 'same', victim: 'batch' }]);
    expect(other?.warnings).toEqual([expect.stringMatching(/its node-level reclaim counts as freeing nothing/)]);
  },
);

test('a flag replaces the same recorded flag and keeps the others', async () => {
  const flags = { evictionHard: ['memory.available<256Mi,nodefs.available<0%'], workloadCgroup: ['/node'] };
  const file = await recorded(LEAK, { written: { files: [], flags } });
  const { other } = await json(file, '--eviction-hard', 'memory.available<400Mi');
  expect(other?.differences).toMatchObject([{ difference: 'earlier', victim: 'batch' }]);
});

test('after a recorded reload flags override the new configuration', async () => {
  const recorded = (written: RecordedConfig['written']): RecordedConfig => ({
    settings: {},
    workloads: [{ cgroup: '/node' }],
    rules: RULES,
    ...(written && { written }),
  });
  const it = recorder(undefined, { config: recorded({ files: [{ file: 'a', settings: { ...SETTINGS, workloads: [] } }], flags: {} }) });
  const run = await new SimulatedRun(it, policy([threshold('memory.available', '256Mi')]), LEAK).until(70);
  it.recorder.reconfigured(recorded(WRITTEN));
  await run.until(300);
  await run.end();
  const { other } = await json(it.path, '--eviction-hard', 'memory.available<400Mi');
  expect(other?.differences).toMatchObject([{ difference: 'earlier', victim: 'batch' }]);
  expect(other?.warnings).toEqual([expect.stringMatching(/has no workloads/)]);
});

test('flags alone with a recording without its configuration are refused', async () => {
  const { error } = await replay(await recorded(), '--eviction-hard', 'memory.available<400Mi');
  expect(formatError(error)).toMatch(/EVICTD_RECORDING_CONFIG: .*older evictd[^]*hint: add --config/);
  expect(exitCodeOf(error)).toBe(65);
});

test('invalid flags are refused', async () => {
  const { error } = await replay(await recorded(LEAK, { written: WRITTEN }), '--eviction-hard', 'memory<1');
  expect(exitCodeOf(error)).toBe(78);
});

test.each([
  ['--log-format', 'json'],
  ['--metrics-listen', 'off'],
  ['--state-directory', '/nowhere'],
  ['--oom-score-adj', 'rank'],
])('the replay says that %s do not change the configuration', async (...flags) => {
  const { out, error } = await replay(await recorded(), ...flags);
  expect(error).toBeUndefined();
  expect(out).not.toContain('with the other configuration');
  expect(out).toContain(`evictd: ${flags[0]} changes no decision: replayed as recorded\n`);
});

test('the replay warns about a configuration without workloads, and lists its alerts', async () => {
  const { out } = await replay(await recorded(), '--config', configuration({ workloads: [] }));
  expect(out).toMatch(/with the other configuration:\nWARNING: it has no workloads, so it evicts nothing\n/);
  expect(out).toMatch(/\nalerts:\n\S+ {2}alert +.*memory\.available/);
});

test('a workload that is evicted earlier is not evicted again while it ends in the recording', async () => {
  const file = await recorded(LEAK, { lingersSeconds: 10 });
  const { other, records } = await json(file, '--config', configuration(hard('400Mi')));
  expect(records.find(({ type }) => type === 'outcome')).toMatchObject({ result: 'killed' });
  expect(other?.differences.map(({ difference, victim }) => `${difference} ${victim}`)).toEqual(['earlier batch']);
  // What it still has in reality is available: nothing else is wrong either.
  expect(other?.records.map(({ type }) => type)).toEqual(['decision', 'threshold', 'condition', 'outcome', 'threshold']);
});

test('flags change the configuration of the replay', async () => {
  const { out } = await replay(
    await recorded(),
    '--config',
    configuration(),
    '--eviction-hard',
    'memory.available<1Mi,nodefs.available<0%',
  );
  expect(out).toMatch(/not evicted +batch/);
});

test('a truncated recording is replayed up to its end', async () => {
  const file = await recorded();
  const lines = gunzipSync(readFileSync(file)).toString('utf8');
  writeFileSync(file, gzipSync(lines.slice(0, lines.lastIndexOf('"kind":"step"') + 30)));
  const { out, error } = await replay(file);
  expect(error).toBeUndefined();
  expect(out).toMatch(/the recording is cut off \(the last line is not whole\); replayed up to there/);
  truncateSync(file, 600);
  expect((await replay(file)).out).toMatch(/the recording (is cut off|has no end)/);
});

const edited = async (edit: (lines: string[]) => readonly string[]): Promise<string> => {
  const file = await recorded();
  const lines = gunzipSync(readFileSync(file)).toString('utf8').split('\n');
  writeFileSync(file, edit(lines).join('\n'));
  return file;
};
/** A byte near its beginning is another: nothing of it can be read. */
async function flipped(): Promise<string> {
  const file = await recorded();
  const bytes = readFileSync(file);
  bytes.fill(0xff, 12, 40);
  writeFileSync(file, bytes);
  return file;
}

function pipe(): string {
  const path = join(scratch(), 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

const insert = (line: string) => edited((lines) => [...lines.slice(0, 5), line, ...lines.slice(5)]);

test.each<[rule: string, file: () => Promise<string>, exit: number, said: RegExp]>([
  ['missing', () => Promise.resolve('/nowhere/rec.gz'), 66, /EVICTD_RECORDING_FILE: \/nowhere\/rec\.gz cannot be read: ENOENT/],
  ['a directory', () => Promise.resolve(scratch()), 66, /EVICTD_RECORDING_FILE: .* it is not a regular file/],
  ['a pipe without a writer', () => Promise.resolve(pipe()), 66, /EVICTD_RECORDING_FILE: .* it is not a regular file/],
  ['damaged as a whole', () => flipped(), 65, /EVICTD_RECORDING_LINE: .*:1: the file is damaged/],
  ['empty', () => edited(() => []), 65, /EVICTD_RECORDING_EMPTY/],
  ['something else', () => edited(() => ['hello', '']), 65, /EVICTD_RECORDING_FORMAT: .*:1: the line is not a JSON object: "hello"/],
  ['other JSON', () => edited(() => ['{"a":1}', '']), 65, /EVICTD_RECORDING_FORMAT: .*:1: this is not a recording of evictd/],
  [
    'in another format',
    () => edited(([first = '', ...rest]) => [first.replace('"format":1', '"format":2'), ...rest]),
    65,
    /EVICTD_RECORDING_FORMAT: .* it has format 2, and this evictd reads format 1/,
  ],
  [
    'a header without a node',
    () => edited(([first = '', ...rest]) => [first.replace('"node"', '"nod"'), ...rest]),
    65,
    /EVICTD_RECORDING_FORMAT/,
  ],
  [
    'without one of its steps',
    () => edited((lines) => lines.filter((line) => !line.includes('"kind":"step","number":7,'))),
    65,
    /EVICTD_RECORDING_LINE: .* it is step 8 of its run, and step 7 was expected/,
  ],
  ['a garbage line', () => insert('garbage'), 65, /EVICTD_RECORDING_LINE: .*:6: the line is not a JSON object: "garbage"/],
  ['a line of an unknown kind', () => insert('{"kind":"x"}'), 65, /EVICTD_RECORDING_LINE: .*:6: its kind is "x"/],
  ['a step without a time', () => insert('{"kind":"step","wake":["tick",1]}'), 65, /EVICTD_RECORDING_LINE: .*:6: not an integer/],
  [
    'a workload that was not named',
    () => insert('{"kind":"sample","at":1,"usages":[[99,1]]}'),
    65,
    /:6: workload 99 was not defined before/,
  ],
  ['with an invalid policy', () => insert('{"kind":"policy","policy":{}}'), 65, /EVICTD_RECORDING_LINE: .*this step cannot be replayed/],
  ['without a policy', () => edited((lines) => lines.filter((line) => !line.includes('"kind":"policy"'))), 65, /a step before any policy/],
])('a file that is %s is refused with its reason', async (_rule, file, exit, said) => {
  const { error } = await replay(await file());
  expect(formatError(error)).toMatch(said);
  expect(exitCodeOf(error)).toBe(exit);
});

test('a damaged run is reported, and the others are replayed', async () => {
  const file = await flipped();
  await recorded(LEAK, { file: `${file}.second` });
  appendFileSync(file, readFileSync(`${file}.second`));
  const { out } = await replay(file);
  expect(out).toMatch(/: a run cannot be read: the file is damaged: .*\n.*: \/node, .* 31 steps\n/);
});

test('recordings of one step and of none are replayed', async () => {
  const one = await edited((lines) => lines.slice(0, lines.findIndex((line) => line.includes('"kind":"step"')) + 1).concat(''));
  expect((await replay(one)).out).toMatch(/, 1 step\n[^]*no decisions/);
  const none = await edited((lines) => [lines[0] ?? '', '']);
  expect((await replay(none)).out).toMatch(/, 0 steps\n[^]*no step could be replayed/);
});

test('lines without gzip are read', async () => {
  const file = await edited((lines) => lines);
  expect((await json(file)).records).toHaveLength(5);
  appendFileSync(file, '{"kind":"end","lost":0}\n');
});

test('decisions that differ from the recorded ones are reported', async () => {
  const file = await edited((lines) => lines.map((line) => line.replace('"decisions":[[1,"id-batch"]]', '"decisions":[[1,"id-web"]]')));
  expect((await json(file)).deviations).toEqual([expect.stringMatching(/the recorded evictd chose id-web, this version chooses id-batch/)]);
});
