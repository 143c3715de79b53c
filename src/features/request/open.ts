import { rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Config } from '../../config/config.js';
import { normalCgroupPath } from '../../core/workload/cgroup.js';
import { EvictdError, UnavailableError, messageOf } from '../../errors.js';
import { selectHost } from '../../host/select.js';
import { readAnswer, answerPath, type RequestAnswer } from '../../state/request-answer.js';
import type { Request } from '../../host/requests.js';
import { REQUEST_CODES } from './request-codes.js';
import { native } from '../../native/index.js';

/** A request that was sent. */
export interface AwaitedAnswer {
  readonly pid: number;
  /** undefined: there is none yet. Throws if evictd has ended. */
  answer(): RequestAnswer | undefined;
}

/**
 * Sends a request to the evictd that guards the configured node. If there is none, to the one that watches the
 * node in a dry run.
 *
 * @param only  only this process
 * @param guessed  node and directory are unknown: any lock of an evictd that `only` holds counts
 * @throws UnavailableError  there is no such evictd
 */
export function ask(
  request: Request,
  { node, runtimeDirectory }: Pick<Config, 'node' | 'runtimeDirectory'>,
  only: number | undefined,
  guessed: boolean,
): AwaitedAnswer {
  const codes = REQUEST_CODES[request];
  const host = selectHost();
  const cgroup = node.cgroup === undefined ? undefined : normalCgroupPath(node.cgroup);
  const locks = [
    ...[false, true].map((dryRun) => `${runtimeDirectory}/${host.instanceName({ cgroup }, dryRun)}.lock`),
    ...(guessed && only !== undefined ? host.locksHeldBy(only) : []),
  ];
  const { lock, pid, path } = allowed('evictd', codes.signal, () => {
    const lock = locks.find((path) => {
      const holder = host.lockHolder(path);
      return holder !== undefined && (only === undefined || holder === only);
    });
    const pid = lock === undefined ? undefined : host.lockHolder(lock);
    if (lock === undefined || pid === undefined) throw noInstance(request, cgroup ?? 'machine', runtimeDirectory, only);
    const path = answerPath(dirname(lock), basename(lock, '.lock'), request);
    rmSync(path, { force: true }); // another command that waits for it takes the next answer
    return { lock, pid, path };
  });
  const sinceNs = process.hrtime.bigint();
  allowed(`evictd (process ${String(pid)})`, codes.signal, () => {
    host.ask(native, request, { pid, lock, isCurrent: () => host.lockHolder(lock) === pid });
  });
  return {
    pid,
    answer: () => {
      const answer = readAnswer(path);
      if (answer?.pid === pid && answer.beganNs > sinceNs) return answer;
      if (host.lockHolder(lock) !== pid)
        throw new UnavailableError(codes.unanswered, `evictd (process ${String(pid)}) ended before it answered`, {
          hint: 'see journalctl -u evictd for the reason, and start it again',
        });
      return undefined;
    },
  };
}

/** Adds the hint that root is needed to an error of the system. */
function allowed<T>(target: string, code: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof EvictdError) throw cause;
    throw new EvictdError(code, `cannot signal ${target}: ${messageOf(cause)}`, { hint: selectHost().elevation.other, cause });
  }
}

function noInstance(request: Request, node: string, runtimeDirectory: string, only: number | undefined): UnavailableError {
  const subject = only === undefined ? 'no evictd' : `process ${String(only)} is not an evictd that`;
  const other = request === 'reload' ? 'restart it: a reload cannot change them' : 'name its file with --config';
  return new UnavailableError(REQUEST_CODES[request].noInstance, `${subject} guards this node (${node}) from ${runtimeDirectory}`, {
    hint: `start evictd; if it runs with another node or runtimeDirectory, ${other}`,
  });
}
