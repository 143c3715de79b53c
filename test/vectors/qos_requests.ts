import { computePodQos } from '../../src/core/workload/qos.js';
import { resourceRequests } from '../../src/core/workload/pod-resources.js';
import type { ResourceList } from '../../src/core/workload/workload.js';
import { isAbsent, member, type Field } from '../../src/kubernetes/document.js';
import { amountOf, bookedResources, ceilDivide, DEFAULT_REQUESTS, podRequests } from '../../src/core/scheduling/pod-requests.js';
import { podAmountsAt } from '../../src/kubernetes/scheduling/pod-amounts.js';
import { podLimitsOf } from './cluster/pod-limits.js';
import { checkKinds } from './kind.js';

/** Resources that are listed even if they are zero. */
const ALWAYS = ['cpu', 'ephemeral-storage', 'memory'];

export const checkQosRequests = checkKinds({ podResources });

function podResources(input: Field): unknown {
  const document = member(input, 'pod');
  const pod = podAmountsAt(document);
  const kubelet = resourceRequests(pod);
  const hasStatus = !isAbsent(member(document, 'status'));
  const booked = bookedResources(pod);
  return {
    qosClass: computePodQos(pod.containers, pod.podLevel),
    requests: amounts(podRequests(pod)),
    requestsExcludeOverhead: amounts(podRequests(pod, { withoutOverhead: true })),
    requestsNonZero: amounts(podRequests(pod, { missing: DEFAULT_REQUESTS })),
    limits: amounts(podLimitsOf(pod)),
    limitsExcludeOverhead: amounts(podLimitsOf(pod, { withoutOverhead: true })),
    ...(pod.podLevel === undefined
      ? {}
      : {
          requestsContainersOnly: amounts(podRequests(pod, { containersOnly: true })),
          limitsContainersOnly: amounts(podLimitsOf(pod, { containersOnly: true })),
        }),
    ...(hasStatus ? { requestsWithStatus: amounts(podRequests(pod, { withStatus: true })) } : {}),
    kubelet: Object.fromEntries(ALWAYS.map((name) => [name, ceilDivide(kubelet(name), name === 'cpu' ? 1_000_000n : 1_000_000_000n)])),
    scheduler: {
      ...Object.fromEntries(ALWAYS.map((name) => [name, 0n])),
      ...amounts(booked.requests),
      nonZeroCPU: amounts(booked.nonZero).cpu ?? 0n,
      nonZeroMemory: amounts(booked.nonZero).memory ?? 0n,
    },
  };
}

function amounts(list: ResourceList): Readonly<Record<string, bigint>> {
  return Object.fromEntries([...list].map(([name, quantity]) => [name, amountOf(name, quantity)]));
}
