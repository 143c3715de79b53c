import { spawnSync } from 'node:child_process';

export interface CommandResult {
  /** undefined: it could not be started, or a signal ended it. */
  readonly status: number | undefined;
  /** What it said, to standard output or error. */
  readonly output: string;
}

/** Runs a program, by its name and its arguments, without a shell. Only for an installation: nothing that guards starts a process. */
export type RunProgram = (command: readonly string[]) => CommandResult;

/** A command of systemd. */
export type Systemctl = RunProgram;

export const runProgram: RunProgram = ([program = '', ...args]) => {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (error) return { status: undefined, output: error.message };
  return { status: status ?? undefined, output: `${stdout}${stderr}`.trim() };
};
