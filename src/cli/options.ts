import type { Command } from 'commander';
import { configuredPlatform } from '../compose/configured-platform.js';
import type { Config, LoadedConfig } from '../config/config.js';
import type { ConfigFlags } from '../config/flags.js';
import { defaultFile } from '../config/defaults.js';
import { loadConfig, loadWritten } from '../config/load.js';
import { ConfigError } from '../errors.js';

/** What {@link addConfigOptions} leaves in a command's options. */
export interface ConfigOptions extends ConfigFlags {
  /** The configuration file. */
  readonly config?: string;
}

/** The configuration file and the flags that win over it, the same for every command that reads a configuration. */
export function addConfigOptions(command: Command): Command {
  return command
    .optionsGroup('Configuration:')
    .option(
      '--config <file>',
      `configuration file, and NAME.d/*.yaml beside it (default: ${defaultFile(configuredPlatform())}, if it is there)`,
    )
    .option('--compatibility <profile>', 'decide as evictd (default), or bit for bit as the kubelet')
    .option('--node-cgroup <path>', 'the cgroup that is the node (default: the machine)')
    .option('--workload-cgroup <path>', 'a cgroup whose children are the workloads; may be repeated', append)
    .option('--workload-slice <name>', 'a slice of systemd; every service and scope below is a workload; may be repeated', append)
    .option('--workload-unit <name>', 'a service or scope that is a workload, or a pattern; may be repeated', append)
    .option('--workload-job <name>', 'Windows: a job object that is a workload; may be repeated', append)
    .option('--workload-service <name>', 'Windows: a service that is a workload, or a pattern; may be repeated', append)
    .option(
      '--workload-process <path>',
      'Windows: a program that is a workload with all that it starts, or a pattern; may be repeated',
      append,
    )
    .option('--oom-score-adj <mode>', "mark workloads for the kernel's OOM killer: off, qos or rank")
    .option('--monitoring-interval <duration>', 'how often to look where no event says so')
    .option('--metrics-listen <address:port>', "where metrics are served, or 'off'")
    .option('--state-directory <path>', 'where the journal is kept')
    .option('--runtime-directory <path>', 'where the lock and the records of the moment are (a tmpfs)')
    .option('--log-format <format>', 'auto, text, systemd or json')
    .option('--log-level <level>', 'debug, info, warn or error')
    .optionsGroup("Configuration, the kubelet's flags:")
    .option('--eviction-hard <thresholds>', "like 'memory.available<100Mi,nodefs.available<10%'", append)
    .option('--eviction-soft <thresholds>', "like 'memory.available<300Mi'", append)
    .option('--eviction-soft-grace-period <periods>', "how long a soft threshold must hold, like 'memory.available=30s'", append)
    .option('--eviction-minimum-reclaim <amounts>', "what must come back beyond a threshold, like 'memory.available=200Mi'", append)
    .option('--eviction-max-pod-grace-period <seconds>', 'the most that a soft eviction lets a workload take to end')
    .option('--eviction-pressure-transition-period <duration>', 'how long a node condition stays after the pressure is gone')
    .optionsGroup('Options:');
}

/**
 * Reads the configuration that the options of a command name.
 *
 * @throws ConfigError  with everything that is wrong
 */
export function configFromOptions({ config, ...flags }: ConfigOptions): LoadedConfig {
  return loadConfig({ platform: configuredPlatform(), file: config, flags });
}

/**
 * The same for a command that wants to know little of it: with errors in the files, the defaults and the flags, and these errors.
 *
 * @throws ConfigError  the flags themselves are wrong
 */
export function configDespiteErrors({ config: file, ...flags }: ConfigOptions): { readonly config: Config; readonly errors?: ConfigError } {
  const platform = configuredPlatform();
  try {
    return { config: loadConfig({ platform, file, flags }).config };
  } catch (errors) {
    if (!(errors instanceof ConfigError)) throw errors;
    return { config: loadWritten({ files: [], flags: {}, platform }, flags).config, errors };
  }
}

function append(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}
