import { hostname } from 'node:os';
import type { KubernetesConfig } from '../../core/kubernetes/kubernetes-config.js';
import { certifiedNode } from './client/certified-node.js';

/** The name of the node; without a configured one that of its kubelet's certificate, or as a kubelet builds it (nodeutil.GetHostname). */
export function nodeNameOf(
  { nodeName, kubeconfig }: Pick<KubernetesConfig, 'nodeName' | 'kubeconfig'>,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const given = [nodeName, env.NODE_NAME].find((name) => name);
  return given ?? (kubeconfig === undefined ? undefined : certifiedNode(kubeconfig)) ?? hostname().trim().toLowerCase();
}
