import { readFileSync } from 'node:fs';
import { isSharingViolation, replaceFileSync } from '../storage/directory.js';
import { errnoName } from '../errors.js';

export interface RequestAnswer {
  readonly pid: number;
  /**
   * When the request was begun, monotonic clock: a configuration has every change that was made to its files before.
   */
  readonly beganNs: bigint;
  /** undefined: the configuration is in force. Otherwise its errors, a line each; the former configuration stays. */
  readonly refused: readonly string[] | undefined;
  /** Warnings, a line each: what needs a restart, and what is new. */
  readonly warnings: readonly string[];
  /** What was done. */
  readonly message?: string;
}

/** An older evictd has written no warnings. */
interface Written {
  readonly pid: number;
  readonly beganNs: string;
  readonly refused?: readonly string[];
  readonly warnings?: readonly string[];
  readonly message?: string;
}

/** @param request  'reload', 'resume' */
export function answerPath(runtimeDirectory: string, instance: string, request: string): string {
  return `${runtimeDirectory}/${instance}.${request}.json`;
}

/** For the command that waits for it: a signal has no answer. */
export function writeAnswer(path: string, { beganNs, ...rest }: RequestAnswer): void {
  replaceFileSync(path, `${JSON.stringify({ beganNs: String(beganNs), ...rest })}\n`, 0o600);
}

/** The answer to the last request; undefined: there was none. */
export function readAnswer(path: string): RequestAnswer | undefined {
  try {
    const { pid, beganNs, refused, warnings = [], message } = JSON.parse(readFileSync(path, 'utf8')) as Written;
    return { pid, beganNs: BigInt(beganNs), refused, warnings, ...(message !== undefined && { message }) };
  } catch (error) {
    if (errnoName(error) === 'ENOENT' || isSharingViolation(error)) return undefined;
    throw error;
  }
}
