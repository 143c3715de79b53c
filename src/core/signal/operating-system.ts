import { SIGNAL_FACTS, type Signal } from './signal.js';

export type OperatingSystem = 'linux' | 'windows';

/** The platform of a configuration, for its defaults and its checks. */
export type Platform =
  | { readonly os: 'linux' }
  /** The machine's data directory, 'C:\\ProgramData'. */
  | { readonly os: 'windows'; readonly programData: string };

/** Why an operating system has no such signal; undefined: it has it. */
export function signalAbsence(signal: Signal, os: OperatingSystem): string | undefined {
  return os === 'windows' ? SIGNAL_FACTS[signal].absentOnWindows : undefined;
}
