import type { NamedNode } from '../scheduling/node-affinity.js';
import { SliceIndex } from './device-pool.js';
import {
  deallocateClaim,
  filterClaims,
  prepareClaims,
  releaseClaims,
  reserveClaims,
  type ClaimingPod,
  type ClusterDevices,
} from './pod-claims.js';

export const NO_DEVICES: ClusterDevices = { slices: new SliceIndex([]), classes: new Map(), templates: new Map(), claims: new Map() };

/** The devices of one cluster, and the claims that have them now. */
export class DeviceLedger {
  #state: ClusterDevices;

  constructor(state: ClusterDevices) {
    this.#state = state;
  }

  get state(): ClusterDevices {
    return this.#state;
  }

  /** The pod is bound to the node, which its claims fit. Nothing for one without claims. */
  reserve(pod: ClaimingPod, node: NamedNode): void {
    const prepared = prepareClaims(this.#state, pod);
    const fit = prepared?.kind === 'prepared' ? filterClaims(prepared, node) : undefined;
    if (prepared?.kind === 'prepared' && fit?.kind === 'fits') this.#state = reserveClaims(this.#state, pod, prepared, fit);
  }

  /** Makes room for a pod that has no node: whether a claim of it has given its devices back. */
  deallocate(pod: ClaimingPod, nodes: readonly NamedNode[]): boolean {
    const changed = deallocateClaim(this.#state, pod, nodes);
    if (changed !== undefined) this.#state = changed;
    return changed !== undefined;
  }

  /** The pod has ended. */
  release(pod: ClaimingPod): void {
    if (pod.resourceClaims.length > 0) this.#state = releaseClaims(this.#state, pod);
  }
}
