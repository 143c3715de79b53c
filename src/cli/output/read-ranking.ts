import type { LoadedConfig } from '../../config/config.js';
import { holdersOn } from '../../core/disk/held-space.js';
import { usagesFor, withDisks } from '../../core/rank/candidate-usages.js';
import { rank } from '../../core/rank/rank.js';
import { filesystemOf, isPressure, MACHINE_RESOURCES, SIGNAL_FACTS, type ResourceSignal } from '../../core/signal/signal.js';
import type { Candidates, WorkloadUsage } from '../../core/workload/workload.js';
import type { OpenReading, Reading } from '../../node/reading.js';
import type { RankReport } from './ranking.js';

/** The order of eviction for a signal, read now. */
export async function readRanking(loaded: LoadedConfig, signal: ResourceSignal, open: OpenReading): Promise<RankReport> {
  const reading = await open(loaded);
  try {
    return await rankingIn(reading, loaded, signal);
  } finally {
    reading.close();
  }
}

export async function rankingIn(reading: Reading, { config }: LoadedConfig, signal: ResourceSignal): Promise<RankReport> {
  const { node, workloads } = reading;
  const evictable = MACHINE_RESOURCES.has(SIGNAL_FACTS[signal].resource);
  const configured = config.workloads.length > 0;
  const problems = workloads.problems();
  const filesystem = filesystemOf(signal);
  const disks = filesystem && (await reading.measureDisks(filesystem));
  const holders = holdersOn(signal, disks?.holders, process.hrtime.bigint());
  const common = { signal, node: node.identity, evictable, configured, holders };
  if (!evictable || !configured) return { ...common, ranked: [], vacant: [], unreadable: [], problems };
  const candidates = disks ? withDisks(workloads.candidates(), disks.of) : workloads.candidates();
  const { inhabited, vacant } = divided({ ...candidates, usages: usagesFor(signal, candidates) });
  return {
    ...common,
    ranked: rank(signal, 'single', inhabited, config.departures, { countsSwap: isPressure(signal) }),
    vacant,
    unreadable: candidates.unreadable,
    problems: [...workloads.problems(), ...(disks?.problems ?? [])],
  };
}

/** Adds protected workloads, which `run` omits, and separates workloads without processes. */
function divided({ usages, veto, vacant: readVacant }: Candidates): Record<'inhabited' | 'vacant', readonly WorkloadUsage[]> {
  const inhabited: WorkloadUsage[] = [];
  const vacant: WorkloadUsage[] = [...(readVacant?.() ?? [])];
  for (const usage of usages) {
    const { workload } = usage;
    const found = veto?.(workload);
    if (found?.kind === 'vacant') vacant.push(usage);
    else inhabited.push({ ...usage, workload: { ...workload, protection: workload.protection ?? found } });
  }
  return { inhabited, vacant };
}
