import type { Command } from 'commander';
import type { Io } from './io.js';

/** What a command needs of the process. */
export interface CommandEdge {
  readonly io: Io;
  /** Whether standard error, where logs go, is a terminal. */
  readonly logsToTerminal: boolean;
  readonly setExitCode: (code: number) => void;
  /** Calls back when the process shall stop (SIGTERM, SIGINT). */
  readonly onStop: (stop: () => void) => void;
  /** Calls back when the process shall reload its configuration (SIGHUP). */
  readonly onReload: (reload: () => void) => void;
  /** Calls back when the process shall evict again after a pause (SIGUSR2). */
  readonly onResume: (resume: () => void) => void;
}

/** Defines a command: name, options, help and what it runs. */
export type MakeCommand = (edge: CommandEdge) => Command;

/** Commands by name. The module of a command is loaded when the command is used. */
export type CommandList = Readonly<Record<string, () => Promise<MakeCommand>>>;
