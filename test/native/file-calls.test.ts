import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { peerOf, userOf } from '../../src/host/linux/process/peer.js';
import { native } from '../../src/native/index.js';
import { after, makeDirectory, thrownBy } from './kernel.js';

/** A filesystem of a megabyte: soon full, and used by this test only. */
function makeSmall(): string {
  const directory = join(makeDirectory(), 'small');
  mkdirSync(directory);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'evictd-test', directory]);
  after(() => void execFileSync('umount', [directory]));
  return directory;
}

test('fallocate reserves space without changing the size, and the space can be written on a full filesystem', async () => {
  const directory = makeSmall();
  const file = openSync(join(directory, 'journal'), 'w');
  after(() => {
    closeSync(file);
  });
  await native.fallocate(file, 0, 64 * 1024);
  const { size, blocks } = statSync(join(directory, 'journal'));
  expect([size, blocks * 512]).toEqual([0, 64 * 1024]);
  expect(thrownBy(() => writeFileSync(join(directory, 'filler'), Buffer.alloc(1 << 20)))).toMatchObject({ code: 'ENOSPC' });
  expect(writeSync(file, Buffer.alloc(64 * 1024), 0, 64 * 1024, 0)).toBe(64 * 1024);
});

test('peerCredentials gives the process at the other end of a Unix socket', async () => {
  const path = join(makeDirectory(), 'socket');
  const server = createServer().listen(path);
  const client = connect(path);
  after(() => {
    client.destroy();
    server.close();
  });
  const [socket] = (await once(server, 'connection')) as [Socket];
  const own = { pid: process.pid, uid: process.getuid?.(), gid: process.getgid?.() };
  expect(native.peerCredentials((socket as unknown as { _handle: { fd: number } })._handle.fd)).toEqual(own);
  const command = readFileSync('/proc/self/comm', 'latin1').trim(); // 'MainThread' from Node 24 on
  const pattern = new RegExp(`^uid ${String(own.uid)}( .login uid [0-9]+.)?, process ${String(own.pid)} .${command}.$`);
  expect([peerOf(native, socket), userOf(native, socket)]).toEqual([expect.stringMatching(pattern), own.uid]);
  socket.destroy();
  expect([peerOf(native, socket), userOf(native, socket)]).toEqual([undefined, undefined]);
  expect(thrownBy(() => native.peerCredentials(100_000))).toMatchObject({ code: 'EBADF', syscall: 'getsockopt' });
});

test('fallocate reports the reason of a failure', async () => {
  const directory = makeSmall();
  const file = openSync(join(directory, 'journal'), 'w');
  after(() => {
    closeSync(file);
  });
  await expect(native.fallocate(file, 0, 1 << 30)).rejects.toMatchObject({ code: 'ENOSPC', syscall: 'fallocate' });
  await expect(native.fallocate(1 << 20, 0, 1)).rejects.toMatchObject({ code: 'EBADF' });
  for (const [fd, offset, length] of [
    [-1, 0, 1],
    [file, -1, 1],
    [file, 0, 0],
    [file, 0, 2 ** 53],
  ] as const) {
    expect(thrownBy(() => native.fallocate(fd, offset, length))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
  }
});

test.runIf(spawnSync('python3', ['-V']).status === 0)('getxattr reads an attribute unchanged (where Python can set one)', () => {
  const file = join(makeDirectory(), 'file');
  writeFileSync(file, '');
  // trusted.*: tmpfs has it wherever it runs, user.* only since 6.6.
  const script = `import os; os.setxattr(${JSON.stringify(file)}, 'trusted.evictd', bytes([1, 0, 255]))`;
  execFileSync('python3', ['-c', script]);
  expect(native.getxattr(file, 'trusted.evictd')).toEqual(Buffer.from([1, 0, 255]));
});

test('getxattr gives undefined for an attribute that does not exist or is not supported, and throws without a file', () => {
  const file = join(makeDirectory(), 'file');
  expect(thrownBy(() => native.getxattr(file, 'trusted.evictd'))).toMatchObject({ code: 'ENOENT', syscall: 'getxattr', path: file });
  writeFileSync(file, '');
  expect(native.getxattr(file, 'trusted.evictd')).toBeUndefined();
  expect(native.getxattr('/proc/self/status', 'trusted.evictd')).toBeUndefined();
});

test('bootTimeNs is the time since the machine was booted', () => {
  const uptime = () => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  const before = uptime();
  const now = Number(native.bootTimeNs()) / 1e9;
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(uptime() + 0.02); // it is cut to hundredths
});

test('setxattr sets an attribute, replaces it, and throws where it is refused', () => {
  const directory = makeDirectory();
  const file = join(directory, 'set');
  writeFileSync(file, '');
  for (const value of ['1', '22']) {
    native.setxattr(file, 'trusted.evictd', value);
    expect(native.getxattr(file, 'trusted.evictd')?.toString()).toBe(value);
  }
  const refused = { code: 'ENOENT', syscall: 'setxattr', path: join(directory, 'none') };
  expect(thrownBy(() => native.setxattr(refused.path, 'trusted.evictd', '1'))).toMatchObject(refused);
});
