import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ContainerFiles } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { ContainerMeasurement, LogFiles } from '../../../src/workloads/disk/container-measurement.js';
import { SECOND, workload } from '../../core/support.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const part = (endpoint: string, containers: readonly string[]) => ({
  runtime: { endpoint, podId: 'p', containers, isPod: true, labels: {}, byKubelet: false },
});
const web = workload('web', part('unix:///a', ['one', 'two']));
const db = workload('db', part('unix:///b', ['three']));
const cgroup = workload('cgroup');

let directory: string;
let device: bigint;
let nowNs: bigint;
/** What the runtimes say; an Error: that they do not, undefined: nothing yet. */
let reported: Record<string, readonly ContainerFiles[] | Error | undefined>;
let requested: string[];
let measurement: ContainerMeasurement;
/** Of logs that are looked at; undefined: as they are. */
let lookAtLog: ConstructorParameters<typeof LogFiles>[0];

beforeEach(() => {
  directory = temporaryDirectory();
  device = statSync(directory, { bigint: true }).dev;
  nowNs = process.hrtime.bigint();
  reported = { 'unix:///a': [files('one', 3n), files('two', 4n)], 'unix:///b': [files('three', 5n)] };
  requested = [];
  lookAtLog = undefined;
  const runtime = (endpoint: string) => ({
    endpoint,
    files: () => {
      requested.push(endpoint);
      const said = reported[endpoint];
      if (said === undefined) return new Promise<never>(() => undefined);
      return said instanceof Error ? Promise.reject(said) : Promise.resolve(said);
    },
  });
  measurement = new ContainerMeasurement(
    native,
    () => ['unix:///a', 'unix:///b', 'unix:///none-of-its-pods'].map(runtime),
    () => new LogFiles(lookAtLog),
  );
});

function files(id: string, bytes: bigint, secondsAgo = 5n, logPath?: string): ContainerFiles {
  return { id, layer: { directory, amount: { bytes, inodes: 1n }, atNs: nowNs - secondsAgo * SECOND }, logPath };
}
/** Bytes that come back, as known now. */
const frees = (of: typeof web, shortForSeconds?: bigint): bigint[] | 'measuring' => {
  const found = measurement.of(of.path, shortForSeconds === undefined ? undefined : nowNs - shortForSeconds * SECOND);
  return found === 'measuring' ? found : found.layers.map(({ amount }) => amount.bytes);
};

test('all containers of a workload are measured by their runtime, and cgroups without a container have nothing', async () => {
  await measurement.refresh([web, db, cgroup]);
  expect([web, db, cgroup].map((each) => frees(each))).toEqual([[3n, 4n], [5n], []]);
  expect(measurement.of(web.path)).toMatchObject({ layers: [{ device, atNs: nowNs - 5n * SECOND }, {}] });
  expect(requested).toEqual(['unix:///a', 'unix:///b']);
  expect(measurement.problems).toEqual([]);
});

test('no runtime is asked about workloads that it did not report', async () => {
  await measurement.refresh([cgroup]);
  expect(requested).toEqual([]);
});

test('a log counts with its blocks on the disk, which are not freed, and a missing log counts nothing', async () => {
  const logPath = join(directory, 'log');
  writeFileSync(logPath, 'x'.repeat(10_000));
  const { blocks } = statSync(logPath, { bigint: true });
  reported['unix:///a'] = [files('one', 3n, 5n, logPath), files('two', 4n, 5n, join(directory, 'none'))];
  await measurement.refresh([web]);
  expect(measurement.of(web.path)).toMatchObject({ logs: [{ device, amount: { bytes: blocks * 512n, inodes: 1n } }] });
});

test('a log that hangs does not delay layers, is read once, and is a problem until it answers', async () => {
  const looked: string[] = [];
  let answer: (() => void) | undefined;
  lookAtLog = (path) => {
    looked.push(path);
    return new Promise((_resolve, reject) => {
      answer = () => {
        reject(new Error('ESTALE'));
      };
    });
  };
  reported['unix:///a'] = [files('one', 3n, 5n, '/hung/one'), files('two', 4n, 5n, '/hung/two')];
  await vi.waitUntil(async () => {
    await measurement.refresh([web]);
    return measurement.problems.length > 0;
  }, 10_000);
  await measurement.refresh([web]);
  expect(frees(web)).toEqual([3n, 4n]);
  expect(looked).toEqual(['/hung/one']);
  expect(measurement.problems.map(({ message }) => message)).toEqual([
    'cannot measure the logs of the containers of unix:///a: a log does not answer',
  ]);
  answer?.();
  lookAtLog = undefined;
  reported['unix:///a'] = [files('one', 3n), files('two', 4n)];
  await measurement.refresh([web]);
  expect(measurement.problems).toEqual([]);
});

test('a layer counts at most the usage of its filesystem, because the lengths of sparse files may be more', async () => {
  reported['unix:///a'] = [files('one', 1n << 60n), files('two', 4n)];
  await measurement.refresh([web]);
  const { blocks, bsize } = statfsSync(directory, { bigint: true });
  const [sparse = 0n, other] = frees(web) as bigint[];
  expect(sparse).toBeLessThan(blocks * bsize);
  expect([sparse > 4n, other]).toEqual([true, 4n]);
});

describe('a measurement that is older than the shortage', () => {
  test.each<[rule: string, secondsAgo: bigint, shortForSeconds: bigint | undefined, expected: bigint[] | 'measuring']>([
    ['is repeated, because the container may have written since', 5n, 4n, 'measuring'],
    ['is not repeated if the shortage was measured since', 5n, 6n, [3n, 4n]],
    ['counts where nothing is decided', 5n, undefined, [3n, 4n]],
    ['counts no more after a minute', 70n, undefined, []],
    ['is waited for a minute, and is unknown then', 90n, 70n, []],
    ['is unknown, too, if the shortage has lasted for longer', 70n, 90n, []],
  ])('%s', async (_rule, secondsAgo, shortForSeconds, expected) => {
    reported['unix:///a'] = [files('one', 3n, secondsAgo), files('two', 4n, secondsAgo)];
    await measurement.refresh([web]);
    expect(frees(web, shortForSeconds)).toEqual(expected);
  });

  test('is also repeated if there is none yet', async () => {
    reported['unix:///a'] = [files('one', 3n), { id: 'two', layer: undefined, logPath: undefined }];
    await measurement.refresh([web]);
    expect(frees(web, 10n)).toBe('measuring');
    expect(frees(web, 70n)).toEqual([3n]);
  });
});

describe('a runtime that does not answer', () => {
  test('is waited for only for a moment, gets no second call, and delays no other', async () => {
    reported['unix:///a'] = undefined;
    await measurement.refresh([web, db]);
    expect([frees(web), frees(db)]).toEqual([[], [5n]]);
    await measurement.refresh([web, db]);
    expect(requested.filter((endpoint) => endpoint === 'unix:///a')).toHaveLength(1);
  });

  test('keeps its last values, and is reported until it answers', async () => {
    await measurement.refresh([web, db]);
    reported['unix:///a'] = new Error('no answer in time');
    await measurement.refresh([web, db]);
    expect([frees(web), frees(db)]).toEqual([[3n, 4n], [5n]]);
    expect(measurement.problems).toEqual([
      {
        code: 'EVICTD_DISK_UNMEASURED',
        message: 'cannot measure the disk usage of the containers of unix:///a: no answer in time',
      },
    ]);
    reported['unix:///a'] = [files('one', 30n), files('two', 4n)];
    await measurement.refresh([web, db]);
    expect(frees(web)).toEqual([30n, 4n]);
    expect(measurement.problems).toEqual([]);
  });

  test('is not reported any more when it has no workloads', async () => {
    reported['unix:///a'] = new Error('gone');
    await measurement.refresh([web]);
    await measurement.refresh([db]);
    expect(measurement.problems).toEqual([]);
  });
});

test('a layer on a disk that does not exist counts nothing', async () => {
  rmSync(directory, { recursive: true });
  await measurement.refresh([web]);
  expect(frees(web)).toEqual([]);
});
