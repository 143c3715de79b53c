import type { ContainerStats, FilesystemUsage, Workload, WorkloadStats, WorkloadUsage } from '../core/workload/workload.js';
import { documentOf, integerOf, isAbsent, items, member, textOf, type Field } from './document.js';

interface PodStats {
  readonly uid: string;
  /** namespace/name */
  readonly path: string;
  readonly stats: WorkloadStats;
}

/**
 * The statistics of each pod from the summary (/stats/summary as JSON). Of duplicate uids the last counts; a pod
 * without uid is found by namespace/name. So is a static pod: the API shows its mirror, which has another uid.
 *
 * Counts are unsigned 64-bit numbers that the kubelet reads as signed: those from 2^63 on are negative.
 *
 * @throws DocumentError  for negative, broken or wider counts, and for lists that are none
 */
export function usagesIn(summary: unknown): (pods: readonly Workload[]) => WorkloadUsage[] {
  const all = podStatsOf(summary);
  const byUid = new Map(all.map(({ uid, path, stats }) => [uid || path, stats]));
  const byPath = new Map(all.map(({ path, stats }) => [path, stats]));
  return (pods) =>
    pods.map((workload) => {
      const stats = byUid.get(workload.id) ?? (workload.protection?.kind === 'static' ? byPath.get(workload.path) : undefined);
      return { workload, stats };
    });
}

function podStatsOf(summary: unknown): PodStats[] {
  return items(member(documentOf(summary), 'pods')).map((pod) => {
    const podRef = member(pod, 'podRef');
    const path = `${textOf(member(podRef, 'namespace')) || 'default'}/${textOf(member(podRef, 'name'))}`;
    return { uid: textOf(member(podRef, 'uid')), path, stats: statsOf(pod) };
  });
}

function statsOf(pod: Field): WorkloadStats {
  const memory = member(pod, 'memory');
  const workingSetBytes = countOf(member(memory, 'workingSetBytes'));
  return {
    workingSetBytes,
    ...(workingSetBytes === undefined && !isAbsent(memory) ? { memoryWithoutWorkingSet: true } : {}),
    usageBytes: countOf(member(memory, 'usageBytes')),
    processes: countOf(member(member(pod, 'process_stats'), 'process_count')),
    ephemeralStorageBytes: countOf(member(member(pod, 'ephemeral-storage'), 'usedBytes')),
    containers: items(member(pod, 'containers')).map(containerStatsOf),
    volumes: items(member(pod, 'volume')).map((volume) => ({ name: textOf(member(volume, 'name')), ...usageOf(volume) })),
  };
}

function containerStatsOf(container: Field): ContainerStats {
  return {
    name: textOf(member(container, 'name')),
    workingSetBytes: countOf(member(member(container, 'memory'), 'workingSetBytes')),
    rootfs: filesystemOf(member(container, 'rootfs')),
    logs: filesystemOf(member(container, 'logs')),
  };
}

function filesystemOf(filesystem: Field): FilesystemUsage | undefined {
  return isAbsent(filesystem) ? undefined : usageOf(filesystem);
}

function usageOf(filesystem: Field): FilesystemUsage {
  return { usedBytes: countOf(member(filesystem, 'usedBytes')), inodesUsed: countOf(member(filesystem, 'inodesUsed')) };
}

function countOf(field: Field): bigint | undefined {
  const count = integerOf(field, 'uint64');
  return count === undefined ? undefined : BigInt.asIntN(64, count);
}
