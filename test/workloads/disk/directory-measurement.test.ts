import { constants } from 'node:os';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Binding, DirectoryUsageResult } from '../../../src/native/binding.js';
import { DirectoryMeasurement } from '../../../src/workloads/disk/directory-measurement.js';
import { workload } from '../../core/support.js';

const found = (overrides: Partial<DirectoryUsageResult> = {}): DirectoryUsageResult => ({
  bytes: 4096,
  inodes: 2,
  errors: 0,
  errno: 0,
  complete: true,
  device: 7n,
  ...overrides,
});
const owning = (name: string, ...paths: string[]) => workload(name, { directories: paths.map((path) => ({ path })) });

let walked: string[];
let hanging: Map<string, (result: DirectoryUsageResult) => void>;
let answers: Partial<Record<string, DirectoryUsageResult>>;
let measurement: DirectoryMeasurement;

beforeEach(() => {
  walked = [];
  answers = {};
  hanging = new Map();
  class DirectoryUsage {
    constructor(path: string, onDone: (result: DirectoryUsageResult) => void) {
      walked.push(path);
      if (path === '/srv/many') throw new Error('EAGAIN');
      if (path.startsWith('/srv/hangs')) {
        hanging.set(path, onDone);
        return;
      }
      setImmediate(() => {
        onDone(answers[path] ?? found());
      });
    }
    close(): void {
      // nothing is held
    }
  }
  measurement = new DirectoryMeasurement({ DirectoryUsage } as unknown as Binding);
});

test('each directory is measured for its owner', async () => {
  await measurement.refresh([owning('a', '/srv/a', '/srv/b'), workload('none'), owning('c', '/srv/c')]);
  expect(walked).toEqual(['/srv/a', '/srv/b', '/srv/c']);
  const each = { device: 7n, amount: { bytes: 4096n, inodes: 2n } };
  expect(['/a', '/none', '/c'].map((path) => measurement.of(path))).toMatchObject([[each, each], [], [each]]);
  expect(measurement.problems).toEqual([]);
});

test('a directory that two workloads name belongs to neither, and is reported', async () => {
  await measurement.refresh([owning('a', '/srv/a'), owning('b', '/srv/a')]);
  expect([walked, measurement.of('/a'), measurement.of('/b')]).toEqual([[], [], []]);
  expect(measurement.problems).toMatchObject([
    { code: 'EVICTD_DIRECTORY_SHARED', message: '/srv/a is a directory of 2 workloads, /a and /b among them: it counts for none' },
  ]);
});

test.each<[rule: string, path: string, answer: DirectoryUsageResult, counts: boolean, said: RegExp | undefined]>([
  [
    'does not exist',
    '/srv/a',
    found({ bytes: 0, inodes: 0, errors: 1, errno: constants.errno.ENOENT, complete: false, device: 0n }),
    false,
    undefined,
  ],
  [
    'may not be read',
    '/srv/a',
    found({ bytes: 0, inodes: 0, errors: 1, errno: constants.errno.EACCES, complete: false, device: 0n }),
    false,
    /EACCES/,
  ],
  ['is only partly known', '/srv/a', found({ errors: 3, errno: constants.errno.EIO }), true, /EIO/],
  ['was moved', '/srv/a', found({ complete: false }), true, /moved/],
  ['cannot be walked now', '/srv/many', found(), false, /EAGAIN/],
])('a directory that %s', async (_rule, path, answer, counts, said) => {
  answers[path] = answer;
  await measurement.refresh([owning('a', path)]);
  expect(measurement.of('/a')).toHaveLength(counts ? 1 : 0);
  expect(measurement.problems.map(({ code }) => code)).toEqual(said ? ['EVICTD_DISK_UNMEASURED'] : []);
  if (said) expect(measurement.problems[0]?.message).toMatch(said);
});

test('a directory is not measured twice at a time, and not again right after', async () => {
  const both = [measurement.refresh([owning('a', '/srv/a')]), measurement.refresh([owning('a', '/srv/a')])];
  await Promise.all(both);
  await measurement.refresh([owning('a', '/srv/a')]);
  expect(walked).toEqual(['/srv/a']);
});

test('a walk that does not answer is not repeated until it has, and with two of them no other one begins', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const names = ['/srv/hangs-1', '/srv/hangs-2', '/srv/a'];
  const workloads = names.map((path) => owning(path.slice(5), path));
  const clock = vi.spyOn(process.hrtime, 'bigint');
  onTestFinished(() => {
    clock.mockRestore();
  });
  let nowNs = process.hrtime.bigint();
  const refreshed = async (): Promise<void> => {
    clock.mockReturnValue((nowNs += 60_000_000_000n));
    const measuring = measurement.refresh(workloads);
    await vi.advanceTimersByTimeAsync(60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    await measuring;
  };
  await refreshed();
  expect(measurement.problems.map(({ message }) => message.replace(/.*: /, ''))).toEqual([
    'no answer for 60 s',
    'no answer for 60 s',
    '/srv/hangs-1 and /srv/hangs-2 do not answer',
  ]);
  await refreshed();
  expect(walked).toEqual(names.slice(0, 2));
  expect(measurement.problems[0]?.message).toMatch(/still no answer/);
  hanging.get('/srv/hangs-1')?.(found());
  await refreshed();
  expect(walked).toEqual([...names.slice(0, 2), '/srv/hangs-1']);
});
