import { integerOf, isAbsent, items, member, textOf, type Field } from '../../src/kubernetes/document.js';
import { PreemptionError } from './cluster/critical-preemption.js';
import { admitPod, handleAdmissionFailure, kubeletNodeAt, preemptionPodAt, type FailedPredicate } from './cluster/kubelet-admission.js';
import { taintsAt, tolerationsAt } from '../../src/kubernetes/taint.js';
import { checkKinds } from './kind.js';

export const checkPreemption = checkKinds({
  criticalPreemption,
  kubeletAdmit: (input) => {
    const node = member(input, 'node');
    const pod = member(input, 'pod');
    const { victims, ...admission } = admitPod({
      node: kubeletNodeAt(node, taintsAt(member(node, 'spec'))),
      pod,
      tolerations: tolerationsAt(member(pod, 'spec')),
      pods: items(member(input, 'pods')),
    });
    return { ...admission, victims: victims.map(victimJson) };
  },
});

function criticalPreemption(input: Field): unknown {
  const pod = preemptionPodAt(member(input, 'pod'));
  const pods = items(member(input, 'pods')).map(preemptionPodAt);
  const facts = { critical: pod.critical, qosClass: Object.fromEntries(pods.map(({ name, qosClass }) => [name, qosClass])) };
  try {
    const { failures, victims } = handleAdmissionFailure(pod, pods, failuresAt(input));
    const remainingReasons = failures.map((failure) => ('predicate' in failure ? failure.reason : `Insufficient ${failure.resource}`));
    return { ...facts, admit: failures.length === 0, remainingReasons, victims: victims.map(({ name }) => victimJson(name)) };
  } catch (cause) {
    if (!(cause instanceof PreemptionError)) throw cause;
    return { ...facts, admit: false, remainingReasons: [], victims: [], error: cause.message };
  }
}

/** With the status that the kubelet gives a victim. */
function victimJson(pod: string): unknown {
  return { pod, phase: 'Failed', reason: 'Preempting', disruptionTargetReason: 'TerminationByKubelet' };
}

function failuresAt(input: Field): readonly FailedPredicate[] {
  const other = member(input, 'otherFailure');
  return [
    ...items(member(input, 'insufficient')).map((missing) => ({
      resource: textOf(member(missing, 'resource')),
      requested: integerOf(member(missing, 'requested'), 'int64') ?? 0n,
      used: integerOf(member(missing, 'used'), 'int64') ?? 0n,
      capacity: integerOf(member(missing, 'capacity'), 'int64') ?? 0n,
    })),
    ...(isAbsent(other) ? [] : [{ predicate: textOf(member(other, 'predicate')), reason: textOf(member(other, 'reason')) }]),
  ];
}
