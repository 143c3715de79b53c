import type { Collection, Layout } from './layout.js';
import type { Observation, Observations } from './observation.js';
import type { Signal } from './signal.js';
import type { Threshold } from './threshold.js';
import type { Candidates } from './workload.js';

/** Node-level reclaim for one threshold, under way. */
export interface Reclaim {
  readonly threshold: Threshold;
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
export function collectionsFor(signal: Signal, layout: Layout): readonly Collection[] {
  switch (signal) {
    case 'memory.available':
    case 'allocatableMemory.available':
    case 'pid.available':
      return [];
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
