import type { Layout } from '../signal/layout.js';
import type { Quantity } from '../quantity/quantity.js';
import type { PodParts, WorkloadStats, WorkloadUsage } from '../workload/workload.js';
import { NANO } from '../quantity/integer.js';

/** The exceeded limit of local storage (kubelet: localStorageEviction, v1.36.2). */
export type StorageBreach =
  | { readonly kind: 'emptyDir'; readonly volume: string; readonly limit: Quantity }
  /** The sum of its containers' limits, overhead included. */
  | { readonly kind: 'pod'; readonly limit: Quantity }
  | { readonly kind: 'container'; readonly container: string; readonly limit: Quantity };

export interface OverLimit {
  readonly usage: WorkloadUsage;
  /** The first found. */
  readonly breach: StorageBreach;
}

const RESOURCE = 'ephemeral-storage';

/**
 * All workloads over a limit, protected ones included, in the given order. Without statistics a workload exceeds
 * nothing.
 */
export function localStorageEviction(usages: readonly WorkloadUsage[], layout: Layout): OverLimit[] {
  const over: OverLimit[] = [];
  for (const usage of usages) {
    const { stats } = usage;
    const { pod } = usage.workload;
    if (pod === undefined || stats === undefined) continue;
    const breach =
      emptyDirLimitEviction(pod, stats) ??
      podEphemeralStorageLimitEviction(pod, stats) ??
      containerEphemeralStorageLimitEviction(pod, stats, layout);
    if (breach) over.push({ usage, breach });
  }
  return over;
}

/** The first volume of the spec over its limit, in memory or on a disk. A limit of zero or below is none. */
function emptyDirLimitEviction({ volumes }: PodParts, stats: WorkloadStats): StorageBreach | undefined {
  for (const { name, kind, sizeLimit } of volumes) {
    if (kind !== 'emptyDir' || sizeLimit === undefined || sizeLimit.nano <= 0n) continue;
    // Of volumes with the same name the last counts.
    const used = stats.volumes.findLast((volume) => volume.name === name)?.usedBytes;
    if (used !== undefined && exceeds(used, sizeLimit)) return { kind: 'emptyDir', volume: name, limit: sizeLimit };
  }
  return undefined;
}

/** A limit of zero counts: anything exceeds it. */
function podEphemeralStorageLimitEviction({ limits }: PodParts, stats: WorkloadStats): StorageBreach | undefined {
  const limit = limits.get(RESOURCE);
  if (limit === undefined || !exceeds(stats.ephemeralStorageBytes ?? 0n, limit)) return undefined;
  return { kind: 'pod', limit };
}

/** The first container of the statistics. Regular containers only; a limit of zero is none. */
function containerEphemeralStorageLimitEviction({ containers }: PodParts, stats: WorkloadStats, layout: Layout): StorageBreach | undefined {
  for (const { name, logs, rootfs } of stats.containers) {
    const limit = containers
      .findLast(
        (container) => container.kind === 'regular' && container.name === name && (container.limits.get(RESOURCE)?.nano ?? 0n) !== 0n,
      )
      ?.limits.get(RESOURCE);
    if (limit === undefined) continue;
    // With other layouts writable layers are not on the node filesystem.
    const written = layout === 'single' ? (rootfs?.usedBytes ?? 0n) : 0n;
    if (exceeds((logs?.usedBytes ?? 0n) + written, limit)) return { kind: 'container', container: name, limit };
  }
  return undefined;
}

/** Equal to the limit is allowed. */
function exceeds(bytes: bigint, limit: Quantity): boolean {
  return bytes * NANO > limit.nano;
}
