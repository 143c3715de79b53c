import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { CommandPurpose, LimitedCommand } from '../../../core/systemd/limited-command.js';
import type { CommandRunner } from '../../../monitor/ports/ports.js';
import { openTransientUnits } from '../systemd/transient-units.js';
import { whyUntrusted } from './file-owner.js';

const NS_PER_MS = 1_000_000n;
const NICE = 10;

/** `close()` ends what runs as a child of evictd. */
export interface ProgramRunner extends CommandRunner {
  close(): void;
}

/**
 * Runs programs that an operator has configured: as transient units where systemd is the init, else as children of
 * evictd. Refuses those that a user other than root can change.
 */
export function openProgramRunner(purpose: CommandPurpose, openUnits = openTransientUnits): ProgramRunner {
  const children = new Set<number>();
  const units = openUnits(purpose) ?? { run: (command: LimitedCommand) => runChild(command, children) };
  return {
    run: async (command) => whyUntrusted(command.argv[0] ?? '') ?? (await units.run(command)),
    close: () => {
      for (const pid of children) endGroup(pid);
    },
  };
}

/**
 * In a process group of its own, which is ended with the program or at the timeout. Nothing limits its memory: it is a
 * part of evictd's cgroup.
 */
function runChild({ argv, environment = [], timeoutNs }: LimitedCommand, children: Set<number>): Promise<string | undefined> {
  const [program = '', ...args] = argv;
  const env = Object.fromEntries(['LC_ALL=C.UTF-8', `PATH=${process.env.PATH ?? ''}`, ...environment].map(split));
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore', cwd: '/', env });
    const { pid } = child;
    child.once('error', (error) => {
      resolve(`it failed: ${error.message}`);
    });
    if (pid === undefined) return;
    children.add(pid);
    becomeOrdinary(pid);
    let isLate = false;
    const timer = setTimeout(
      () => {
        isLate = true;
        endGroup(pid);
      },
      Number(timeoutNs / NS_PER_MS),
    );
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      children.delete(pid);
      endGroup(pid);
      resolve(code === 0 ? undefined : `it failed (${isLate ? 'timeout' : (signal ?? `exit status ${String(code)}`)})`);
    });
  });
}

function split(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/** evictd's priority and its protection from the OOM killer are not the program's. */
function becomeOrdinary(pid: number): void {
  attempt(() => {
    setPriority(pid, NICE);
  });
  attempt(() => {
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '0', { flag: 'r+' });
  });
}

/** What the program has started, too, as far as it has stayed in the group. */
function endGroup(pid: number): void {
  attempt(() => process.kill(-pid, constants.signals.SIGKILL));
}

/** The program may have ended, or evictd may lack the right: the result says what became of the program. */
function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // see above
  }
}
