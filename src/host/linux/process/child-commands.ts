import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { LimitedCommand } from '../../../core/systemd/limited-command.js';
import type { CommandRunner } from '../../../monitor/ports/ports.js';

const NS_PER_MS = 1_000_000n;
const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' };

/**
 * Runs commands as children of evictd, in its cgroup: where systemd is not the init. Each has a process group, which is
 * ended at its timeout. There is no limit of memory.
 */
export class ChildCommands implements CommandRunner {
  readonly #running = new Set<ChildProcess>();

  run({ argv, environment, timeoutNs }: LimitedCommand): Promise<string | undefined> {
    const [program = '', ...args] = argv;
    return new Promise((resolve) => {
      let child: ChildProcess;
      try {
        child = spawn(program, args, { cwd: '/', env: { ...ENVIRONMENT, ...environment }, stdio: 'ignore', detached: true });
      } catch (error) {
        resolve(String(error)); // ENOMEM, for one, is not an event
        return;
      }
      let late = false;
      const timer = setTimeout(
        () => {
          late = true;
          endGroup(child);
        },
        Number(timeoutNs / NS_PER_MS),
      );
      const over = (error: string | undefined): void => {
        clearTimeout(timer);
        this.#running.delete(child);
        resolve(error);
      };
      this.#running.add(child);
      becomeOrdinary(child);
      // Neither keeps evictd alive.
      timer.unref();
      child.unref();
      child.on('error', (error) => {
        over(error.message);
      });
      child.on('exit', (code, signal) => {
        endGroup(child);
        if (late) over('it failed (timeout)');
        else over(code === 0 ? undefined : `it failed (${signal ?? `exit code ${String(code)}`})`);
      });
    });
  }

  /** Ends what still runs: its timeout would end with evictd. */
  close(): void {
    for (const child of this.#running) endGroup(child);
  }
}

const NICE = 10;

/** evictd's priority and its protection from the OOM killer are not the program's. */
function becomeOrdinary({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  attempt(() => {
    setPriority(pid, NICE);
  });
  attempt(() => {
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '0', { flag: 'r+' });
  });
}

/** What the program has started, too, as far as it has stayed in the group. */
function endGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) attempt(() => process.kill(-pid, 'SIGKILL'));
}

/** The program may have ended, or evictd may lack the right. */
function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // see above
  }
}
