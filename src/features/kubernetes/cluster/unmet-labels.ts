import { selects, type LabelSelector, type Labels } from '../../../core/scheduling/label-selector.js';
import type { SchedulerNode } from '../../../core/scheduling/scheduler-node.js';
import type { PodAffinityTerm, SchedulerPod } from '../../../core/scheduling/scheduler-pod.js';
import type { SimulatedPod } from '../../../core/simulation/simulated-pod.js';

/** Pods whose rules name labels that no node has, or want to be with pods that do not exist. */
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
  const others = new KnownPods(pods);
  for (const pod of pods) {
    const { scheduling } = pod;
    for (const message of [...messagesFor(scheduling, labels), ...others.messagesFor(scheduling)]) yield { pod, message };
  }
}

/** The labels that pods have. */
class KnownPods {
  /** The labels of the pods of a namespace. Pods with the same labels count once. */
  readonly #labels = new Map<string, Map<string, Labels>>();
  /** Results by term. */
  readonly #found = new Map<string, boolean>();

  constructor(pods: readonly SimulatedPod[]) {
    for (const { scheduling } of pods) {
      const { namespace, labels } = scheduling;
      const own = this.#labels.get(namespace) ?? new Map<string, Labels>();
      this.#labels.set(namespace, own.set(JSON.stringify([...labels]), labels));
    }
  }

  /** The first pods of a group that want to be together are not a problem. */
  messagesFor({ podAffinity }: SchedulerPod): readonly string[] {
    return podAffinity.required
      .filter((term) => !this.#isFound(term))
      .map(({ selector }) => `spec.affinity.podAffinity: no pod has the labels ${selectorText(selector)}`);
  }

  /** A term that selects namespaces may find pods in any of them. */
  #isFound({ namespaces, namespaceSelector, selector }: PodAffinityTerm): boolean {
    const key = JSON.stringify([namespaces, selector]);
    const known = namespaceSelector === undefined ? this.#found.get(key) : true;
    if (known !== undefined) return known;
    const found = namespaces.some((namespace) =>
      [...(this.#labels.get(namespace)?.values() ?? [])].some((each) => selects(selector, each)),
    );
    this.#found.set(key, found);
    return found;
  }
}

function selectorText(selector: LabelSelector | undefined): string {
  return (selector?.requirements ?? []).map(({ key, operator, values }) => `${key} ${operator} ${values.join(' or ')}`.trim()).join(', ');
}

function messagesFor(pod: SchedulerPod, labels: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const { requiredNodeAffinity, podAffinity, podAntiAffinity, spreadConstraints } = pod;
  const messages: string[] = [];
  for (const [key, value] of requiredNodeAffinity.labels)
    if (labels.get(key)?.has(value) !== true) messages.push(`spec.nodeSelector: no node has the label ${key}=${value}`);
  for (const { expressions } of requiredNodeAffinity.terms ?? []) {
    for (const { key, operator, values } of expressions) {
      if (operator === 'In' && values.length > 0 && !values.some((value) => labels.get(key)?.has(value)))
        messages.push(`spec.affinity.nodeAffinity: no node has the label ${key} with ${values.join(' or ')}`);
      if (['Exists', 'Gt', 'Lt'].includes(operator) && !labels.has(key))
        messages.push(`spec.affinity.nodeAffinity: no node has the label ${key}`);
    }
  }
  const keys = [...podAffinity.required, ...podAntiAffinity.required, ...spreadConstraints].map(({ topologyKey }) => topologyKey);
  for (const key of new Set(keys)) if (!labels.has(key)) messages.push(`topologyKey: no node has the label ${key}`);
  return messages;
}
