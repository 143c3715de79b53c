import { constants } from 'node:os';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Workload } from '../../src/core/workload.js';
import type { Binding, DirectoryUsageResult } from '../../src/native/binding.js';
import { DirectoryMeasurement } from '../../src/workloads/directory-measurement.js';
import { workload } from '../core/support.js';

let nextInode = 100n;
const found = (overrides: Partial<DirectoryUsageResult> = {}): DirectoryUsageResult => ({
  bytes: 4096,
  inodes: 2,
  errors: 0,
  errno: 0,
  complete: true,
  device: 7n,
  inode: nextInode++,
  obstacle: 0,
  ...overrides,
});
const owning = (name: string, ...paths: string[]) => workload(name, { directories: paths.map((path) => ({ path, onEvict: 'keep' })) });

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
  measurement = new DirectoryMeasurement({ DirectoryUsage } as unknown as Binding, () => [
    { path: '/srv/program/node', why: 'evictd runs from it' },
    { path: '/data/containerd', why: 'it holds images' },
  ]);
});

test('each directory is walked for its owner', async () => {
  await measurement.refresh([owning('a', '/srv/a', '/srv/b'), workload('none'), owning('c', '/srv/c')]);
  expect(walked).toEqual(['/srv/a', '/srv/b', '/srv/c']);
  const each = { device: 7n, amount: { bytes: 4096n, inodes: 2n } };
  expect(['/a', '/none', '/c'].map((path) => measurement.of(path))).toMatchObject([[each, each], [], [each]]);
  expect(measurement.problems).toEqual([]);
});

test('what two workloads name is neither’s, and said', async () => {
  await measurement.refresh([owning('a', '/srv/a'), owning('b', '/srv/a')]);
  expect([walked, measurement.of('/a'), measurement.of('/b')]).toEqual([[], [], []]);
  expect(measurement.problems).toMatchObject([
    { code: 'EVICTD_DIRECTORY_SHARED', message: '/srv/a is a directory of 2 workloads, /a and /b among them: it counts for none' },
  ]);
});

test.each<[rule: string, path: string, answer: DirectoryUsageResult, counts: boolean, said: RegExp | undefined]>([
  [
    'is not there',
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
  ['is known in part', '/srv/a', found({ errors: 3, errno: constants.errno.EIO }), true, /EIO/],
  ['was moved', '/srv/a', found({ complete: false }), true, /moved/],
  ['cannot be walked now', '/srv/many', found(), false, /EAGAIN/],
])('a directory that %s', async (_rule, path, answer, counts, said) => {
  answers[path] = answer;
  await measurement.refresh([owning('a', path)]);
  expect(measurement.of('/a')).toHaveLength(counts ? 1 : 0);
  expect(measurement.problems.map(({ code }) => code)).toEqual(said ? ['EVICTD_DISK_UNMEASURED'] : []);
  if (said) expect(measurement.problems[0]?.message).toMatch(said);
});

test('not twice at a time, and not again right after', async () => {
  const both = [measurement.refresh([owning('a', '/srv/a')]), measurement.refresh([owning('a', '/srv/a')])];
  await Promise.all(both);
  await measurement.refresh([owning('a', '/srv/a')]);
  expect(walked).toEqual(['/srv/a']);
});

test('a walk that does not answer is not begun again until it has; with two of them no other one is', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const names = ['/srv/hangs-1', '/srv/hangs-2', '/srv/a'];
  const workloads = names.map((path) => owning(path.slice(5), path));
  const refreshed = async (): Promise<void> => {
    measurement.forget();
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
  expect(measurement.problems[0]?.message).toMatch(/still does not answer/);
  hanging.get('/srv/hangs-1')?.(found());
  await refreshed();
  expect(walked).toEqual([...names.slice(0, 2), '/srv/hangs-1']);
});

describe('a directory that is to be emptied', () => {
  const emptied = (name: string, path: string, overrides: Partial<Workload> = {}) =>
    workload(name, { directories: [{ path, onEvict: 'empty' }], ...overrides });

  test('is known by device and inode, with what is in it; until then that is awaited', async () => {
    answers['/srv/a'] = found({ inode: 5n });
    const measuring = measurement.refresh([emptied('a', '/srv/a'), owning('b', '/srv/b')]);
    expect(['/a', '/b'].map((path) => measurement.of(path, 0n))).toEqual(['measuring', []]);
    expect(await measuring).toBe(true);
    expect(measurement.of('/a', 0n)).toEqual(measurement.of('/a'));
    const empties = { path: '/srv/a', device: 7n, inode: 5n, holds: { bytes: 4096n, inodes: 1n } };
    expect(measurement.of('/a')).toMatchObject([{ empties }]);
    expect(measurement.of('/b')).toEqual([expect.not.objectContaining({ empties: expect.anything() as unknown })]);
    expect(await measurement.refresh([emptied('a', '/srv/a')])).toBe(false);
    measurement.forget();
    expect(measurement.of('/a')).toEqual([]);
    expect(await measurement.refresh([emptied('a', '/srv/a')])).toBe(true);
  });

  test('counts no more when a disk has run short since, and is measured anew at once', async () => {
    const both = [emptied('a', '/srv/a'), owning('b', '/srv/b')];
    await measurement.refresh(both, 0n);
    const shortSinceNs = process.hrtime.bigint();
    expect(measurement.of('/a', shortSinceNs)).toBe('measuring');
    expect(measurement.of('/b', shortSinceNs)).toEqual(measurement.of('/b'));
    expect(measurement.of('/a')).toMatchObject([{ empties: {} }]);
    expect(await measurement.refresh(both, shortSinceNs)).toBe(true);
    expect(measurement.of('/a', shortSinceNs)).toMatchObject([{ empties: {} }]);
    expect(await measurement.refresh(both, shortSinceNs)).toBe(false);
    expect(walked).toEqual(['/srv/a', '/srv/b', '/srv/a', '/srv/b']);
  });

  test('where it is not measured anew in time nothing of it comes back', async () => {
    await measurement.refresh([emptied('a', '/srv/a')]);
    const clock = vi.spyOn(process.hrtime, 'bigint');
    onTestFinished(() => {
      clock.mockRestore();
    });
    const shortSinceNs = process.hrtime.bigint();
    clock.mockReturnValue(shortSinceNs + 60_000_000_000n);
    const found = measurement.of('/a', shortSinceNs);
    expect(found).toMatchObject([{ amount: { bytes: 4096n } }]);
    expect(found[0]).not.toHaveProperty('empties');
  });

  test('what is being measured when it is forgotten does not count', async () => {
    const measuring = measurement.refresh([emptied('a', '/srv/a'), emptied('b', '/srv/b')]);
    measurement.forget();
    expect(await measuring).toBe(false);
    expect([walked, measurement.of('/a'), measurement.of('/a', 0n)]).toEqual([['/srv/a'], [], 'measuring']);
    expect(await measurement.refresh([emptied('a', '/srv/a')])).toBe(true);
    expect(measurement.of('/a', 0n)).toMatchObject([{ empties: {} }]);
  });

  test('frees nothing where there is nothing in it', async () => {
    answers['/srv/a'] = found({ inodes: 1 });
    await measurement.refresh([emptied('a', '/srv/a')]);
    expect(measurement.of('/a')).toEqual([expect.not.objectContaining({ empties: expect.anything() as unknown })]);
    expect(measurement.problems).toEqual([]);
  });

  test.each<[rule: string, path: string, overrides: Partial<Workload>, obstacle: number, said: RegExp]>([
    ['evictd may not write there', '/srv/a', {}, constants.errno.EROFS, /read-only/],
    ['a link leads to it', '/srv/a', {}, constants.errno.ELOOP, /symbolic link/],
    ['somebody else could replace it', '/srv/a', {}, constants.errno.EPERM, /another directory/],
    ['it cannot be opened', '/srv/a', {}, constants.errno.EACCES, /EACCES/],
    ['evictd runs from it', '/srv/program', {}, 0, /evictd runs from/],
    ['a runtime keeps its images in it', '/data', {}, 0, /holds images/],
    ['it is a runtime’s', '/var/lib/docker/x', {}, 0, /others keep/],
    ['its owner is a unit of a user', '/srv/a', { unit: { name: 'a.service', manager: 'user' } }, 0, /systemd/],
    ['its owner is a container', '/srv/a', { path: `/docker/${'0'.repeat(64)}` }, 0, /container/],
    ['its owner is a unit that is not known as one', '/srv/a', { path: '/system.slice/a.service' }, 0, /unit of systemd/],
  ])('is not where %s, counts, and it is said', async (_rule, path, overrides, obstacle, said) => {
    answers[path] = found({ obstacle });
    const owner = emptied('a', path, overrides);
    await measurement.refresh([owner]);
    expect(measurement.of(owner.path)).toMatchObject([{ amount: { bytes: 4096n } }]);
    expect(measurement.of(owner.path)).toEqual([expect.not.objectContaining({ empties: expect.anything() as unknown })]);
    expect(measurement.problems).toMatchObject([{ code: 'EVICTD_DIRECTORY_NOT_EMPTIED' }]);
    expect(measurement.problems[0]?.message).toMatch(said);
  });

  test('is not where it has two names', async () => {
    answers['/srv/a'] = answers['/srv/b'] = found({ inode: 5n });
    await measurement.refresh([emptied('a', '/srv/a'), owning('b', '/srv/b')]);
    expect(measurement.of('/a')).toEqual([expect.not.objectContaining({ empties: expect.anything() as unknown })]);
    expect(measurement.problems).toMatchObject([{ code: 'EVICTD_DIRECTORY_NOT_EMPTIED' }]);
  });
});
