import type { Decision } from '../decide/eviction.js';
import type { Resource } from '../signal/resource.js';

/** The maximum number of workloads. */
const NAMED = 5;

/** A workload that may be evicted, and how much it uses of what is short, in the unit of the resource. */
export interface Candidate {
  /** Its path. */
  readonly workload: string;
  readonly resource: Resource;
  /** undefined: not known. */
  readonly usage: bigint | undefined;
}

/** The first workloads of the ranking, in the order of eviction, without those that are protected. */
export function firstCandidates({ resource, ranking }: Pick<Decision, 'resource' | 'ranking'>): Candidate[] {
  const candidates: Candidate[] = [];
  for (const { protection, usage, workload } of ranking) {
    if (protection === undefined) candidates.push({ workload: workload.path, resource, usage });
    if (candidates.length === NAMED) break;
  }
  return candidates;
}
