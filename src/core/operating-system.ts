import { SIGNAL_FACTS, type Signal } from './signal.js';

/** What evictd runs on: chosen once, and then a value. */
export type OperatingSystem = 'linux' | 'windows';

/** Where a configuration holds, as far as its defaults and what it may say depend on it. */
export type Platform =
  | { readonly os: 'linux' }
  /** `programData`: the directory of the machine's own data, 'C:\\ProgramData'. */
  | { readonly os: 'windows'; readonly programData: string };

/** Why an operating system has no such signal; undefined: it has it. */
export function signalAbsence(signal: Signal, os: OperatingSystem): string | undefined {
  return os === 'windows' ? SIGNAL_FACTS[signal].absentOnWindows : undefined;
}
