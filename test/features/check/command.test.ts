import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkCommand } from '../../../src/features/check/command.js';
import { filesystemsRead, type OpenReading } from '../../../src/node/reading.js';
import { UnavailableError } from '../../../src/errors.js';
import type { Observations } from '../../../src/core/signal/observation.js';
import type { Node } from '../../../src/monitor/ports/ports.js';
import { scratch } from '../../config/scratch.js';
import { dead, reading } from './support.js';
import { fakeReading, ran, type Ran } from '../../cli/support.js';

const FLAGS = [
  '--eviction-hard',
  'memory.available<100',
  '--eviction-soft',
  'memory.available<200',
  '--eviction-soft-grace-period',
  'memory.available=1h',
];
const available = (bytes: bigint): Observations =>
  reading({ 'memory.available': [bytes, 1000n], 'nodefs.available': [900n, 1000n], 'nodefs.inodesFree': [900n, 1000n] });

const check = (open: OpenReading, ...args: string[]): Promise<Ran> =>
  ran(
    (io, setExitCode) => checkCommand({ io, setExitCode, open, openPlaced: () => expect.unreachable('no runtime was to be asked') }),
    args,
  );
const checkAvailable = (bytes: bigint, ...args: string[]): Promise<Ran> =>
  check(() => fakeReading(() => available(bytes)), ...FLAGS, ...args);

const json = ({ out }: Ran): Record<string, unknown> => JSON.parse(out) as Record<string, unknown>;

test.each<[rule: string, bytes: bigint, exit: number, word: string]>([
  ['0 at the soft limit', 200n, 0, 'OK'],
  ['1 below it, though its grace period is an hour', 199n, 1, 'WARNING'],
  ['2 below the hard threshold', 99n, 2, 'CRITICAL'],
])('the exit code of a check is %s', async (_rule, bytes, exit, word) => {
  const result = await checkAvailable(bytes, '--output', 'nagios');
  expect(result.exit).toBe(exit);
  expect(result.out).toMatch(new RegExp(`^${word} - `));
});

test.each<[format: string, shape: RegExp]>([
  ['text', /^ok: no threshold is met {2}\(node: \/demo, cgroup v2\)\n\nSIGNAL/],
  ['json', /^\{\n {2}"status": "ok",\n {2}"exit": 0,/],
  ['nagios', /^OK - .* \| 'memory.available'=500B;200:;100:;0;1000 .*\n$/],
  ['prometheus', /^# HELP evictd_check_exit_code .*\n# TYPE evictd_check_exit_code gauge\nevictd_check_exit_code 0\n/],
])('the output format %s', async (format, shape) => {
  expect((await checkAvailable(500n, '-o', format)).out).toMatch(shape);
});

describe('every failure of a check has exit code 3, in the chosen format', () => {
  const missing = (): never => {
    throw new UnavailableError('EVICTD_NODE_MISSING', 'no cgroup /demo', { hint: 'create it' });
  };
  test.each<[rule: string, open: OpenReading, args: string[], problem: string]>([
    ['the node is missing', missing, [], 'no cgroup /demo'],
    ['a defect', () => Promise.reject(new TypeError('x is not a function')), [], 'x is not a function'],
    ['the configuration file does not exist', missing, ['--config', '/nonexistent/evictd.yaml'], 'no such file'],
    ['an unknown signal', missing, ['--eviction-hard', 'nope<1'], 'nope'],
    ['an unknown option', missing, ['--bogus'], "unknown option '--bogus'"],
    ['an unexpected argument', missing, ['extra'], 'too many arguments'],
    ['an option without its value', missing, ['--config'], 'argument missing'],
  ])('%s', async (_rule, open, args, problem) => {
    const nagios = await check(open, '-o', 'nagios', ...args);
    expect(nagios.exit).toBe(3);
    if (nagios.error !== undefined) expect(nagios.error).toMatchObject({ exitCode: 3 });
    expect(nagios.out).toMatch(/^UNKNOWN - [^\n|]*\n$/);
    expect(nagios.out).toContain(problem);

    const asJson = await check(open, '-o', 'json', ...args);
    expect(asJson.exit).toBe(3);
    expect(json(asJson)).toMatchObject({ status: 'unknown', exit: 3, node: null, signals: [] });
    expect(JSON.stringify(json(asJson).problems)).toContain(problem);

    expect((await check(open, '-o', 'prometheus', ...args)).out).toContain('\nevictd_check_exit_code 3\n');
    expect((await check(open, ...args)).out).toMatch(/^unknown: /);
  });

  test('an unknown output format gives an error as text', async () => {
    const { exit, out } = await check(missing, '-o', 'xml');
    expect(exit).toBe(3);
    expect(out).toMatch(/^unknown: option .*'xml' is invalid.*\[EVICTD_USAGE\]\n$/); // what was not checked is not the news
  });

  test('a check reports every configuration error at once', async () => {
    const { problems } = json(await check(missing, '-o', 'json', '--eviction-hard', 'nope<1,memory.available<120%')) as {
      problems: unknown[];
    };
    expect(problems).toHaveLength(2);
  });
});

describe('a check asks a container runtime for the image filesystem', () => {
  const CRI = 'workloads: [{ cri: { endpoint: unix:///run/test.sock } }]';
  test.each<[rule: string, requested: boolean, yaml: string]>([
    ['if a threshold of imagefs needs it', true, `${CRI}\nevictionHard: { imagefs.available: 5% }`],
    ['if an entry of the threshold list needs it', true, `${CRI}\nthresholds: [{ when: 'containerfs.available<1Gi', kind: hard }]`],
    ['unless no threshold needs it', false, CRI],
    ['unless the filesystem is configured', false, `${CRI}\nevictionHard: { imagefs.available: 5% }\nfilesystems: { imagefs: / }`],
    ['unless there is no runtime', false, 'evictionHard: { imagefs.available: 5% }'],
  ])('%s', async (_rule, requested, yaml) => {
    const file = join(scratch(), 'config.yaml');
    writeFileSync(file, yaml, { mode: 0o600 });
    const opened: string[] = [];
    const open = (which: string): OpenReading => {
      return () => {
        opened.push(which);
        return fakeReading(() => available(500n));
      };
    };
    const deps = { open: open('not asked'), openPlaced: open('asked') };
    await ran((io, setExitCode) => checkCommand({ io, setExitCode, ...deps }), ['--config', file]);
    expect(opened).toEqual([requested ? 'asked' : 'not asked']);
  });
});

test('check --help exits with 0', async () => {
  const { exit, out } = await check(() => fakeReading(() => available(1n)), '--help');
  expect(exit).toBe(0);
  expect(out).toContain('-o, --output <format>');
});

describe('the reading of a check', () => {
  test('is made after the filesystems answered, and is closed once', async () => {
    let answered = false;
    const reads: boolean[] = [];
    const opened = fakeReading(
      () => {
        reads.push(answered);
        return available(500n);
      },
      {
        filesystems: (onDone) =>
          void setTimeout(() => {
            answered = true;
            onDone();
          }, 20),
      },
    );
    expect((await check(() => opened, ...FLAGS)).exit).toBe(0);
    expect(reads).toEqual([true]);
    expect(opened.closed()).toBe(1);
  });

  test('does not wait for filesystems without a threshold', async () => {
    const none = ['--eviction-hard', 'memory.available<100,nodefs.available<0%,nodefs.inodesFree<0%'];
    const opened = fakeReading(() => available(500n), {
      filesystems: () => {
        throw new Error('asked');
      },
    });
    expect(await check(() => opened, ...none)).toMatchObject({ exit: 0 });
  });

  test('has an unknown value for a filesystem that does not answer within a second', async () => {
    const hanging = (): Observations => ({ ...available(500n), missing: new Map([['nodefs.available', 'no answer for 1 s']]) });
    const observations = hanging();
    const opened = fakeReading(() => ({ observed: new Map([...observations.observed].slice(0, 1)), missing: observations.missing }), {
      filesystems: () => undefined,
    });
    const result = await check(() => opened, ...FLAGS, '-o', 'json');
    expect(json(result)).toMatchObject({ status: 'unknown', exit: 3 });
    expect(opened.closed()).toBe(1);
  });

  test('is closed after an error, too', async () => {
    const opened = fakeReading(() => {
      throw new Error('EIO');
    });
    expect((await check(() => opened, ...FLAGS)).exit).toBe(3);
    expect(opened.closed()).toBe(1);
  });

  test('reports notifiers that could not be armed, without a change of the status', async () => {
    const opened = fakeReading(() => available(500n), { notifiers: [dead] });
    const result = json(await check(() => opened, ...FLAGS, '-o', 'json'));
    expect(opened.armed.map((thresholds) => thresholds.map(({ signal }) => signal))).toEqual([
      ['memory.available', 'memory.pressure.full'],
    ]);
    expect(result).toMatchObject({ status: 'ok', exit: 0, notifiers: [{ mechanism: 'psi_trigger', live: false, reason: 'EPERM' }] });
  });

  test('reports what could be armed for one threshold of each memory signal', async () => {
    const opened = fakeReading(() => available(500n));
    await check(() => opened, '--eviction-hard', 'memory.available<1,allocatableMemory.available<2,pid.available<3', '-o', 'json');
    expect(opened.armed.map((thresholds) => thresholds.map(({ signal }) => signal))).toEqual([
      ['memory.available', 'allocatableMemory.available', 'memory.pressure.full'],
    ]);
  });

  test('reports a missing workload source as a problem, without a change of the status', async () => {
    const opened = fakeReading(() => available(500n), { problems: [{ code: 'EVICTD_X', message: 'no cgroup /w' }] });
    const result = json(await check(() => opened, ...FLAGS, '-o', 'json'));
    expect(result).toMatchObject({ status: 'ok', exit: 0 });
    expect(result.problems).toContainEqual({ code: 'EVICTD_X', message: 'no cgroup /w' });
  });
});

// Played, because no real filesystem answers at an instant that a test can choose.
test('a filesystem that answered while the process did not run for longer than the timeout has answered in time', async () => {
  let answered = false;
  const node = {
    requestFilesystems: (onAnswer: (outstanding: number) => void) => {
      setTimeout(() => {
        answered = true;
        onAnswer(0);
      }, 1_200);
    },
  } as unknown as Node;
  const read = filesystemsRead(node);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  await read;
  expect(answered).toBe(true);
});
