import type { FilesystemUsage, LocalVolume, VolumeStats, Workload, WorkloadStats } from '../workload/workload.js';

/** A part of a pod's disk usage (kubelet: fsStatsType). */
export type DiskPart = 'rootfs' | 'logs' | 'volumes';

/**
 * The sum of the known parts; undefined: there are parts, and none is known. For a machine workload only the total may
 * be known (kubelet: podDiskUsage, containerUsage).
 */
export function diskUsage(
  workload: Workload,
  stats: WorkloadStats,
  parts: readonly DiskPart[],
  resource: keyof FilesystemUsage,
): bigint | undefined {
  if (workload.pod === undefined) return resource === 'usedBytes' ? stats.ephemeralStorageBytes : undefined;
  const sum = { known: false, unknown: false, amount: 0n };
  for (const part of parts) {
    if (part === 'volumes') addVolumes(sum, workload.pod.volumes, stats.volumes, resource);
    else for (const container of stats.containers) add(sum, container[part]?.[resource]);
  }
  return sum.unknown && !sum.known ? undefined : sum.amount;
}

interface Sum {
  known: boolean;
  unknown: boolean;
  amount: bigint;
}

function add(sum: Sum, amount: bigint | undefined): void {
  if (amount === undefined) {
    sum.unknown = true;
  } else {
    sum.known = true;
    if (amount !== 0n) sum.amount += amount;
  }
}

/**
 * The first of a repeated name counts; a volume that is declared twice counts twice (kubelet: localVolumeNames,
 * podLocalVolumeUsage).
 */
function addVolumes(sum: Sum, declared: readonly LocalVolume[], measured: readonly VolumeStats[], resource: keyof FilesystemUsage): void {
  for (const { name, kind, medium } of declared) {
    if (kind !== 'emptyDir' || medium === '') add(sum, measured.find((volume) => volume.name === name)?.[resource]);
  }
}
