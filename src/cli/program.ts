import { Command } from 'commander';
import type { LoadedConfig } from '../config/config.js';
import manifest from '../../package.json' with { type: 'json' };
import { checkCommand } from './check.js';
import { configCommand } from './config.js';
import { demoCommand } from './demo.js';
import type { Io } from './io.js';
import { rankCommand } from './rank.js';
import type { Reading } from './reading.js';
import { runCommand } from './run.js';

/** What the commands need from the process edge. */
export interface ProgramEdge {
  readonly io: Io;
  /** Whether standard error, where logs go, is a terminal. */
  readonly logsToTerminal: boolean;
  setExitCode(code: number): void;
  /** Calls back when the process is asked to stop (SIGTERM, SIGINT) or to read its configuration again (SIGHUP). */
  onStop(stop: () => void): void;
  onReload(reload: () => void): void;
}

/** The command line. Everything that touches the host is imported when a command needs it, so that `check` starts fast. */
export function program(edge: ProgramEdge): Command {
  const { io } = edge;
  const setExitCode = (code: number): void => {
    edge.setExitCode(code);
  };
  const open = async (loaded: LoadedConfig): Promise<Reading> => (await import('../compose/reading.js')).openReading(loaded, 'probe');
  const command = new Command('evictd')
    .description('Watches node pressure, evicts the least important workload, and says why')
    .version(manifest.version, '-V, --version')
    .showHelpAfterError('(evictd --help shows all commands)')
    .addCommand(runCommand(edge))
    .addCommand(checkCommand({ io, setExitCode, open }))
    .addCommand(rankCommand({ io, open }))
    .addCommand(configCommand({ io }))
    .addCommand(demoCommand({ io, setExitCode }));
  for (const each of [command, ...command.commands.flatMap((child) => [child, ...child.commands])]) {
    each.exitOverride().configureOutput({
      writeOut: (text) => {
        io.stdout(text);
      },
      writeErr: (text) => {
        io.stderr(text);
      },
    });
  }
  return command;
}
