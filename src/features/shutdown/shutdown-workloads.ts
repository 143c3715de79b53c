import { exemptFromShutdown } from '../../core/workload/shutdown-exempt.js';
import type { Candidates, Protection, Workload } from '../../core/workload/workload.js';

/** The workloads that a shutdown ends, and those that it leaves to systemd, by path. */
export interface ShutdownWorkloads {
  readonly ended: readonly Workload[];
  readonly leftAlone: readonly { readonly workload: Workload; readonly why: Protection }[];
}

/** Empty workloads are omitted. */
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

/** A workload for the code that ends it. Protection from eviction does not apply at a shutdown. */
export function unprotected(workload: Workload): Workload {
  return { ...workload, protection: undefined };
}
