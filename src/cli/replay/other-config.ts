import type { LoadedConfig } from '../../config/config.js';
import type { ConfigFlags } from '../../config/flags.js';
import { loadWritten } from '../../config/load.js';
import { InputError } from '../../errors.js';
import type { RecordedConfig } from '../../monitor/recording/format.js';

/** The other configuration, beside a recorded one. It may throw ConfigError and InputError. */
export type OtherConfig = (recorded: RecordedConfig) => LoadedConfig;

/** Flags that no decision depends on: by commander's names. */
const NOT_DECIDING: readonly string[] = [
  'oomScoreAdj',
  'metricsListen',
  'stateDirectory',
  'runtimeDirectory',
  'logFormat',
  'logLevel',
] satisfies (keyof ConfigFlags)[];

export function isDeciding(flag: string): boolean {
  return !NOT_DECIDING.includes(flag);
}

/** As it is written on the command line. */
export function flagText(flag: string): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The recorded configuration, with flags that win over what it was recorded with. */
export function recordedWith(flags: ConfigFlags): OtherConfig {
  return ({ written }) => {
    if (written === undefined) {
      const hint = 'name the configuration that they belong to with --config';
      throw new InputError(
        'EVICTD_RECORDING_CONFIG',
        'the recording is of an older evictd: it does not hold what flags could be added to',
        {
          isMissing: false,
          hint,
        },
      );
    }
    return loadWritten(written, flags);
  };
}
