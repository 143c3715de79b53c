import { setTimeout } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.js';
import type { RequestAnswer } from '../../state/request-answer.js';
import { UnavailableError } from '../../errors.js';
import type { Io } from '../../cli/output/io.js';
import type { Request } from '../../host/requests.js';
import type { AwaitedAnswer } from './open.js';
import { REQUEST_CODES } from './request-codes.js';

/** What a command needs to send a request to the running evictd. */
export interface RequestDeps {
  readonly io: Io;
  /** @param guessed  the configuration has errors, so node and directory are the defaults and may be wrong */
  readonly ask: (config: Config, pid: number | undefined, guessed: boolean) => Promise<AwaitedAnswer>;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;
const LOOK_MS = 10;

/** @throws UnavailableError  evictd has ended, or does not answer */
export async function answered(awaited: AwaitedAnswer, request: Request, timeoutMs = TIMEOUT_MS): Promise<RequestAnswer> {
  const untilMs = performance.now() + timeoutMs;
  let answer = awaited.answer();
  while (answer === undefined && performance.now() < untilMs) {
    await setTimeout(LOOK_MS);
    answer = awaited.answer();
  }
  if (answer) return answer;
  const message = `evictd (process ${String(awaited.pid)}) did not answer within ${String(timeoutMs / 1_000)} s`;
  throw new UnavailableError(REQUEST_CODES[request].unanswered, message, {
    hint: 'it hangs or is an older version; see journalctl -u evictd',
  });
}

/** The argument of --pid. */
export function processId(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('not a process ID.');
  return Number(text);
}
