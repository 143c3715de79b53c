import { Command } from 'commander';
import { configuredPlatform } from '../compose/configured-platform.js';
import type { LoadedConfig } from '../config/config.js';
import manifest from '../../package.json' with { type: 'json' };
import { admitCommand } from './admit.js';
import { checkCommand, filesystemsRead } from './check.js';
import { configCommand } from './config.js';
import { doctorCommand } from './doctor.js';
import { UsageError } from '../errors.js';
import type { MachineFacts } from '../lint/machine.js';
import { demoCommand } from './demo.js';
import { formatError } from './errors.js';
import { historyCommand } from './history.js';
import type { Io } from './io.js';
import { installCommand, restoreCommand, uninstallCommand, type InstallationDeps } from './installation.js';
import { rankCommand } from './rank.js';
import type { Reading } from './reading.js';
import { reclaimCommand } from './reclaim.js';
import { reloadCommand } from './reload.js';
import { replayCommand } from './replay.js';
import { runCommand } from './run.js';
import { shutdownCommand } from './shutdown.js';
import { windowsInstallCommand, windowsUninstallCommand, type WindowsInstallationDeps } from './windows-installation.js';

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

/** `evictd help COMMAND`. commander's own says nothing about a command that does not exist. */
function helpCommand(parent: Command): Command {
  return new Command('help')
    .argument('[command...]', 'the command to explain')
    .description('explain a command')
    .action((names: readonly string[]) => {
      const named = names.reduce<Command | undefined>((above, name) => above?.commands.find((child) => child.name() === name), parent);
      if (named === undefined) parent.error(`error: unknown command '${names.join(' ')}'`);
      named.help();
    });
}

/** `evictd nope --help` is wrong as `evictd nope` is: commander itself would help with `evictd` instead. */
function refuseUnknown(parent: Command): string {
  const [name] = parent.args;
  const isUnknown = name !== undefined && !name.startsWith('-') && !parent.commands.some((child) => child.name() === name);
  if (isUnknown) parent.parse([name], { from: 'user' });
  return '';
}

/** What commander says about a wrong command line, `error: …` and maybe a line with what was meant, as every other error. */
function usageError(message: string, command: Command): UsageError {
  const path: string[] = [];
  for (let each: Command | null = command; each; each = each.parent) path.unshift(each.name());
  const said = message
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ');
  return new UsageError('EVICTD_USAGE', said, { hint: `${path.join(' ')} --help` });
}

/** The command line. Everything that touches the host is imported when a command needs it, so that `check` starts fast. */
export function program(edge: ProgramEdge): Command {
  const { io } = edge;
  const setExitCode = (code: number): void => {
    edge.setExitCode(code);
  };
  const open = async (loaded: LoadedConfig): Promise<Reading> => (await import('../compose/reading.js')).openReading(loaded, 'probe');
  const openTold = async (loaded: LoadedConfig): Promise<Reading> => (await import('../compose/told-reading.js')).openToldReading(loaded);
  const openPlanned = async (loaded: LoadedConfig): Promise<Reading> =>
    (await import('../compose/shutdown-reading.js')).openShutdownReading(loaded);
  const openPlaced = async (loaded: LoadedConfig): Promise<Reading> =>
    (await import('../compose/told-reading.js')).openPlacedReading(loaded);
  const machine = async (loaded: LoadedConfig): Promise<MachineFacts> =>
    (await import('../compose/machine-facts.js')).readMachineFacts(loaded, filesystemsRead);
  const installation = async (): Promise<InstallationDeps> => ({ io, ...(await import('../compose/installation.js')).thisInstallation() });
  const windowsInstallation = async (): Promise<WindowsInstallationDeps> => ({
    io,
    ...(await import('../compose/windows-installation.js')).thisWindowsInstallation(),
  });
  const isWindows = configuredPlatform().os === 'windows';
  const command = new Command('evictd')
    .description('Watches node pressure, evicts the least important workload, and says why')
    .version(manifest.version, '-V, --version')
    .addCommand(runCommand(edge))
    .addCommand(checkCommand({ io, setExitCode, open, openPlaced }))
    .addCommand(
      rankCommand({
        io,
        open: openTold,
        readOomKiller: async (cgroup) => (await import('../compose/oom-killer.js')).readOomKiller(cgroup),
      }),
    )
    .addCommand(
      shutdownCommand({ io, open: openPlanned, readInhibitDelay: async () => (await import('../compose/shutdown.js')).readInhibitDelay() }),
    )
    .addCommand(admitCommand({ io, setExitCode }))
    .addCommand(
      doctorCommand({
        io,
        setExitCode,
        examine: async (loaded) => (await import('../compose/doctor/examination.js')).examineMachine(loaded, filesystemsRead),
      }),
    )
    .addCommand(configCommand({ io, setExitCode, machine }))
    .addCommand(historyCommand({ io }))
    .addCommand(
      reclaimCommand({
        io,
        setExitCode,
        gains: async (config) => (await import('../compose/reclaim.js')).readGains(config),
        names: async (config) => (await import('../compose/reclaim.js')).reclaimNames(config),
        reclaim: async (...args) => (await import('../compose/reclaim.js')).reclaimNow(...args),
      }),
    )
    .addCommand(reloadCommand({ io, ask: async (...args) => (await import('../compose/reload.js')).askToReload(...args) }))
    .addCommand(isWindows ? windowsInstallCommand(windowsInstallation) : installCommand(installation))
    .addCommand(isWindows ? windowsUninstallCommand(setExitCode, windowsInstallation) : uninstallCommand(setExitCode, installation))
    .addCommand(restoreCommand(setExitCode, installation))
    .addCommand(replayCommand({ io }))
    .addCommand(demoCommand({ io, setExitCode }));
  for (const parent of [command, ...command.commands.filter(({ commands }) => commands.length > 0)]) {
    parent
      .helpCommand(false)
      .addCommand(helpCommand(parent))
      .addHelpText('before', () => refuseUnknown(parent));
  }
  for (const each of [command, ...command.commands.flatMap((child) => [child, ...child.commands])]) {
    each.exitOverride().configureOutput({
      outputError: (message, write) => {
        write(formatError(usageError(message, each)));
      },
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
