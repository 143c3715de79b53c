import type { Decision } from '../../src/core/decide/eviction.js';
import { departuresOf } from '../../src/core/decide/departures.js';
import { rank } from '../../src/core/rank/rank.js';
import { Mi, observations, stats, threshold, workload } from '../core/support.js';

/** The eviction, by a hard threshold of memory, of the workload at this place among so many. */
export function decisionAmong(candidates: number, { place = 1, path = '/' } = {}): Decision {
  const usages = Array.from({ length: candidates }, (_, index) => {
    const name = `w${String(index)}.service`;
    const of = workload(name, { path: `${path}${name}`, unit: { name, manager: 'system' } });
    return { workload: of, stats: stats({ workingSetBytes: BigInt(candidates - index) * Mi, usageBytes: BigInt(candidates) * Mi }) };
  });
  const ranking = rank('memory.available', 'single', usages, departuresOf('evictd'));
  const victim = ranking[place - 1];
  const observation = observations(0n, { 'memory.available': 50n * Mi }).observed.get('memory.available');
  if (observation === undefined || victim === undefined) throw new Error('no observation');
  return {
    serial: 1,
    resource: 'memory',
    cause: { kind: 'threshold', threshold: threshold('memory.available', '100Mi'), observation, limit: 100n * Mi },
    victim,
    graceNs: 0n,
    ranking,
    unreadable: [],
    decidedAtNs: 0n,
    dryRun: false,
  };
}
