import { amountOfBytes } from '../quantity/amount.js';
import { protectionText } from '../rank/rank.js';
import type { Observation } from '../signal/observation.js';
import type { WorkloadUsage } from '../workload/workload.js';

/** What is swapped out. Its growth is not known: at rest no workload is read. */
export interface SwapHolders {
  /** The largest first. */
  readonly workloads: readonly SwappedWorkload[];
  /** Of units outside the workload sources, and of files in a tmpfs that no cgroup is charged for. */
  readonly otherBytes: bigint;
}

interface SwappedWorkload {
  readonly name: string;
  readonly path: string;
  /** Why it may not be evicted. Left out: it may. */
  readonly protection?: string;
  readonly swapBytes: bigint;
}

/** A workload is named if it holds at least this part of what the largest holds. */
const PART = 8n;
const MAX_NAMED = 3;

export function swapHolders(
  usages: readonly WorkloadUsage[],
  { available, capacity }: Pick<Observation, 'available' | 'capacity'>,
): SwapHolders {
  const workloads = usages
    .map(({ workload: { name, path, protection }, stats }): SwappedWorkload => {
      const why = protection === undefined ? {} : { protection: protectionText(protection) };
      return { name, path, ...why, swapBytes: stats?.swapBytes ?? 0n };
    })
    .sort((a, b) => (a.swapBytes === b.swapBytes ? (a.path < b.path ? -1 : 1) : a.swapBytes < b.swapBytes ? 1 : -1));
  const largest = workloads[0]?.swapBytes ?? 0n;
  const others = workloads.reduce((left, { swapBytes }) => left - swapBytes, capacity - available);
  return {
    workloads: workloads.filter(({ swapBytes }) => swapBytes > 0n && swapBytes * PART >= largest).slice(0, MAX_NAMED),
    otherBytes: others > 0n ? others : 0n,
  };
}

/** 'swapped out: db (never evicted: critical) 3GiB, web 600MiB; outside the workloads 1GiB'. */
export function swapText({ workloads, otherBytes }: SwapHolders): string {
  const texts = workloads.map(({ name, protection, swapBytes }) => {
    return `${name}${protection === undefined ? '' : ` (never evicted: ${protection})`} ${amountOfBytes(swapBytes)}`;
  });
  return `swapped out: ${texts.join(', ') || 'no workload'}; outside the workloads ${amountOfBytes(otherBytes)}`;
}
