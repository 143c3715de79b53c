import { readFileSync } from 'node:fs';
import { isHindered, replaceFileSync } from '../directory.js';
import { errnoName } from '../errors.js';

/** What came of a reload. */
export interface ReloadAnswer {
  readonly pid: number;
  /** When the configuration began to be read, monotonic clock: what was written to its files before that is in it. */
  readonly beganNs: bigint;
  /** undefined: it is in force. Else what is wrong with it, a line each; the one before stays. */
  readonly refused: readonly string[] | undefined;
  /** What was warned of in the log, a line each: what needs a restart, and what is new. */
  readonly warnings: readonly string[];
}

/** An evictd of before may not have told of warnings. */
interface Written {
  readonly pid: number;
  readonly beganNs: string;
  readonly refused?: readonly string[];
  readonly warnings?: readonly string[];
}

/** Beside the lock of an instance. */
export function reloadAnswerPath(runtimeDirectory: string, instance: string): string {
  return `${runtimeDirectory}/${instance}.reload.json`;
}

/** For whoever waits for a reload: `evictd reload`. A signal has no answer of its own. */
export function writeReloadAnswer(path: string, { beganNs, ...rest }: ReloadAnswer): void {
  replaceFileSync(path, `${JSON.stringify({ beganNs: String(beganNs), ...rest })}\n`, 0o600);
}

/** The answer to the last reload; undefined: there was none. */
export function readReloadAnswer(path: string): ReloadAnswer | undefined {
  try {
    const { pid, beganNs, refused, warnings = [] } = JSON.parse(readFileSync(path, 'utf8')) as Written;
    return { pid, beganNs: BigInt(beganNs), refused, warnings };
  } catch (error) {
    if (errnoName(error) === 'ENOENT' || isHindered(error)) return undefined;
    throw error;
  }
}
