import type { LimitedCommand } from '../../../core/systemd/limited-command.js';
import { withinTime } from '../../../native/bounded-answer.js';
import type { CommandRunner, ProgramEnd, ProgramRunner } from '../../../monitor/ports/ports.js';
import { programProblem } from './other-writer.js';

const NS_PER_MS = 1_000_000n;

/** Runs programs as root, each after a check that only root can change it. Nothing of it blocks the event loop. */
export class CheckedPrograms implements ProgramRunner {
  readonly #runner: CommandRunner & { close?(): void };
  readonly #checks: ProgramChecks;

  constructor(runner: CommandRunner & { close?(): void }, checks = CHECKS) {
    this.#runner = runner;
    this.#checks = checks;
  }

  async problemOf(program: string, withinMs: number): Promise<string | undefined> {
    const answer = await withinTime<{ readonly problem: string | undefined }>(withinMs, (onDone) => {
      void this.#checks.problemOf(program).then((problem) => {
        onDone({ problem });
      });
      return { close: () => undefined };
    });
    return typeof answer === 'string' ? `${answer} about ${program}` : answer.problem;
  }

  async run(command: LimitedCommand): Promise<ProgramEnd> {
    const problem = await this.problemOf(command.argv[0] ?? '', Number(command.timeoutNs / NS_PER_MS));
    if (problem !== undefined) return { result: 'refused', error: problem };
    const error = await this.#runner.run(command);
    return error === undefined ? { result: 'succeeded' } : { result: 'failed', error };
  }

  close(): void {
    this.#runner.close?.();
  }
}

/**
 * Checks programs on libuv's threads. A filesystem that hangs keeps a thread until it answers: so there is one check a
 * program, and no more than two at once, of libuv's four threads.
 */
export class ProgramChecks {
  readonly #problem: typeof programProblem;
  readonly #pending = new Map<string, Promise<string | undefined>>();
  readonly #waiting: (() => void)[] = [];
  #free = 2;

  constructor(problem = programProblem) {
    this.#problem = problem;
  }

  /** Why root must not run a program; undefined: it may. Never rejects. May never resolve. */
  problemOf(program: string): Promise<string | undefined> {
    const pending = this.#pending.get(program) ?? this.#check(program);
    this.#pending.set(program, pending);
    return pending;
  }

  async #check(program: string): Promise<string | undefined> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const problem = await this.#problem(program);
    this.#pending.delete(program);
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
    return problem;
  }
}

/** For the whole process, as the threads are. */
const CHECKS = new ProgramChecks();
