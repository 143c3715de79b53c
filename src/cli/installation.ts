import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { Config } from '../config/config.js';
import { inhibitDelaySetting, suffices, type InhibitDelay } from '../core/inhibit-delay.js';
import { shutdownRequestedNs } from '../core/shutdown-config.js';
import { installedConfigFile } from '../install/installed.js';
import { installSteps, type InstallRequest } from '../install/install.js';
import type { Machine } from '../install/machine.js';
import { restoreSteps } from '../install/restore.js';
import { uninstallSteps } from '../install/uninstall.js';
import { carryOut } from './carrying-out.js';
import { formatError } from './errors.js';
import type { Io } from './io.js';
import { configDespiteErrors, configFromOptions, type ConfigOptions } from './options.js';
import { installNextSteps } from './output/installation.js';

export interface InstallationDeps {
  readonly io: Io;
  readonly machine: Machine;
  readonly readInhibitDelay: () => Promise<InhibitDelay>;
  /** What a service would run: this program. */
  readonly program: Pick<InstallRequest, 'program' | 'loads' | 'root' | 'documentation'>;
  /** Where a thread hangs, the process ends here. */
  readonly end: (exitCode: number) => void;
}

export interface InstallationOptions {
  readonly dryRun?: boolean;
  readonly output: 'text' | 'json';
}

/** `evictd install`: a service of systemd. */
export function installCommand(open: () => Promise<InstallationDeps>): Command {
  return withDryRun(new Command('install').description('make evictd a service of systemd: unit, slice, a configuration to fill in'))
    .option('--now', 'start it, too; where its unit has changed, start it again')
    .option(
      '--config <file>',
      'the configuration of the service (default: that of the installed one, else /etc/evictd/config.yaml, made where it is missing)',
    )
    .option('--logind-drop-in', 'let logind make a shutdown wait for as long as the configuration asks for (shutdownGracePeriod)')
    .addHelpText(
      'after',
      `
Examples:
  evictd install --dry-run       what would be written and run
  evictd install --now           and guard from now on, and after each boot
  evictd install --output json   the steps, for a program

May be repeated: what is there already stays. A configuration is never overwritten. Needs root and systemd.
Exit: 0 installed, 1 it cannot be, 64 usage, 78 configuration.`,
    )
    .action(
      async ({
        now = false,
        config: configFile,
        logindDropIn = false,
        dryRun = false,
        output,
      }: InstallationOptions & { readonly now?: boolean; readonly config?: string; readonly logindDropIn?: boolean }) => {
        const { io, machine, program, readInhibitDelay } = await open();
        const kept = configFile === undefined ? installedConfigFile(machine.places) : undefined;
        const named = configFile ?? kept;
        const { config } = configFromOptions(named === undefined ? {} : { config: named });
        const requestedNs = shutdownRequestedNs(config.shutdown);
        const delay = requestedNs > 0n ? await readInhibitDelay() : undefined;
        const logind = {
          wanted: logindDropIn,
          setting: requestedNs > 0n ? inhibitDelaySetting(requestedNs) : undefined,
          suffices: delay && suffices(delay, requestedNs),
        };
        const request = {
          ...program,
          configFile: resolve(named ?? machine.places.configFile),
          configKept: kept !== undefined,
          stateDirectory: config.stateDirectory,
          runtimeDirectory: config.runtimeDirectory,
          logind,
          now,
          dryRun,
        };
        const evictsNobody = config.workloads.length === 0;
        const steps = installSteps(request, machine);
        const dropIn = steps.find((step) => 'path' in step && step.path === machine.places.logindDropIn);
        const short = logind.suffices === false && dropIn?.action !== 'write' ? { hasDropIn: dropIn !== undefined } : undefined;
        const next = installNextSteps({ configFile: request.configFile, now, dryRun, evictsNobody, short });
        await carryOut(io, steps, machine, { dryRun, output, next, nothing: 'nothing is installed' });
      },
    );
}

/** `evictd uninstall`. */
export function uninstallCommand(setExitCode: (code: number) => void, open: () => Promise<InstallationDeps>): Command {
  return withDryRun(new Command('uninstall').description('stop the service and remove it; configuration and journal stay'))
    .addHelpText(
      'after',
      `
Examples:
  evictd uninstall --dry-run
  evictd uninstall

Removes what \`evictd install\` has made, and /run/evictd; as \`evictd restore\` it first gives back what an evictd that was killed has left there.
Exit: 0 nothing of it is left, 1 it cannot be removed, or something is still owed, which is named and stays, 64 usage.`,
    )
    .action(async ({ dryRun = false, output }: InstallationOptions) => {
      const { io, machine, end } = await open();
      const configFile = installedConfigFile(machine.places);
      const directories = directoriesOf(io, configFile === undefined ? {} : { config: configFile });
      const request = { dryRun, configFile: configFile ?? machine.places.configFile, directories };
      const code = await carryOut(io, uninstallSteps(request, machine), machine, { dryRun, output, nothing: 'nothing is installed' });
      setExitCode(code);
      end(code);
    });
}

/** `evictd restore`. */
export function restoreCommand(setExitCode: (code: number) => void, open: () => Promise<InstallationDeps>): Command {
  return withOutput(new Command('restore').description('give back what an evictd that was killed has changed, where none is started again'))
    .option('--config <file>', "the configuration, for its directories (default: the service's)")
    .option('--state-directory <path>', 'where the journal is kept')
    .option('--runtime-directory <path>', 'where evictd has left it')
    .option('--forget <unit...>', 'do not start these units, which were kept stopped: evictd owes them no more')
    .addHelpText(
      'after',
      `
Examples:
  evictd restore
  evictd restore --forget batch.service   another one runs that conflicts with it, and is the one that is wanted

oom_score_adj, units that are kept stopped, records that the journal has not. An evictd that stops in order does so itself, and so does one that is started: this is for
when none is to be. Needs root.
Exit: 0 nothing is owed, 1 something is, which is named, or an evictd runs, 64 usage.`,
    )
    .action(
      async ({
        output,
        forget = [],
        ...options
      }: InstallationOptions & { readonly forget?: readonly string[] } & Pick<
          ConfigOptions,
          'config' | 'stateDirectory' | 'runtimeDirectory'
        >) => {
        const { io, machine, end } = await open();
        const configFile = options.config ?? installedConfigFile(machine.places);
        const directories = directoriesOf(io, { ...options, ...(configFile !== undefined && { config: configFile }) });
        const { runtimeDirectory } = directories;
        const places = new Set(
          options.runtimeDirectory === undefined ? [machine.places.runtimeDirectory, runtimeDirectory] : [runtimeDirectory],
        );
        const steps = restoreSteps(directories, places, new Set(forget), machine);
        const code = await carryOut(io, steps, machine, { dryRun: false, output, nothing: 'nothing is owed' });
        setExitCode(code);
        end(code);
      },
    );
}

/** What is owed is owed under a configuration with errors, too: then the default directories count. */
function directoriesOf(io: Io, options: ConfigOptions): Config {
  const { config, errors } = configDespiteErrors(options);
  if (errors) io.stderr(`${formatError(errors)}evictd: for these errors the default directories are looked at\n`);
  return config;
}

export function withDryRun(command: Command): Command {
  return withOutput(command.option('--dry-run', 'say what it would do, and touch nothing'));
}

function withOutput(command: Command): Command {
  return command.addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'));
}
