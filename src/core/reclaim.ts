import type { Joined } from './joined.js';
import type { Collection, Layout } from './layout.js';
import type { Observation, Observations } from './observation.js';
import { isDiskSignal, type ResourceSignal } from './signal.js';
import type { ResourceThreshold } from './threshold.js';
import type { Candidates } from './workload.js';

/** Node-level reclaim for one threshold, under way. */
export interface Reclaim extends Joined {
  readonly threshold: ResourceThreshold;
  /** What it was decided on. */
  readonly observation: Observation;
  readonly observations: Observations;
  /** In the order in which they run. */
  readonly collections: readonly Collection[];
  /** The candidates as they were read before: the kubelet ranks and words its message by them. undefined: they are read anew. */
  readonly candidates: Candidates | undefined;
}

/** What the collections of a reclaim did. */
export interface ReclaimReading {
  /** Of collections that failed; the others ran all the same. */
  readonly errors: readonly string[];
}

/** The collections that may give this signal's resource back, in order (kubelet: buildSignalToNodeReclaimFuncs). */
export function collectionsFor(signal: ResourceSignal, layout: Layout): readonly Collection[] {
  if (!isDiskSignal(signal)) return [];
  switch (signal) {
    case 'nodefs.available':
    case 'nodefs.inodesFree':
      return layout === 'single' ? ['containers', 'images'] : layout === 'split' ? ['containers'] : [];
    case 'imagefs.available':
    case 'imagefs.inodesFree':
      return layout === 'split' ? ['images'] : ['containers', 'images'];
    case 'containerfs.available':
    case 'containerfs.inodesFree':
      return layout === 'split' ? ['containers'] : ['containers', 'images'];
  }
}
