import { spawnSync } from 'node:child_process';

export interface CommandResult {
  /** undefined: not started, or ended by a signal. */
  readonly status: number | undefined;
  /** Standard output and standard error. */
  readonly output: string;
}

/** Runs a program without a shell. For installation only: the monitor starts no processes. */
export type RunProgram = (command: readonly string[]) => CommandResult;

export type Systemctl = RunProgram;

export const runProgram: RunProgram = ([program = '', ...args]) => {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (error) return { status: undefined, output: error.message };
  return { status: status ?? undefined, output: `${stdout}${stderr}`.trim() };
};
