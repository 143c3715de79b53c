import type { LimitedCommand } from '../../../core/systemd/limited-command.js';
import { withinTime } from '../../../native/bounded-answer.js';
import type { CommandRunner, ProgramEnd, ProgramRunner } from '../../../monitor/ports/ports.js';
import { programProblem, type StatusReader } from './other-writer.js';
import { NS_PER_MS } from '../../../core/quantity/duration.js';

/** Runs programs as root, each after a check that only root can change it. Nothing of it blocks the event loop. */
export class CheckedPrograms implements ProgramRunner {
  constructor(
    private readonly runner: CommandRunner & { close?(): void },
    private readonly checks: ProgramChecks,
  ) {}

  async problemOf(program: string, withinMs: number): Promise<string | undefined> {
    const answer = await withinTime<{ readonly problem: string | undefined }>(withinMs, (onDone) => {
      void this.checks.problemOf(program).then((problem) => {
        onDone({ problem });
      });
      return { close: () => undefined };
    });
    return typeof answer === 'string' ? `${answer} about ${program}` : answer.problem;
  }

  async run(command: LimitedCommand): Promise<ProgramEnd> {
    const problem = await this.problemOf(command.argv[0] ?? '', Number(command.timeoutNs / NS_PER_MS));
    if (problem !== undefined) return { result: 'refused', error: problem };
    const error = await this.runner.run(command);
    return error === undefined ? { result: 'succeeded' } : { result: 'failed', error };
  }

  close(): void {
    this.runner.close?.();
  }
}

/**
 * Checks programs. A filesystem that hangs keeps a child process until it answers: so there is one check a program, and
 * no more than two at once.
 */
export class ProgramChecks {
  readonly #pending = new Map<string, Promise<string | undefined>>();
  readonly #waiting: (() => void)[] = [];
  #free = 2;

  constructor(private readonly problem: (program: string) => Promise<string | undefined>) {}

  static by(native: StatusReader): ProgramChecks {
    return new ProgramChecks((program) => programProblem(native, program));
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
    const problem = await this.problem(program);
    this.#pending.delete(program);
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
    return problem;
  }
}
