import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestCgroup } from './cgroup.js';

const PIDS_V1 = '/sys/fs/cgroup/pids';

/** A limit on processes: on v1 a cgroup of the pids hierarchy, which is another one than that of memory; on v2 of the cgroup itself. */
export interface PidsLimit {
  /** A shell command by which whoever is in the cgroup gets under the limit. */
  readonly join: string;
  readonly processes: () => number[];
  /** How often the kernel refused a fork. */
  readonly refusals: () => number;
  cleanup(): Promise<void>;
}

/** Processes that fork for ever are a danger to the machine: without a limit that stands before they start there is no test. */
export function limitPids(cgroup: TestCgroup, max: number): PidsLimit {
  const v1 = existsSync(`${PIDS_V1}/cgroup.procs`);
  const dir = v1 ? `${PIDS_V1}/${basename(cgroup.dir)}-${randomBytes(3).toString('hex')}` : cgroup.dir;
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
          await pause(20); // somebody who was killed has not left yet
        }
      }
    },
  };
}

/** A command for a shell in the cgroup: forks as fast as it can, each child likewise, and goes on when it is refused. */
export function forkBomb({ join }: PidsLimit): string {
  return `${join} && exec perl -e 'fork while 1'`;
}
