import { constants } from 'node:os';
import type { LimitedCommand } from '../../../core/systemd/limited-command.js';
import { NS_PER_MS } from '../../../core/quantity/duration.js';
import { errnoText } from '../../../errors.js';
import type { CommandRunner } from '../../../monitor/ports/ports.js';
import type { Binding, ChildEnd } from '../../../native/binding.js';

const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' };

/**
 * Runs commands as children of evictd, in its cgroup: where systemd is not the init. Each has a process group, which is
 * ended at its timeout. There is no limit of memory.
 */
export class ChildCommands implements CommandRunner {
  readonly #running = new Set<() => void>();

  constructor(private readonly native: Pick<Binding, 'ChildProgram'>) {}

  run({ argv, environment, timeoutNs }: LimitedCommand): Promise<string | undefined> {
    const [program = '', ...rest] = argv;
    const variables = Object.entries({ ...ENVIRONMENT, ...environment }).map(([name, value]) => `${name}=${value}`);
    return new Promise((resolve) => {
      const over = (error: string | undefined): void => {
        clearTimeout(timer);
        child?.close();
        this.#running.delete(end);
        resolve(error);
      };
      const end = (): void => {
        over('it was ended with evictd');
      };
      const timer = setTimeout(
        () => {
          over('it failed (timeout)');
        },
        Number(timeoutNs / NS_PER_MS),
      );
      timer.unref();
      let child: { close(): void } | undefined;
      try {
        child = new this.native.ChildProgram({ program, arguments: rest, environment: variables }, (how) => {
          over(failureOf(how));
        });
        this.#running.add(end);
      } catch (error) {
        over(String(error));
      }
    });
  }

  /** Ends what still runs: its timeout would end with evictd. */
  close(): void {
    for (const end of this.#running) end();
  }
}

function failureOf({ errno, exitCode, signal }: ChildEnd): string | undefined {
  if (errno !== 0) return `it cannot be started: ${errnoText(errno)}`;
  if (signal === 0) return exitCode === 0 ? undefined : `it failed (exit code ${String(exitCode)})`;
  const [name = `signal ${String(signal)}`] = Object.entries(constants.signals).find(([, number]) => number === signal) ?? [];
  return `it failed (${name})`;
}
