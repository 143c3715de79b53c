import type { Taint } from '../disruption/taint.js';

export interface NodeCondition {
  readonly type: string;
  /** 'True', 'False' or 'Unknown'. */
  readonly status: string;
}

/** What the controller reads of a node. */
export interface ClusterNode {
  readonly name: string;
  /** 'REGION/ZONE'; '': it has no such labels. */
  readonly zone: string;
  /** It does not count where the controller judges how many nodes of a zone are ready. */
  readonly isExcluded: boolean;
  readonly unschedulable: boolean;
  readonly taints: readonly Taint[];
  readonly conditions: readonly NodeCondition[];
  /** lastHeartbeatTime of the condition Ready as written; '': none. */
  readonly heartbeat: string;
  /** When kube-controller-manager has changed the taints last, in ms since 1970 (managedFields). Left out: never. */
  readonly managerTaintedMs?: number;
}

/** 'True', 'False' or 'Unknown'; undefined: the kubelet has not reported yet. */
export function readyStatus({ conditions }: Pick<ClusterNode, 'conditions'>): string | undefined {
  return conditions.find(({ type }) => type === 'Ready')?.status;
}

const REGION = 'topology.kubernetes.io/region';
const ZONE = 'topology.kubernetes.io/zone';

/** The zone in which a node fails together with others (component-helpers/node/topology). */
export function zoneOf(labels: Readonly<Record<string, unknown>>): string {
  const [region, zone] = [labels[REGION], labels[ZONE]].map((label) => (typeof label === 'string' ? label : ''));
  return region === '' && zone === '' ? '' : `${region ?? ''}/${zone ?? ''}`;
}

/** Nodes with this label do not count (pkg/controller/nodelifecycle). */
export const EXCLUDED_LABEL = 'node.kubernetes.io/exclude-disruption';
