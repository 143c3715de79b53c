import { readdirSync, readlinkSync } from 'node:fs';
import { attempt } from '../../../errors.js';
import { namesText } from '../../../byte-paths.js';
import { UNKILLABLE } from '../../../core/oom/oom-badness.js';
import { isSessionProgram } from '../../../core/systemd/session-programs.js';
import type { WorkloadProcess } from '../../../core/workload/process.js';
import { parseTask } from '../oom/oom-processes.js';
import { executableName } from './daemon-name.js';

export interface ProcessRoots {
  readonly proc: string;
  /** systemd-logind's files, one a session. */
  readonly sessions: string;
}

const ROOTS: ProcessRoots = { proc: '/proc', sessions: '/run/systemd/sessions' };

/** The processes that lead login sessions: sessions end with them. */
export function sessionLeaders({ sessions }: ProcessRoots = ROOTS): ReadonlySet<number> {
  const files = listed(sessions).filter((name) => !name.endsWith('.ref')); // a FIFO
  return new Set(
    files.flatMap((name) => {
      const [, pid] = /(?:^|\n)LEADER=(\d+)/.exec(textOf(`${sessions}/${name}`) ?? '') ?? [];
      return pid === undefined ? [] : [Number(pid)];
    }),
  );
}

/**
 * A process that may be ended alone. undefined: it has ended, or has no memory. 'kept': it must not be: process 1, evictd
 * itself, one with OOMScoreAdjust=-1000, the leader of a login session, and programs that a session depends on.
 */
export function endableProcess(
  pid: number,
  path: string,
  leaders: ReadonlySet<number>,
  { proc } = ROOTS,
): WorkloadProcess | 'kept' | undefined {
  if (pid <= 1 || pid === process.pid || leaders.has(pid)) return 'kept';
  const directory = `${proc}/${String(pid)}`;
  const [status, stat, scoreAdj] = [textOf(`${directory}/status`), textOf(`${directory}/stat`), textOf(`${directory}/oom_score_adj`)];
  if (status === undefined || stat === undefined || scoreAdj === undefined) return undefined;
  const task = parseTask({ status, stat, scoreAdj, score: textOf(`${directory}/oom_score`) });
  if (task?.memory === undefined || task.kernelThread) return undefined;
  if (task.oomScoreAdj === UNKILLABLE) return 'kept';
  const { name: command, startTicks, memory, oomScore = 0 } = task;
  if (isSessionProgram(command, () => attempt(() => executableName(readlinkSync(`${directory}/exe`))))) return 'kept';
  const [, anon] = /(?:^|\n)RssAnon:\s*(\d+) kB/.exec(status) ?? [];
  const anonBytes = anon === undefined ? memory.rssBytes : BigInt(anon) * 1024n;
  return { path, pid, startTicks, command, residentBytes: memory.rssBytes, anonBytes, swapBytes: memory.swapBytes, oomScore };
}

function textOf(file: string): string | undefined {
  return attempt(() => namesText(file)); // it has ended
}

function listed(directory: string): readonly string[] {
  return attempt(() => readdirSync(directory)) ?? []; // no logind
}
