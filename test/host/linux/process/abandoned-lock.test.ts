import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockHolder, lockHoldersIn, lockInstance } from '../../../../src/host/linux/process/lock-files.js';
import { readInstance } from '../../../../src/host/linux/facts/service-reader.js';
import { native } from '../../../../src/native/index.js';
import type { NodeIdentity } from '../../../../src/monitor/ports/ports.js';
import { eventually } from '../../../support/eventually.js';
import { fuseWorks, mountFuse, type FuseMount } from '../../../support/fuse.js';
import { stateOf } from '../../../support/process-state.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const MACHINE: NodeIdentity = { name: 'machine', cgroup: undefined, cgroupVersion: 2 };

/**
 * Locks the file in ARGV[0], as evictd did before it had a thread for its lock, and becomes a Node that asks the
 * filesystem in ARGV[2].
 */
const LOCK = `
  open(my $lock, '+>', $ARGV[0]) or die; flock($lock, 6) or die;
  use Fcntl; fcntl($lock, F_SETFD, 0);
  syswrite($lock, "$$\\n1.0.0\\n");
  exec($ARGV[1], '-e', 'require("node:fs").statfs(process.argv[1], () => {}); setInterval(() => {}, 1000)', $ARGV[2]);`;

/** A killed process that a thread in statfs keeps, with the lock. */
async function zombieWith(path: string): Promise<{ zombie: ChildProcess; fuse: FuseMount }> {
  const fuse = await mountFuse();
  onTestFinished(() => fuse.remove());
  await fuse.hangAt('statfs');
  const zombie = spawn('perl', ['-e', LOCK, path, process.execPath, fuse.directory], { stdio: ['ignore', 'ignore', 'inherit'] });
  onTestFinished(() => void zombie.kill('SIGKILL'));
  await fuse.stuck();
  zombie.kill('SIGKILL');
  await eventually('its first thread is a zombie', () => stateOf(zombie.pid ?? 0) === 'Z');
  return { zombie, fuse };
}

function runtimeDirectory(): string {
  const directory = temporaryDirectory();
  return directory;
}

describe.runIf(await fuseWorks())(
  'a lock that a zombie holds, because a filesystem has taken its request (where FUSE can be mounted)',
  () => {
    test('belongs to no evictd that runs, and the next evictd takes it over', async () => {
      const directory = runtimeDirectory();
      const path = join(directory, 'machine.lock');
      const { zombie } = await zombieWith(path);
      expect(readFileSync('/proc/locks', 'utf8')).toMatch(new RegExp(`FLOCK +ADVISORY +WRITE ${String(zombie.pid)} `));
      expect([lockHolder(path), lockHoldersIn(directory), readInstance(directory, 'machine')]).toEqual([undefined, [], { kind: 'none' }]);

      const lock = lockInstance(directory, MACHINE, native);
      expect(lockHolder(path)).toBe(process.pid);
      expect(() => lockInstance(directory, MACHINE, native)).toThrow(expect.objectContaining({ code: 'EVICTD_INSTANCE_RUNNING' }));
      expect(readdirSync(directory)).toEqual(['machine.lock']);
      lock.close();
      lockInstance(directory, MACHINE, native).close();
    });

    test('is not taken over twice, while another evictd takes it over', async () => {
      const directory = runtimeDirectory();
      const path = join(directory, 'machine.lock');
      const { zombie } = await zombieWith(path);
      const turn = new native.FileLock(`${path}.takeover`);
      expect(() => lockInstance(directory, MACHINE, native)).toThrow(expect.objectContaining({ code: 'EVICTD_INSTANCE_RUNNING' }));
      expect(readFileSync(path, 'utf8')).toBe(`${String(zombie.pid)}\n1.0.0\n`);
      turn.close();
      lockInstance(directory, MACHINE, native).close();
    });
  },
);
