import { Option, type Command } from 'commander';
import { configuredPlatform } from '../../node/configured-platform.js';
import type { LoadedConfig } from '../../config/config.js';
import { configFlags, type ConfigFlags } from '../../config/merge/flags.js';
import { defaultFile } from '../../config/merge/defaults.js';
import { loadConfig, loadWritten } from '../../config/load.js';
import { ConfigError } from '../../errors.js';
import { lastGoodConfiguration } from '../../node/last-good-configuration.js';
import { formatIssue } from './error-text.js';
import { SHARED_GROUPS } from './help.js';
import type { Io } from './io.js';

/** The parsed options of {@link addConfigOptions}. */
export interface ConfigOptions extends ConfigFlags {
  readonly config?: string;
  /** The kubelet's directory of drop-ins. */
  readonly configDir?: string;
}

/** Adds `--config` and the flags that override the configuration file. */
export function addConfigOptions(command: Command): Command {
  return command
    .optionsGroup(SHARED_GROUPS.configuration)
    .option(
      '--config <file>',
      `configuration file; NAME.d/*.yaml beside it is read too (default: ${defaultFile(configuredPlatform())}, if it exists)`,
    )
    .option('--config-dir <directory>', "a kubelet's drop-ins, *.conf, merged over the file as the kubelet does")
    .option('--compatibility <profile>', "evictd (default), or kubelet: make exactly the kubelet's decisions")
    .option('--node-cgroup <path>', 'cgroup that is the node (default: the machine)')
    .option('--workload-cgroup <path>', 'cgroup whose children are workloads; repeatable', append)
    .option('--workload-slice <name>', 'systemd slice whose services and scopes are workloads; repeatable', append)
    .option('--workload-unit <pattern>', 'systemd service or scope that is a workload; repeatable', append)
    .addOption(ofWindows('--workload-job <name>', 'job object that is a workload; repeatable'))
    .addOption(ofWindows('--workload-service <pattern>', 'service that is a workload; repeatable'))
    .addOption(ofWindows('--workload-process <pattern>', 'program that is a workload with all its children; repeatable'))
    .option('--oom-score-adj <mode>', 'how evictd sets oom_score_adj of the workloads: off, qos or rank')
    .option('--monitoring-interval <duration>', 'time between two samples while no event arrives')
    .option('--metrics-listen <address:port>', "address of the metrics server, or 'off'")
    .option('--state-directory <path>', 'directory of the journal')
    .option('--runtime-directory <path>', 'directory of the lock and of recent journal records (a tmpfs)')
    .option('--log-format <format>', 'auto, text, systemd or json')
    .option('--log-level <level>', 'debug, info, warn or error')
    .optionsGroup(SHARED_GROUPS.kubelet)
    .option('--eviction-hard <thresholds>', "hard thresholds, e.g. 'memory.available<100Mi,nodefs.available<10%'", append)
    .option('--eviction-soft <thresholds>', "soft thresholds, e.g. 'memory.available<300Mi'", append)
    .option('--eviction-soft-grace-period <periods>', "how long a soft threshold must be met, e.g. 'memory.available=30s'", append)
    .option('--eviction-minimum-reclaim <amounts>', "min reclaim beyond a threshold, e.g. 'memory.available=200Mi'", append)
    .option('--eviction-max-pod-grace-period <seconds>', 'longest termination grace period of a soft eviction')
    .option('--eviction-pressure-transition-period <duration>', 'how long a node condition outlasts the pressure')
    .optionsGroup('Options:');
}

/** An option that only Windows shows: elsewhere its value is refused with the reason. */
function ofWindows(flags: string, description: string): Option {
  return new Option(flags, description).argParser(append).hideHelp(configuredPlatform().os !== 'windows');
}

/**
 * Loads the configuration from file and flags.
 *
 * @throws ConfigError  with every issue
 */
export function configFromOptions({ config, configDir, ...flags }: ConfigOptions): LoadedConfig {
  return loadConfig({ platform: configuredPlatform(), file: config, directory: configDir, flags });
}

/**
 * Loads the configuration; if the files have errors, returns these and what the running evictd has in force, else the
 * defaults; flags win in both.
 *
 * @throws ConfigError  the flags themselves are wrong
 */
export function configDespiteErrors(options: ConfigOptions): UsableConfig & { readonly isInForce?: boolean } {
  try {
    return { loaded: configFromOptions(options) };
  } catch (errors) {
    if (!(errors instanceof ConfigError)) throw errors;
    const { config: _file, configDir: _directory, ...flags } = options;
    const defaults = loadWritten({ files: [], flags: {}, platform: configuredPlatform() }, configFlags(flags));
    const kept = lastGoodConfiguration(defaults.config.runtimeDirectory);
    return { loaded: kept ? loadWritten(kept, configFlags(flags)) : defaults, errors, isInForce: kept !== undefined };
  }
}

/** A file that is not there is a wrong word of the operator, not a broken configuration. */
const NO_FILE: ReadonlySet<string> = new Set(['EVICTD_CONFIG_FILE_MISSING', 'EVICTD_CONFIG_FILE_TYPE']);

/** A configuration for a command that needs no more than one. `errors`: it is not the one of the files, which have these. */
export interface UsableConfig {
  readonly loaded: LoadedConfig;
  readonly errors?: ConfigError;
}

/**
 * Loads the configuration for a command that only looks, or that asks the running evictd. If the files have errors,
 * that is a warning, and the command goes on as `configDespiteErrors` says.
 *
 * @throws ConfigError  the flags are wrong, or there is no such file
 */
export function configForLooking(options: ConfigOptions, io: Pick<Io, 'stderr'>): UsableConfig {
  const { isInForce = false, ...usable } = configDespiteErrors(options);
  const { errors } = usable;
  if (errors === undefined) return usable;
  if (errors.issues.some(({ code }) => NO_FILE.has(code))) throw errors;
  const [first] = errors.issues;
  const which = isInForce ? 'the configuration that evictd has in force' : 'the defaults';
  io.stderr(
    `evictd: warning: the configuration has ${counted(errors)}, so this command uses ${which}: ${first ? formatIssue(first) : ''}\n`,
  );
  return usable;
}

/** '1 error', '3 errors'. */
export function counted({ issues }: ConfigError): string {
  return issues.length === 1 ? '1 error' : `${String(issues.length)} errors`;
}

function append(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}
