import { rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Config } from '../../config/config.js';
import { normalCgroupPath } from '../../core/workload/cgroup.js';
import { EvictdError, UnavailableError } from '../../errors.js';
import { selectHost } from '../../host/select.js';
import { readReloadAnswer, reloadAnswerPath, type ReloadAnswer } from '../../state/reload-answer.js';
import { native } from '../../native/index.js';

/** A reload that was requested. */
export interface RequestedReload {
  readonly pid: number;
  /** undefined: there is none yet. Throws if evictd has ended. */
  answer(): ReloadAnswer | undefined;
}

/**
 * Makes the evictd that guards the configured node reload its configuration. If there is none, the one that watches the
 * node in a dry run.
 *
 * @param only  only this process
 * @param guessed  node and directory are unknown: any lock of an evictd that `only` holds counts
 * @throws UnavailableError  there is no such evictd
 */
export function askToReload(
  { node, runtimeDirectory }: Pick<Config, 'node' | 'runtimeDirectory'>,
  only: number | undefined,
  guessed: boolean,
): RequestedReload {
  const host = selectHost();
  const cgroup = node.cgroup === undefined ? undefined : normalCgroupPath(node.cgroup);
  const locks = [
    ...[false, true].map((dryRun) => `${runtimeDirectory}/${host.instanceName({ cgroup }, dryRun)}.lock`),
    ...(guessed && only !== undefined ? host.locksHeldBy(only) : []),
  ];
  const { lock, pid, path } = allowed('evictd', () => {
    const lock = locks.find((path) => {
      const holder = host.lockHolder(path);
      return holder !== undefined && (only === undefined || holder === only);
    });
    const pid = lock === undefined ? undefined : host.lockHolder(lock);
    if (lock === undefined || pid === undefined) throw noInstance(cgroup ?? 'machine', runtimeDirectory, only);
    const path = reloadAnswerPath(dirname(lock), basename(lock, '.lock'));
    rmSync(path, { force: true }); // another `evictd reload` that waits for it takes the next answer
    return { lock, pid, path };
  });
  const sinceNs = process.hrtime.bigint();
  allowed(`evictd (process ${String(pid)})`, () => {
    host.askToReload(native, { pid, lock, isCurrent: () => host.lockHolder(lock) === pid });
  });
  return {
    pid,
    answer: () => {
      const answer = readReloadAnswer(path);
      if (answer?.pid === pid && answer.beganNs > sinceNs) return answer;
      if (host.lockHolder(lock) !== pid)
        throw new UnavailableError('EVICTD_RELOAD_UNANSWERED', `evictd (process ${String(pid)}) ended before it answered`, {
          hint: 'see journalctl -u evictd for the reason, and start it again',
        });
      return undefined;
    },
  };
}

/** Adds the hint that root is needed to an error of the system. */
function allowed<T>(target: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof EvictdError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EvictdError('EVICTD_RELOAD_SIGNAL', `cannot signal ${target}: ${reason}`, { hint: selectHost().elevation.other, cause });
  }
}

function noInstance(node: string, runtimeDirectory: string, only: number | undefined): UnavailableError {
  const subject = only === undefined ? 'no evictd' : `process ${String(only)} is no evictd that`;
  return new UnavailableError('EVICTD_RELOAD_NO_INSTANCE', `${subject} guards this node (${node}) from ${runtimeDirectory}`, {
    hint: 'start evictd; if it runs with another node or runtimeDirectory, restart it: a reload cannot change them',
  });
}
