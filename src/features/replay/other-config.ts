import type { LoadedConfig } from '../../config/config.js';
import type { ConfigFlags } from '../../config/merge/flags.js';
import { loadWritten } from '../../config/load.js';
import { InputError } from '../../errors.js';
import type { RecordedConfig } from '../../recording/recording-format.js';

/** Makes the other configuration from the recorded one. May throw ConfigError and InputError. */
export type OtherConfig = (recorded: RecordedConfig) => LoadedConfig;

/** Flags that change no decision, by commander's names. */
const IRRELEVANT: readonly string[] = [
  'oomScoreAdj',
  'metricsListen',
  'stateDirectory',
  'runtimeDirectory',
  'logFormat',
  'logLevel',
] satisfies (keyof ConfigFlags)[];

export function changesDecisions(flag: string): boolean {
  return !IRRELEVANT.includes(flag);
}

/** 'logLevel' → '--log-level'. */
export function flagText(flag: string): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The recorded configuration, overridden by flags. */
export function recordedWith(flags: ConfigFlags): OtherConfig {
  return ({ written }) => {
    if (written === undefined) {
      const hint = 'add --config with the complete configuration';
      throw new InputError('EVICTD_RECORDING_CONFIG', 'the recording of an older evictd has no configuration that flags can override', {
        isMissing: false,
        hint,
      });
    }
    return loadWritten(written, flags);
  };
}
