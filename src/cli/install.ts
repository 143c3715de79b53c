import { resolve } from 'node:path';
import { Command } from 'commander';
import { parse } from 'yaml';
import type { Config, LoadedConfig } from '../config/config.js';
import { loadWritten } from '../config/load.js';
import { inhibitDelaySetting, laterDropIn, suffices, type InhibitDelay } from '../core/systemd/inhibit-delay.js';
import { shutdownRequestedNs } from '../core/workload/shutdown-config.js';
import { configurationEffect, presentHere, type PresentWorkloadsOf } from '../features/install/profile/configuration-effect.js';
import { detectedProfile } from '../features/install/profile/detected-profile.js';
import { profileOption, schemaFile } from '../features/install/profile/init-command.js';
import { profileText, type Profile } from '../features/install/profile/profiles.js';
import { installedConfig, STARTER_CONFIG } from '../features/install/systemd/starter-config.js';
import { installSteps, type InstallRequest } from '../features/install/systemd/install-steps.js';
import type { Machine } from '../features/install/install-machine.js';
import { restoreSteps, restraintSteps } from '../features/install/restore.js';
import { uninstallSteps } from '../features/install/systemd/uninstall-steps.js';
import { runSteps, installNextSteps, type InstallStep } from '../features/install/install-step.js';
import { formatError } from './output/error-text.js';
import type { MakeCommand } from './output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from './output/help.js';
import type { Io } from './output/io.js';
import { configDespiteErrors, configFromOptions, type ConfigOptions } from './output/options.js';

export interface InstallationDeps {
  readonly io: Io;
  readonly machine: Machine;
  readonly readInhibitDelay: () => Promise<InhibitDelay>;
  readonly workloads: PresentWorkloadsOf;
  /** The program that the service runs: this one. */
  readonly program: Pick<InstallRequest, 'program' | 'loads' | 'root' | 'documentation'>;
  /** Ends the process, if a thread hangs. */
  readonly end: (exitCode: number) => void;
}

export interface InstallationOptions {
  readonly dryRun?: boolean;
  readonly output: 'text' | 'json';
}

interface InstallOptions extends InstallationOptions, Pick<ConfigOptions, 'config' | 'configDir'> {
  readonly now?: boolean;
  readonly logindDropIn?: boolean;
  readonly profile?: Profile;
}

export function installCommand(open: () => Promise<InstallationDeps>): Command {
  return withHelp(
    withDryRun(new Command('install').description('install evictd as a systemd service'))
      .option('--now', 'also start it, or restart it if its unit changed')
      .option(
        '--config <file>',
        'configuration of the service (default: the installed one, else /etc/evictd/config.yaml, which is created)',
      )
      .addOption(profileOption('nothing is evicted until the file names workloads'))
      .option('--config-dir <directory>', "a kubelet's drop-ins, *.conf, that the service merges over the file")
      .option('--logind-drop-in', 'raise InhibitDelayMaxSec of logind to the shutdownGracePeriod'),
    {
      about: ['Keeps what is already installed and never overwrites a configuration. Needs root and systemd.'],
      examples: ['evictd install --dry-run', 'evictd install --now', 'evictd install --profile server'],
      exit: { 0: 'installed', 1: 'not installed', ...USAGE_AND_CONFIG },
    },
  ).action(
    async ({
      now = false,
      config: configFile,
      configDir: directory,
      logindDropIn = false,
      profile,
      dryRun = false,
      output,
    }: InstallOptions) => {
      const { io, machine, program, readInhibitDelay, workloads } = await open();
      const kept = configFile === undefined ? installedConfig(machine.places) : undefined;
      const named = configFile ?? kept?.config;
      const configDir = directory ?? kept?.configDir;
      const loaded = configFromOptions({
        ...(named !== undefined && { config: named }),
        ...(configDir !== undefined && { configDir }),
      });
      const { config } = loaded;
      const logind = await logindRequest(config, logindDropIn, readInhibitDelay);
      const request = {
        ...program,
        configFile: resolve(named ?? machine.places.configFile),
        configDirectory: configDir === undefined ? undefined : resolve(configDir),
        configKept: kept?.config !== undefined,
        starter: starterText(profile),
        metrics: config.metrics,
        stateDirectory: config.stateDirectory,
        runtimeDirectory: config.runtimeDirectory,
        logind,
        now,
        dryRun,
      };
      const hasNoWorkloads = config.workloads.length === 0 && profile === undefined;
      const steps = installSteps(request, machine);
      const dropIn = steps.find((step) => 'path' in step && step.path === machine.places.logindDropIn);
      const short = shortDelay(logind, dropIn);
      if (profile !== undefined && output === 'text')
        io.stdout(`${await configurationEffect(() => withNew(loaded, request, steps), workloads)}\n`);
      const next = installNextSteps({ configFile: request.configFile, now, dryRun, hasNoWorkloads, short });
      await runSteps(io, steps, machine, { dryRun, output, next, nothing: 'nothing is installed' });
    },
  );
}

/** See {@link installNextSteps}. */
function shortDelay({ suffices, winner }: InstallRequest['logind'], dropIn: InstallStep | undefined) {
  if (suffices !== false || (dropIn?.action === 'write' && winner === undefined)) return undefined;
  return { hasDropIn: dropIn !== undefined, winner };
}

async function logindRequest(
  { shutdown }: Config,
  wanted: boolean,
  readInhibitDelay: InstallationDeps['readInhibitDelay'],
): Promise<InstallRequest['logind']> {
  const requestedNs = shutdownRequestedNs(shutdown);
  if (requestedNs <= 0n) return { wanted, setting: undefined, suffices: undefined };
  const delay = await readInhibitDelay();
  const winner = delay.kind === 'known' ? laterDropIn(delay.setIn) : undefined;
  return { wanted, setting: inhibitDelaySetting(requestedNs), suffices: suffices(delay, requestedNs), winner };
}

/** The configuration of a new installation. Without a profile it names no workloads, so that evictd evicts nothing. */
function starterText(profile: Profile | undefined): string {
  if (profile === undefined) return STARTER_CONFIG;
  return profileText(profile, { schema: schemaFile(), endpoint: detectedProfile().endpoint });
}

/** The configuration with the file that the steps write, if they do; its drop-ins may be there already. */
function withNew(loaded: LoadedConfig, { configFile, starter }: InstallRequest, steps: readonly InstallStep[]): LoadedConfig {
  if (!steps.some((step) => step.action === 'write' && step.path === configFile)) return loaded;
  const { written } = loaded;
  return loadWritten({ ...written, files: [{ file: configFile, settings: parse(starter) }, ...written.files] }, {});
}

function uninstallCommand(setExitCode: (code: number) => void, open: () => Promise<InstallationDeps>): Command {
  return withHelp(withDryRun(new Command('uninstall').description('remove the service; keep configuration and journal')), {
    about: ['Removes what evictd install created, and /run/evictd, after undoing what a killed evictd left (see evictd restore).'],
    examples: ['evictd uninstall --dry-run', 'evictd uninstall'],
    exit: { 0: 'removed', 1: 'something could not be removed or undone; it is listed and kept', 64: 'usage error' },
  }).action(async ({ dryRun = false, output }: InstallationOptions) => {
    const { io, machine, end } = await open();
    const { config } = installedConfig(machine.places);
    const directories = directoriesOf(io, config === undefined ? {} : { config });
    const request = { dryRun, configFile: config ?? machine.places.configFile, directories };
    const code = await runSteps(io, uninstallSteps(request, machine), machine, { dryRun, output, nothing: 'nothing is installed' });
    setExitCode(code);
    end(code);
  });
}

function restoreCommand(setExitCode: (code: number) => void, open: () => Promise<InstallationDeps>): Command {
  return withHelp(
    withOutput(new Command('restore').description('undo what a killed evictd left changed'))
      .option('--config <file>', "configuration with the directories (default: the service's)")
      .option('--state-directory <path>', 'directory of the journal')
      .option('--runtime-directory <path>', 'directory with the saved state')
      .option('--forget <unit...>', 'do not start these stopped units, and forget them')
      .option('--restraints', 'only what policies have throttled or frozen'),
    {
      about: [
        'Restores oom_score_adj, starts units that evictd kept stopped, and writes missing journal records. evictd does this itself when it stops, and when it starts after it was killed. Needs root.',
      ],
      examples: ['evictd restore', 'evictd restore --forget batch.service   leave that unit stopped'],
      exit: { 0: 'nothing is left to undo', 1: 'something is left, which is listed, or an evictd is running', 64: 'usage error' },
    },
  ).action(
    async ({
      output,
      forget = [],
      restraints = false,
      ...options
    }: InstallationOptions & { readonly forget?: readonly string[]; readonly restraints?: boolean } & Pick<
        ConfigOptions,
        'config' | 'stateDirectory' | 'runtimeDirectory'
      >) => {
      const { io, machine, end } = await open();
      const config = options.config ?? installedConfig(machine.places).config;
      const directories = directoriesOf(io, { ...options, ...(config !== undefined && { config }) });
      const { runtimeDirectory } = directories;
      const places = new Set(
        options.runtimeDirectory === undefined ? [machine.places.runtimeDirectory, runtimeDirectory] : [runtimeDirectory],
      );
      const steps = restraints ? restraintSteps(directories, machine) : restoreSteps(directories, places, new Set(forget), machine);
      const code = await runSteps(io, steps, machine, { dryRun: false, output, nothing: 'nothing is left to undo' });
      setExitCode(code);
      end(code);
    },
  );
}

/** Uses the directories of the running evictd, else the default ones, if the configuration has errors. */
function directoriesOf(io: Io, options: ConfigOptions): Config {
  const { loaded, errors, isInForce = false } = configDespiteErrors(options);
  const which = isInForce ? 'directories that evictd last used' : 'default directories';
  if (errors) io.stderr(`${formatError(errors)}evictd: using the ${which} because of these errors\n`);
  return loaded.config;
}

export function withDryRun(command: Command): Command {
  return withOutput(command.option('--dry-run', 'show the steps, but change nothing'));
}

function withOutput(command: Command): Command {
  return command.addOption(outputOption());
}

const thisInstallation = (io: Io) => async (): Promise<InstallationDeps> => ({
  io,
  workloads: presentHere,
  ...(await import('../compose/installation.js')).thisInstallation(),
});

/** `evictd install` on Linux. */
export const install: MakeCommand = ({ io }) => installCommand(thisInstallation(io));
/** `evictd uninstall` on Linux. */
export const uninstall: MakeCommand = ({ io, setExitCode }) => uninstallCommand(setExitCode, thisInstallation(io));
export const restore: MakeCommand = ({ io, setExitCode }) => restoreCommand(setExitCode, thisInstallation(io));
