import { win32 } from 'node:path';
import { Command } from 'commander';
import {
  windowsInstallSteps,
  windowsUninstallSteps,
  type WindowsInstallRequest,
  type WindowsMachine,
} from '../features/install/windows/windows-install-steps.js';
import { runSteps } from '../features/install/install-step.js';
import { withDryRun, type InstallationOptions } from './install.js';
import type { MakeCommand } from './output/command.js';
import { USAGE_AND_CONFIG, withHelp } from './output/help.js';
import type { Io } from './output/io.js';
import { configDespiteErrors, configFromOptions } from './output/options.js';

export interface WindowsInstallationDeps {
  readonly io: Io;
  readonly machine: WindowsMachine;
  /** The program that the service runs: this one. */
  readonly program: Pick<WindowsInstallRequest, 'program' | 'loads'>;
}

function windowsInstallCommand(open: () => Promise<WindowsInstallationDeps>): Command {
  return withHelp(
    withDryRun(new Command('install').description('install evictd as a Windows service'))
      .option('--now', 'also start it, or restart it if its command line changed')
      .option('--config <file>', 'configuration of the service (default: %ProgramData%\\evictd\\config.yaml, which is created)'),
    {
      about: [
        'Keeps what is already installed and never overwrites a configuration; an existing one must be named with --config. Needs an administrator. Node and evictd must be below Program Files.',
      ],
      examples: ['evictd install --dry-run', 'evictd install --now'],
      exit: { 0: 'installed', 1: 'not installed', ...USAGE_AND_CONFIG },
    },
  ).action(
    async ({ now = false, config, dryRun = false, output }: InstallationOptions & { readonly now?: boolean; readonly config?: string }) => {
      const { io, machine, program } = await open();
      const { workloads } = configFromOptions(config === undefined ? {} : { config }).config;
      const configFile = config === undefined ? machine.places.configFile : win32.resolve(config);
      const steps = windowsInstallSteps({ ...program, configFile, configNamed: config !== undefined, now, dryRun }, machine);
      const next = [
        'next:',
        ...(workloads.length === 0 ? [`  configure workloads in ${configFile}; until then evictd evicts nothing`] : []),
        `  evictd config check --config ${configFile}`,
        now ? '  evictd reload' : '  net start evictd',
        `  type ${machine.places.logFile}`,
      ];
      await runSteps(io, steps, { systemctl: machine.run }, { dryRun, output, next: dryRun ? [] : next, nothing: 'nothing is installed' });
    },
  );
}

function windowsUninstallCommand(setExitCode: (code: number) => void, open: () => Promise<WindowsInstallationDeps>): Command {
  return withHelp(withDryRun(new Command('uninstall').description('remove the service; keep configuration, log and journal')), {
    examples: ['evictd uninstall --dry-run', 'evictd uninstall'],
    exit: { 0: 'removed', 1: 'not removed', 64: 'usage error' },
  }).action(async ({ dryRun = false, output }: InstallationOptions) => {
    const { io, machine } = await open();
    const { stateDirectory } = configDespiteErrors({}).loaded.config;
    const steps = windowsUninstallSteps({ stateDirectory, dryRun }, machine);
    setExitCode(await runSteps(io, steps, { systemctl: machine.run }, { dryRun, output, nothing: 'nothing is installed' }));
  });
}

const thisInstallation = (io: Io) => async (): Promise<WindowsInstallationDeps> => ({
  io,
  ...(await import('../compose/installation.js')).thisWindowsInstallation(),
});

export const install: MakeCommand = ({ io }) => windowsInstallCommand(thisInstallation(io));
export const uninstall: MakeCommand = ({ io, setExitCode }) => windowsUninstallCommand(setExitCode, thisInstallation(io));
