import type { LoadedConfig } from '../../config/config.js';
import type { ConfigNotice } from '../../config/value/report.js';
import type { Threshold } from '../../core/threshold/threshold.js';
import type { CheckReport } from './check-report.js';

export type CheckResult = Omit<CheckReport, 'reading' | 'isNarrow' | 'clock'>;

export interface ConfigurationSources {
  /** Must exist. Left out: /etc/evictd/config.yaml, which may be absent. */
  readonly file?: string | undefined;
  /** The directory of a kubelet's drop-ins. */
  readonly directory?: string | undefined;
  /** Flags as on the command line, in camelCase. */
  readonly flags?: Readonly<Record<string, string | readonly string[]>>;
}

/** What `loadConfig` returns, as far as it is promised. */
export interface Configuration {
  readonly config: {
    readonly thresholds: readonly Threshold[];
    readonly stateDirectory: string;
    readonly runtimeDirectory: string;
  };
  /** Warnings and remarks. */
  readonly notices: readonly Pick<ConfigNotice, 'level' | 'code' | 'message' | 'hint' | 'position'>[];
}

// Loaded when they are called: a program that only uses the native layer needs neither.

/**
 * Loads evictd's configuration: the file, its drop-ins and the flags.
 *
 * @throws ConfigError  with every issue of all of them
 */
export async function loadConfig(sources: ConfigurationSources = {}): Promise<Configuration> {
  const [{ loadConfig: load }, { configuredPlatform }] = await Promise.all([
    import('../../config/load.js'),
    import('../../node/configured-platform.js'),
  ]);
  return load({ platform: configuredPlatform(), ...sources });
}

/**
 * Compares this machine, or the node cgroup of the configuration, with its thresholds once, as `evictd check` does.
 *
 * @param loaded  of `loadConfig`; left out: the configuration at its default place
 * @throws EvictdError  the configuration is wrong, or the node does not exist. What cannot be read is in the result
 */
export async function check(loaded?: Configuration): Promise<CheckResult> {
  const { checkNode, READINGS_HERE } = await import('./check-node.js');
  const {
    reading: _reading,
    isNarrow: _isNarrow,
    clock: _clock,
    ...result
  } = await checkNode((loaded ?? (await loadConfig())) as LoadedConfig, READINGS_HERE);
  return result;
}
