import { join } from 'node:path';
import { FoundFile } from '../actions/oom-score-adj/found-file.js';
import { OomScoreAdj } from '../actions/oom-score-adj/adjuster.js';
import type { Config } from '../config/config.js';
import { selectHost, type LinuxNode } from '../host/select.js';
import type { Log } from '../log.js';
import type { WorkloadSource } from '../monitor/ports.js';
import { OomScoreAdjuster } from '../monitor/safety-net.js';
import { native } from '../native/index.js';

export function foundFilePath(runtimeDirectory: string, instance: string): string {
  return join(runtimeDirectory, `${instance}.oom-score-adj.json`);
}

export interface SafetyNetParts {
  readonly node: LinuxNode;
  readonly workloads: WorkloadSource;
  /** Of the instance lock, which is held. */
  readonly instance: string;
  readonly log: Log;
}

/**
 * The safety net of a running evictd, whether or not it is switched on: what an evictd before this one has left is given back in any case. undefined:
 * this machine has no memory controller, so there are no workloads.
 */
export function openSafetyNet(config: Config, { node, workloads, instance, log }: SafetyNetParts): OomScoreAdjuster | undefined {
  const { hierarchy } = node;
  const host = selectHost();
  const { oomKiller } = host;
  if (hierarchy === undefined || oomKiller === undefined) return undefined;
  const file = new FoundFile(foundFilePath(config.runtimeDirectory, instance), host.readBootId());
  const adjuster = new OomScoreAdj(native, hierarchy, file, log);
  const totalBytes = lastKnown(() => oomKiller.domainOf(node.identity.cgroup ?? '/', { proc: '/proc', hierarchy }).totalBytes);
  const net = new OomScoreAdjuster(config.oomScoreAdj, { workloads, adjuster, totalBytes, log });
  adjuster.takeOver();
  net.restore();
  return net;
}

/** Out of descriptors, say: it has hardly changed since the last tick. 0 where it was never known. */
export function lastKnown(read: () => bigint): () => bigint {
  let known = 0n;
  return () => {
    try {
      known = read();
    } catch {
      // the value before stands
    }
    return known;
  };
}
