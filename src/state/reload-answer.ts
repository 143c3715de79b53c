import { readFileSync } from 'node:fs';
import { isHindered, replaceFileSync } from '../storage/directory.js';
import { errnoName } from '../errors.js';

export interface ReloadAnswer {
  readonly pid: number;
  /**
   * When the configuration began to be read, monotonic clock: it has every change that was made to its files before.
   */
  readonly beganNs: bigint;
  /** undefined: it is in force. Otherwise its errors, a line each; the former configuration stays. */
  readonly refused: readonly string[] | undefined;
  /** Warnings, a line each: what needs a restart, and what is new. */
  readonly warnings: readonly string[];
}

/** An older evictd has written no warnings. */
interface Written {
  readonly pid: number;
  readonly beganNs: string;
  readonly refused?: readonly string[];
  readonly warnings?: readonly string[];
}

export function reloadAnswerPath(runtimeDirectory: string, instance: string): string {
  return `${runtimeDirectory}/${instance}.reload.json`;
}

/** For `evictd reload`, which waits for it: a signal has no answer. */
export function writeReloadAnswer(path: string, { beganNs, ...rest }: ReloadAnswer): void {
  replaceFileSync(path, `${JSON.stringify({ beganNs: String(beganNs), ...rest })}\n`, 0o600);
}

/** The result of the last reload; undefined: there was none. */
export function readReloadAnswer(path: string): ReloadAnswer | undefined {
  try {
    const { pid, beganNs, refused, warnings = [] } = JSON.parse(readFileSync(path, 'utf8')) as Written;
    return { pid, beganNs: BigInt(beganNs), refused, warnings };
  } catch (error) {
    if (errnoName(error) === 'ENOENT' || isHindered(error)) return undefined;
    throw error;
  }
}
