import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { checkedJson } from '../storage/checked-json.js';
import { writtenInteger, writtenPid } from '../storage/written-number.js';
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

function written() {
  const lines = z.array(z.string());
  return z.object({
    ...{ pid: writtenPid(), beganNs: writtenInteger(), refused: z.optional(lines) },
    ...{ warnings: z.optional(lines), message: z.optional(z.string()) }, // an older evictd has written no warnings
  });
}

/** @param request  'reload', 'resume' */
export function answerPath(runtimeDirectory: string, instance: string, request: string): string {
  return `${runtimeDirectory}/${instance}.${request}.json`;
}

/** For the command that waits for it: a signal has no answer. */
export function writeAnswer(path: string, { beganNs, ...rest }: RequestAnswer): void {
  replaceFileSync(path, `${JSON.stringify({ beganNs: String(beganNs), ...rest })}\n`, 0o600);
}

/** The answer to the last request; undefined: there was none. Throws if the file is invalid. */
export function readAnswer(path: string): RequestAnswer | undefined {
  try {
    const { pid, beganNs, refused, warnings = [], message } = checkedJson(readFileSync(path, 'utf8'), written());
    return { pid, beganNs, refused, warnings, ...(message !== undefined && { message }) };
  } catch (error) {
    if (errnoName(error) === 'ENOENT' || isSharingViolation(error)) return undefined;
    throw error;
  }
}
