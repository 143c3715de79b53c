import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestCgroup } from './cgroup.js';

const PIDS_V1 = '/sys/fs/cgroup/pids';

/** A limit on processes: on v1 a cgroup of the pids hierarchy, on v2 of the cgroup itself. */
export interface PidsLimit {
  /** A shell command that puts its shell under the limit. */
  readonly join: string;
  readonly processes: () => number[];
  /** How often the kernel refused a fork. */
  readonly refusals: () => number;
  cleanup(): Promise<void>;
}

/** Fork bombs endanger the machine: without a limit set before their start there is no test. */
export function limitPids(cgroup: TestCgroup, max: number): PidsLimit {
  return limited(
    existsSync(`${PIDS_V1}/cgroup.procs`) ? `${PIDS_V1}/${basename(cgroup.dir)}-${randomBytes(3).toString('hex')}` : undefined,
    cgroup,
    max,
  );
}

/** The limit with the name of the cgroup, as a service manager creates it: evictd finds it by that name. */
export function limitPidsOf(cgroup: TestCgroup, max: number): PidsLimit {
  return limited(existsSync(`${PIDS_V1}/cgroup.procs`) ? PIDS_V1 + cgroup.path : undefined, cgroup, max);
}

function limited(inPids: string | undefined, cgroup: TestCgroup, max: number): PidsLimit {
  const v1 = inPids !== undefined;
  const dir = inPids ?? cgroup.dir;
  if (v1) mkdirSync(dir);
  writeFileSync(`${dir}/pids.max`, String(max));
  if (readFileSync(`${dir}/pids.max`, 'utf8').trim() !== String(max)) throw new Error(`${dir} does not limit processes`);
  const read = (file: string): string => readFileSync(`${dir}/${file}`, 'utf8');
  return {
    join: v1 ? `echo $$ > ${dir}/cgroup.procs` : `grep -qv max ${dir}/pids.max`,
    processes: () => read('cgroup.procs').split('\n').filter(Boolean).map(Number),
    refusals: () => Number(/^max (\d+)$/m.exec(read('pids.events'))?.[1] ?? 0),
    cleanup: async () => {
      for (let left = 500; v1 && existsSync(dir); left--) {
        try {
          rmdirSync(dir);
        } catch (error) {
          if (left === 0) throw error;
          await pause(20); // a killed process is still leaving
        }
      }
    },
  };
}

/** A command for a shell in the cgroup: forks as fast as it can, like each child, and continues after refusals. */
export function forkBomb({ join }: PidsLimit): string {
  return `${join} && exec perl -e 'fork while 1'`;
}

const PR_SET_CHILD_SUBREAPER = 36;
/** prctl(2), on x86_64 and arm64. */
const PRCTL = process.arch === 'arm64' ? 167 : 157;

/**
 * Starts it in the cgroup. Its parent outside reaps all descendants, which process 1 may not do, and ends after the
 * last.
 */
export function startForkBomb(cgroup: TestCgroup, limit: PidsLimit): void {
  const reaper = `
    syscall(${String(PRCTL)}, ${String(PR_SET_CHILD_SUBREAPER)}, 1, 0, 0, 0) == 0 or die $!;
    fork or exec @ARGV;
    1 while wait > 0;`;
  const bomb = ['/bin/sh', '-c', `echo $$ > ${cgroup.dir}/cgroup.procs && ${forkBomb(limit)}`];
  spawn('perl', ['-e', reaper, ...bomb], { stdio: 'ignore' });
}
