import { rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Config } from '../config/config.js';
import { normalCgroupPath } from '../core/cgroup.js';
import { EvictdError, UnavailableError } from '../errors.js';
import { selectHost } from '../host/select.js';
import { readReloadAnswer, reloadAnswerPath, type ReloadAnswer } from '../monitor/reload-answer.js';
import { native } from '../native/index.js';

/** A reload that was asked for. */
export interface AskedReload {
  readonly pid: number;
  /** undefined: there is none yet. Throws where evictd has ended meanwhile. */
  answer(): ReloadAnswer | undefined;
}

/**
 * Tells the evictd that guards the configured node to read its configuration again; where none does, the one that watches it in a dry run.
 *
 * @param only  that process, and no other
 * @param guessed  node and directory are not known: `only` is told whatever evictd's lock it holds
 * @throws UnavailableError  there is none
 */
export function askToReload(
  { node, runtimeDirectory }: Pick<Config, 'node' | 'runtimeDirectory'>,
  only: number | undefined,
  guessed: boolean,
): AskedReload {
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
    if (lock === undefined || pid === undefined) throw nobody(cgroup ?? 'machine', runtimeDirectory, only);
    const path = reloadAnswerPath(dirname(lock), basename(lock, '.lock'));
    rmSync(path, { force: true }); // whoever waits for that one is content with the next, too
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
        throw new UnavailableError('EVICTD_RELOAD_UNANSWERED', `evictd (process ${String(pid)}) has ended meanwhile`);
      return undefined;
    },
  };
}

/** What root may do; whoever may not learns that it takes root. */
function allowed<T>(who: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof EvictdError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EvictdError('EVICTD_RELOAD_SIGNAL', `${who} cannot be told: ${reason}`, { hint: selectHost().elevation.other, cause });
  }
}

function nobody(node: string, runtimeDirectory: string, only: number | undefined): UnavailableError {
  const who = only === undefined ? 'no evictd' : `process ${String(only)} is no evictd that`;
  return new UnavailableError('EVICTD_RELOAD_NOBODY', `${who} guards this node (${node}) from ${runtimeDirectory}`, {
    hint: 'where the new configuration has another node or runtimeDirectory, restart evictd: a reload cannot take them over',
  });
}
