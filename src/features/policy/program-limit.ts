import type { ProgramEnd, ProgramRunner } from '../../monitor/ports/ports.js';

/** As many as of hooks. Each may use 256 MiB while memory is short, and a policy may have a thousand scopes. */
const MAX_RUNNING = 8;

/** Runs at most eight programs at a time, and refuses others. */
export function limitPrograms(runner: ProgramRunner): ProgramRunner {
  let running = 0;
  return {
    run: async (command): Promise<ProgramEnd> => {
      if (running >= MAX_RUNNING) return { result: 'refused', error: `${String(MAX_RUNNING)} programs of policies are running` };
      running += 1;
      try {
        return await runner.run(command);
      } finally {
        running -= 1;
      }
    },
    problemOf: (program, withinMs) => runner.problemOf(program, withinMs),
    close: () => {
      runner.close();
    },
  };
}
