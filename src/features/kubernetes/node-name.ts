import { hostname } from 'node:os';
import type { KubernetesConfig } from '../../core/kubernetes/kubernetes-config.js';

/** The name of the node, as the kubelet builds it (nodeutil.GetHostname). */
export function nodeNameOf(config: Pick<KubernetesConfig, 'nodeName'>, env: Readonly<Record<string, string | undefined>>): string {
  return [config.nodeName, env.NODE_NAME].find((name) => name) ?? hostname().trim().toLowerCase();
}
