import type { Decision } from '../../src/core/decide/eviction.js';
import { departuresOf } from '../../src/core/decide/departures.js';
import { rank } from '../../src/core/rank/rank.js';
import { isPressure, SIGNAL_FACTS, type ResourceSignal } from '../../src/core/signal/signal.js';
import type { Workload, WorkloadStats } from '../../src/core/workload/workload.js';
import { Mi, observations, stats, threshold, workload } from '../core/support.js';

interface Usage {
  readonly workload: Workload;
  readonly stats: WorkloadStats | undefined;
}

/** The eviction of the workload at this place, by a hard threshold of the signal, of which 50Mi are available. */
function decisionFor(signal: ResourceSignal, usages: readonly Usage[], place: number): Decision {
  const ranking = rank(signal, 'single', usages, departuresOf('evictd'), { countsSwap: isPressure(signal) });
  const victim = ranking[place - 1];
  const observation = observations(0n, { [signal]: 50n * Mi }).observed.get(signal);
  if (observation === undefined || victim === undefined) throw new Error('no observation');
  return {
    serial: 1,
    resource: SIGNAL_FACTS[signal].resource,
    cause: { kind: 'threshold', threshold: threshold(signal, '100Mi'), observation, limit: 100n * Mi },
    victim,
    graceNs: 0n,
    ranking,
    unreadable: [],
    decidedAtNs: 0n,
    dryRun: false,
  };
}

/** The eviction of `batch`, the only workload. `used` undefined: it is not known. */
export function decisionOf(signal: ResourceSignal, of: Partial<Workload>, used: Partial<WorkloadStats> | undefined): Decision {
  return decisionFor(signal, [{ workload: workload('batch', of), stats: used && stats(used) }], 1);
}

/** The eviction, by a hard threshold of memory, of the workload at this place among so many. */
export function decisionAmong(candidates: number, { place = 1, path = '/' } = {}): Decision {
  const usages = Array.from({ length: candidates }, (_, index) => {
    const name = `w${String(index)}.service`;
    const of = workload(name, { path: `${path}${name}`, unit: { name, manager: 'system' } });
    return { workload: of, stats: stats({ workingSetBytes: BigInt(candidates - index) * Mi, usageBytes: BigInt(candidates) * Mi }) };
  });
  return decisionFor('memory.available', usages, place);
}
