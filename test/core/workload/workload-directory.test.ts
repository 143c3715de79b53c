import { expect, test } from 'vitest';
import { overlap, systemDirectory } from '../../../src/core/workload/workload-directory.js';

test.each([
  '/',
  '/etc',
  '/etc/web',
  '/usr/local/web',
  '/var',
  '/var/lib',
  '/var/lib/dpkg/info',
  '/home',
  '/home/me',
  '/boot',
  '/proc/1',
  '/sys',
  '/dev/shm',
  '/run',
  '/tmp',
  '/root',
  '/run/systemd/x',
  '/var/log/journal/x',
  '/var/lib/evictd',
  '/bin/x',
  '/var/log',
  '/opt',
  '/srv',
  '/mnt',
])('%s is not the directory of one workload', (path) => {
  expect(systemDirectory(path)).toBeDefined();
});

test.each([
  '/var/lib/web',
  '/srv/web',
  '/home/me/web',
  '/opt/web/data',
  '/data',
  '/var/cache/web',
  '/tmp/web',
  '/run/web',
  '/etcetera',
  '/var/lib/systemd2',
  '/root/web',
])('%s may be the directory of one workload', (path) => {
  expect(systemDirectory(path)).toBeUndefined();
});

test.each<[path: string, other: string, shared: boolean]>([
  ['/srv/a', '/srv/a', true],
  ['/srv/a', '/srv/a/b', true],
  ['/srv/a/b/c', '/srv/a', true],
  ['/srv/a', '/srv/ab', false],
  ['/srv/a', '/srv/b', false],
])('the relation of %s and %s', (path, other, shared) => {
  expect(overlap(path, other)).toBe(shared);
});
