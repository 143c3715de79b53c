import type { Taint } from '../disruption/taint.js';
import type { Labels } from './label-selector.js';
import type { Amounts } from './node-fit.js';

/** A node as the scheduler sees it: v1.Node, read once. */
export interface SchedulerNode {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** spec.unschedulable: it is cordoned. */
  readonly unschedulable: boolean;
  readonly allocatable: Amounts;
  /** status.declaredFeatures */
  readonly declaredFeatures: ReadonlySet<string>;
  /** Bytes by image name. */
  readonly images: ReadonlyMap<string, number>;
}
