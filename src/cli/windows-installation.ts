import { win32 } from 'node:path';
import { Command } from 'commander';
import { windowsInstallSteps, windowsUninstallSteps, type WindowsInstallRequest, type WindowsMachine } from '../install/windows-install.js';
import { carryOut } from './carrying-out.js';
import { withDryRun, type InstallationOptions } from './installation.js';
import type { Io } from './io.js';
import { configDespiteErrors, configFromOptions } from './options.js';

export interface WindowsInstallationDeps {
  readonly io: Io;
  readonly machine: WindowsMachine;
  /** What a service would run: this program. */
  readonly program: Pick<WindowsInstallRequest, 'program' | 'loads'>;
}

/** `evictd install` on Windows: a service that the system starts. */
export function windowsInstallCommand(open: () => Promise<WindowsInstallationDeps>): Command {
  return withDryRun(new Command('install').description('make evictd a service of Windows, with a configuration to fill in'))
    .option('--now', 'start it, too; where its command line has changed, start it again')
    .option('--config <file>', 'the configuration of the service (default: %ProgramData%\\evictd\\config.yaml, made where it is missing)')
    .addHelpText(
      'after',
      `
Examples:
  evictd install --dry-run       what would be written and run
  evictd install --now           and guard from now on, and after each boot
  evictd install --output json   the steps, for a program

May be repeated. A configuration is never overwritten; one that is there before the service has to be named (--config). Needs an administrator; Node and evictd have to lie below Program Files.
Exit: 0 installed, 1 it cannot be, 64 usage, 78 configuration.`,
    )
    .action(
      async ({
        now = false,
        config,
        dryRun = false,
        output,
      }: InstallationOptions & { readonly now?: boolean; readonly config?: string }) => {
        const { io, machine, program } = await open();
        const { workloads } = configFromOptions(config === undefined ? {} : { config }).config;
        const configFile = config === undefined ? machine.places.configFile : win32.resolve(config);
        const steps = windowsInstallSteps({ ...program, configFile, configNamed: config !== undefined, now, dryRun }, machine);
        const next = [
          'next:',
          ...(workloads.length === 0
            ? [`  name your workloads in ${configFile}: until then evictd watches, exports and evicts nobody`]
            : []),
          `  evictd config check --config ${configFile}`,
          now ? '  evictd reload' : '  net start evictd',
          `  type ${machine.places.logFile}`,
        ];
        await carryOut(
          io,
          steps,
          { systemctl: machine.run },
          { dryRun, output, next: dryRun ? [] : next, nothing: 'nothing is installed' },
        );
      },
    );
}

/** `evictd uninstall` on Windows. */
export function windowsUninstallCommand(setExitCode: (code: number) => void, open: () => Promise<WindowsInstallationDeps>): Command {
  return withDryRun(new Command('uninstall').description('stop the service and remove it; configuration, log and journal stay'))
    .addHelpText('after', '\nExit: 0 nothing of it is left, 1 it cannot be removed, 64 usage.')
    .action(async ({ dryRun = false, output }: InstallationOptions) => {
      const { io, machine } = await open();
      const { stateDirectory } = configDespiteErrors({}).config;
      const steps = windowsUninstallSteps({ stateDirectory, dryRun }, machine);
      setExitCode(await carryOut(io, steps, { systemctl: machine.run }, { dryRun, output, nothing: 'nothing is installed' }));
    });
}
