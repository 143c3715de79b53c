import { totalmem } from 'node:os';
import { join } from 'node:path';
import { FoundFile } from './original-values-file.js';
import { OomScoreAdj } from './process-adjuster.js';
import type { Config } from '../../config/config.js';
import { selectHost, type LinuxNode } from '../../host/select.js';
import type { Log } from '../../log/log.js';
import type { WorkloadSource } from '../../monitor/ports/ports.js';
import { OomScoreAdjuster } from './oom-score-adjuster.js';
import { native } from '../../native/index.js';

export function foundFilePath(runtimeDirectory: string, instance: string): string {
  return join(runtimeDirectory, `${instance}.oom-score-adj.json`);
}

export interface OomScoreAdjusterParts {
  readonly node: LinuxNode;
  readonly workloads: WorkloadSource;
  /** The name of the instance lock, which evictd holds. */
  readonly instance: string;
  readonly log: Log;
}

/**
 * Restores what an earlier evictd has left, whether or not the configuration sets oomScoreAdj. undefined: this machine
 * has no memory controller, and so no workloads.
 */
export function openOomScoreAdjuster(
  config: Config,
  { node, workloads, instance, log }: OomScoreAdjusterParts,
): OomScoreAdjuster | undefined {
  const { hierarchy } = node;
  const host = selectHost();
  const { oomKiller } = host;
  if (hierarchy === undefined || oomKiller === undefined) return undefined;
  const file = new FoundFile(foundFilePath(config.runtimeDirectory, instance), host.readBootId());
  const adjuster = new OomScoreAdj(native, hierarchy, file, log);
  const domain = () => oomKiller.domainOf(node.identity.cgroup ?? '/', { proc: '/proc', hierarchy });
  const totalBytes = lastKnown(() => domain().totalBytes);
  const ramBytes = lastKnown(() => (domain().cgroup === undefined ? BigInt(totalmem()) : 0n));
  const scores = new OomScoreAdjuster(config.oomScoreAdj, { workloads, adjuster, totalBytes, ramBytes, log });
  adjuster.takeOver();
  scores.restore();
  return scores;
}

/**
 * The last value if `read` fails, for example without free descriptors: it hardly changes between two ticks. 0 before
 * the first success.
 */
export function lastKnown(read: () => bigint): () => bigint {
  let known = 0n;
  return () => {
    try {
      known = read();
    } catch {
      // keeps the last value
    }
    return known;
  };
}
