import { TAINT_EFFECTS, type Taint } from '../../core/disruption/taint.js';

/** What evictd may have set at a node of the API server, and with which credential: another configuration takes it back. */
export interface ReportedNode {
  /** undefined: the service account of a pod. */
  readonly kubeconfig: string | undefined;
  readonly nodeName: string;
  readonly taints: readonly Taint[];
}

/** What the evictd before has saved. undefined: nothing that can be read. */
export function reportedNodeOf(saved: unknown): ReportedNode | undefined {
  const { kubeconfig, nodeName, taints } = (saved ?? {}) as Partial<Record<keyof ReportedNode, unknown>>;
  if (typeof nodeName !== 'string' || !Array.isArray(taints)) return undefined;
  return { kubeconfig: typeof kubeconfig === 'string' ? kubeconfig : undefined, nodeName, taints: taints.filter(isTaint) };
}

function isTaint(one: Partial<Record<keyof Taint, unknown>> | null): one is Taint {
  const { key, value, effect } = one ?? {};
  return typeof key === 'string' && typeof value === 'string' && TAINT_EFFECTS.some((each) => each === effect);
}
