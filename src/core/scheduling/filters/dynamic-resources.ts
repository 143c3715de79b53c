// Devices for the claims of a pod (pkg/scheduler/framework/plugins/dynamicresources, v1.36).
import { filterClaims, prepareClaims, scoreClaims, type ClaimRejection } from '../../devices/pod-claims.js';
import type { NodeState } from '../cluster/node-state.js';
import { unresolvable, type FilterPlugin, type PlacementInput, type Rejection } from './pod-filter.js';

export const DYNAMIC_RESOURCES = 'DynamicResources';

/** Preemption does not help: in its trials claims keep their devices, which they give back when their last pod is gone. */
export const dynamicResources: FilterPlugin = ({ pod, cluster }) => {
  const prepared = prepareClaims(cluster.devices.state, pod);
  if (prepared === undefined) return undefined;
  if (prepared.kind !== 'prepared') {
    const refused = rejectionOf(prepared);
    return { refused, check: () => refused };
  }
  return {
    check: ({ node }) => {
      const fit = filterClaims(prepared, node);
      return fit.kind === 'fits' ? undefined : rejectionOf(fit);
    },
  };
};

function rejectionOf({ kind, message }: ClaimRejection): Rejection {
  if (kind === 'rejected') return unresolvable(DYNAMIC_RESOURCES, message);
  return { plugin: DYNAMIC_RESOURCES, code: 'Error', reasons: [`running "${DYNAMIC_RESOURCES}" filter plugin: ${message}`] };
}

/** What PostFilter says of a pod that has no node, where no claim gives its devices back. */
export function noDeallocationMessage({ pod, cluster }: PlacementInput): string {
  return prepareClaims(cluster.devices.state, pod)?.kind === 'prepared' ? 'still not schedulable' : 'no new claims to deallocate';
}

/** The earlier the entries of prioritised lists, the better. */
export function dynamicResourcesScores({ pod, cluster }: PlacementInput, feasible: readonly NodeState[]): readonly number[] | undefined {
  const prepared = prepareClaims(cluster.devices.state, pod);
  if (prepared?.kind !== 'prepared') return undefined;
  const hasLists = prepared.claims.some(({ spec }) => spec.requests.some(({ kind }) => kind === 'firstAvailable'));
  if (!hasLists) return feasible.map(() => 0);
  const raw = feasible.map(({ node }) => {
    const fit = filterClaims(prepared, node);
    return fit.kind === 'fits' ? scoreClaims(prepared, fit) : 0;
  });
  const most = Math.max(0, ...raw);
  return raw.map((score) => (most === 0 ? 0 : Math.trunc((100 * score) / most)));
}
