import type { SchedulerNode } from '../../../core/scheduling/scheduler-node.js';
import type { SchedulerPod } from '../../../core/scheduling/scheduler-pod.js';
import type { SimulatedPod } from '../../../core/simulation/simulated-pod.js';

/** Pods whose rules name labels that no node has. */
export function* unmetLabels(
  nodes: readonly SchedulerNode[],
  pods: readonly SimulatedPod[],
): Generator<{ readonly pod: SimulatedPod; readonly message: string }> {
  const labels = new Map<string, Set<string>>();
  for (const node of nodes) {
    for (const [key, value] of node.labels) {
      const values = labels.get(key);
      if (values === undefined) labels.set(key, new Set([value]));
      else values.add(value);
    }
  }
  for (const pod of pods) for (const message of messagesFor(pod.scheduling, labels)) yield { pod, message };
}

function messagesFor(pod: SchedulerPod, labels: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const { requiredNodeAffinity, podAffinity, podAntiAffinity, spreadConstraints } = pod;
  const messages: string[] = [];
  for (const [key, value] of requiredNodeAffinity.labels)
    if (labels.get(key)?.has(value) !== true) messages.push(`spec.nodeSelector: no node has the label ${key}=${value}`);
  for (const { expressions } of requiredNodeAffinity.terms ?? []) {
    for (const { key, operator, values } of expressions) {
      if (operator !== 'In' || values.some((value) => labels.get(key)?.has(value))) continue;
      messages.push(`spec.affinity.nodeAffinity: no node has the label ${key} with ${values.join(' or ')}`);
    }
  }
  const keys = [...podAffinity.required, ...podAntiAffinity.required, ...spreadConstraints].map(({ topologyKey }) => topologyKey);
  for (const key of new Set(keys)) if (!labels.has(key)) messages.push(`topologyKey: no node has the label ${key}`);
  return messages;
}
