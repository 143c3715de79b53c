import { expect, test } from 'vitest';
import { requireTrusted } from '../../../src/features/install/trusted-program.js';
import type { Owner } from '../../../src/host/linux/process/other-writer.js';

const file = (mode: number, uid = 0, gid = 0): Owner => ({ uid, gid, mode });

test('the check reads each file and every directory above it', () => {
  const seen: string[] = [];
  const look = (path: string): Owner => {
    seen.push(path);
    return file(0o755);
  };
  requireTrusted(['/usr/bin/node', '/opt/evictd/evictd.js'], '/opt/evictd', look);
  expect(seen).toEqual(['/', '/usr', '/usr/bin', '/usr/bin/node', '/opt', '/opt/evictd', '/opt/evictd/evictd.js']);
});

test.each<[rule: string, changed: string, repair: string]>([
  ["a directory above is not evictd's to change", '/tmp', ''],
  ['the package', '/tmp/evictd', ', or: chown -R root:root /tmp/evictd && chmod -R go-w /tmp/evictd'],
  ['a directory in it', '/tmp/evictd/dist', ', or: chown -R root:root /tmp/evictd && chmod -R go-w /tmp/evictd'],
  ['the program', '/usr/bin/node', ', or: chown root:root /usr/bin/node && chmod go-w /usr/bin/node'],
  ['the directory of the program', '/usr/bin', ''],
])('the error names the file that other users can change, and the fix: %s', (_rule, changed, repair) => {
  const look = (path: string): Owner => file(0o755, path === changed ? 1000 : 0);
  expect(() => {
    requireTrusted(['/usr/bin/node', '/tmp/evictd/dist/evictd.js'], '/tmp/evictd', look);
  }).toThrow(
    expect.objectContaining({
      code: 'EVICTD_INSTALL_UNSAFE',
      message: `${changed} belongs to user 1000: another user could run programs as root`,
      hint: `install evictd and Node in directories that only root can write, below /opt or /usr/local (npm install --global as root)${repair}`,
    }),
  );
});
