import { spawn, type ChildProcess } from 'node:child_process';
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
      const child = spawn(program, args, { cwd: '/', env: { ...ENVIRONMENT, ...environment }, stdio: 'ignore', detached: true });
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
      // Neither keeps evictd alive.
      timer.unref();
      child.unref();
      child.on('error', (error) => {
        over(error.message);
      });
      child.on('exit', (code, signal) => {
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

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}
