import type { Taint } from '../disruption/taint.js';

/** How evictd works with the API server of a Kubernetes cluster. */
export interface KubernetesConfig {
  /** Path of a kubeconfig; undefined: the service account of the pod that evictd runs in. */
  readonly kubeconfig: string | undefined;
  /** undefined: NODE_NAME of the environment, or else the name in a kubelet's client certificate, or else the host name. */
  readonly nodeName: string | undefined;
  /** Whether a soft eviction respects the disruption budgets of the cluster. */
  readonly budgets: 'respect' | 'ignore';
  /** The taint of the node while it has memory pressure; undefined: none. */
  readonly taint: Taint | undefined;
  /** Conditions of the node: types of evictd's own, those of the kubelet, or none. */
  readonly conditions: 'own' | 'kubelet' | 'none';
  /** `none`: no kubelet runs on the node. */
  readonly kubelet: 'present' | 'none';
}
