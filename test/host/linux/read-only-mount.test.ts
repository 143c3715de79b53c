import { expect, test } from 'vitest';
import { isOnReadOnlyMount, onReadOnlyMounts } from '../../../src/host/linux/read-only-mount.js';

const mounts = (...all: readonly (readonly [mountPoint: string, options: string])[]): string =>
  all.map(([mountPoint, options], id) => `${String(id)} 1 8:1 / ${mountPoint} ${options} shared:1 - ext4 /dev/sda1 rw`).join('\n');

// As in a service with ProtectSystem=strict and ReadWritePaths=/srv/batch.
const STRICT = mounts(['/', 'ro,relatime'], ['/srv/batch', 'rw,relatime'], ['/home', 'ro'], ['/var', 'rw'], ['/var', 'ro']);

test.each<[path: string, isReadOnly: boolean]>([
  ['/srv', true],
  ['/srv/batch', false],
  ['/srv/batch/data', false],
  ['/srv/batches', true],
  ['/home/a/b', true],
  ['/var/lib/a', true],
])('%s', (path, isReadOnly) => {
  expect(isOnReadOnlyMount(path, STRICT)).toBe(isReadOnly);
});

test('the filesystem may be writable elsewhere, and what is not mounted at all is left to others', () => {
  expect(isOnReadOnlyMount('/a', mounts(['/a', 'rw,nosuid']))).toBe(false);
  expect(isOnReadOnlyMount('/a', '')).toBe(false);
});

test('of a process that is not there nothing is known', () => {
  expect(onReadOnlyMounts(['/proc'], 2 ** 22 + 1)).toEqual([]);
});
