import * as z from 'zod/mini';
import { parseTaint, type Taint } from '../../core/disruption/taint.js';
import type { KubernetesConfig } from '../../core/kubernetes/kubernetes-config.js';
import { shaped } from '../value/json-shape.js';
import { flag, parsed, refuse } from '../value/scalar.js';
import { nodePathText, taintOf, TextError } from '../value/value-text.js';

const TAINT = parseTaint('evictd.dev/memory-pressure:NoSchedule');

/** A DNS subdomain, as the API server demands of the name of a node. */
const nodeName = parsed((input) => {
  if (input.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(input)) return input;
  const hint = 'write it as kubectl get nodes shows it';
  throw new TextError('EVICTD_CONFIG_VALUE', `is not the name of a node: ${JSON.stringify(input)}`, hint);
});

/** 'true': the default taint. 'false': none. NoExecute is refused: the controllers of the cluster would end every pod of the node. */
function ownTaint(input: string): Taint | undefined {
  if (input === 'true' || input === 'false') return input === 'true' ? TAINT : undefined;
  const taint = taintOf(input);
  if (taint.effect !== 'NoExecute') return taint;
  throw new TextError(
    'EVICTD_CONFIG_TAINT',
    'NoExecute would end all pods of the node',
    `write ${input.replace('NoExecute', 'NoSchedule')}`,
  );
}

const taint = shaped(
  z.pipe(
    z.transform((input: unknown) => (typeof input === 'boolean' ? String(input) : input)),
    parsed(ownTaint),
  ),
  { type: ['boolean', 'string'] },
);

export const kubernetesSchema = z.pipe(
  z.strictObject({
    kubeconfig: z.optional(parsed((input) => nodePathText(input, '/etc/evictd/kubeconfig'))),
    inCluster: z.optional(flag),
    nodeName: z.optional(nodeName),
    budgets: z.optional(z.enum(['respect', 'ignore'])),
    taint: z.optional(taint),
    conditions: z.optional(z.enum(['own', 'kubelet', 'none'])),
    kubelet: z.optional(z.enum(['present', 'none'])),
  }),
  z.transform((entry, payload): KubernetesConfig => {
    const { kubeconfig, inCluster = false, conditions = 'own', kubelet = 'present' } = entry;
    if ((kubeconfig !== undefined) === inCluster) {
      const message = inCluster ? 'has both kubeconfig and inCluster' : 'has neither kubeconfig nor inCluster: true';
      return refuse(payload, entry, 'EVICTD_CONFIG_MISSING', message, 'write kubeconfig: PATH, or inCluster: true in a pod');
    }
    if (conditions === 'kubelet' && kubelet === 'present') {
      const message = 'kubelet needs kubelet: none, because a kubelet overwrites its conditions';
      return refuse(payload, entry, 'EVICTD_CONFIG_VALUE', message, 'write conditions: own', ['conditions']);
    }
    return {
      ...{ kubeconfig, nodeName: entry.nodeName, budgets: entry.budgets ?? 'respect', conditions, kubelet },
      taint: 'taint' in entry ? entry.taint : TAINT,
    };
  }),
);
