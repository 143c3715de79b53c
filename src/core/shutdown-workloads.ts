import { exemptFromShutdown } from './shutdown-exempt.js';
import type { Candidates, Protection, Workload } from './workload.js';

/** Whom a shutdown ends, and whom it leaves to whoever takes the machine down, each in the order of their paths. */
export interface ShutdownWorkloads {
  readonly ended: readonly Workload[];
  readonly leftAlone: readonly { readonly workload: Workload; readonly why: Protection }[];
}

/** Where nobody lives there is nothing to end. */
export function workloadsAtShutdown({ usages, veto }: Pick<Candidates, 'usages' | 'veto'>): ShutdownWorkloads {
  const looked = usages
    .map(({ workload }) => ({ workload, found: veto?.(workload) }))
    .filter(({ found }) => found?.kind !== 'vacant' && found?.kind !== 'gone')
    .map(({ workload, found }) => ({ workload, why: exemptFromShutdown(workload, found) }))
    .sort((a, b) => (a.workload.path < b.workload.path ? -1 : 1));
  return {
    ended: looked.flatMap(({ workload, why }) => (why === undefined ? [workload] : [])),
    leftAlone: looked.flatMap(({ workload, why }) => (why === undefined ? [] : [{ workload, why }])),
  };
}

/** One of `ended` as whoever ends workloads takes it: what keeps it from being evicted does not keep it from this. */
export function unprotected(workload: Workload): Workload {
  return { ...workload, protection: undefined };
}
