import { quantityValue } from '../../../core/quantity/quantity.js';
import type { PodPhase, SimulatedPod } from '../../../core/simulation/simulated-pod.js';
import { DocumentError } from '../../../errors.js';
import { isAbsent, items, member, quantityOf, textOf, wrong, type Field } from '../../../kubernetes/document.js';
import { workloadAt } from '../../../kubernetes/pod.js';
import { schedulerPodAt } from '../../../kubernetes/scheduling/scheduler-pod.js';

const PHASES: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

/** v1.Pod. Without a namespace it is in `default`; without a status it runs on its node, if it has one. */
export function simulatedPodAt(document: Field): SimulatedPod {
  const pod = withNamespace(document);
  const workload = workloadAt(pod);
  const scheduling = schedulerPodAt(pod);
  for (const [name, amount] of scheduling.requests)
    if (amount < 0n) throw new DocumentError(`spec.containers: the requests of ${name} are negative`, { path: 'spec.containers' });
  const status = member(pod, 'status');
  const ready = items(member(status, 'conditions')).some(
    (condition) => textOf(member(condition, 'type')) === 'Ready' && textOf(member(condition, 'status')) === 'True',
  );
  if (isAbsent(status))
    return { scheduling, workload, phase: scheduling.nodeName === '' ? 'Pending' : 'Running', ready: true, memoryBytes: undefined };
  return { scheduling, workload, phase: phaseAt(member(status, 'phase')), ready, memoryBytes: undefined };
}

function phaseAt(field: Field): PodPhase {
  if (isAbsent(field)) return 'Pending';
  const phase = PHASES.find((each) => each === textOf(field));
  if (phase === undefined) throw wrong(field, PHASES.join(', '));
  return phase;
}

function withNamespace(pod: Field): Field {
  const metadata = member(pod, 'metadata');
  if (textOf(member(metadata, 'namespace')) !== '') return pod;
  const named = { ...(metadata.value as object | undefined), namespace: 'default' };
  return { value: { ...(pod.value as object), metadata: named }, path: pod.path };
}

/** metrics.k8s.io PodMetrics: the working set of its containers. */
export function podMetricsAt(metrics: Field): readonly [path: string, bytes: bigint] {
  const metadata = member(metrics, 'metadata');
  const usages = items(member(metrics, 'containers')).map((container) => quantityOf(member(member(container, 'usage'), 'memory')));
  const bytes = usages.reduce((sum, usage) => sum + (usage === undefined ? 0n : quantityValue(usage)), 0n);
  return [`${textOf(member(metadata, 'namespace')) || 'default'}/${textOf(member(metadata, 'name'))}`, bytes];
}
