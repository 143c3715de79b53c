import type { ClusterDevices } from '../../../core/devices/pod-claims.js';
import { claimKey } from '../../../core/devices/resource-claim.js';
import type { SchedulerPod } from '../../../core/scheduling/scheduler-pod.js';
import type { SimulatedPod } from '../../../core/simulation/simulated-pod.js';

/** The prefix of the extended resource that each DeviceClass has. */
const CLASS_RESOURCE = 'deviceclass.resource.kubernetes.io/';

/** Pods whose devices the files do not tell. */
export function* unmetClaims(
  devices: ClusterDevices,
  pods: readonly SimulatedPod[],
): Generator<{ readonly pod: SimulatedPod; readonly message: string }> {
  for (const pod of pods) {
    if (pod.phase === 'Succeeded' || pod.phase === 'Failed') continue;
    for (const message of messagesFor(pod.scheduling, devices)) yield { pod, message };
  }
}

function messagesFor({ namespace, nodeName, resourceClaims, requests }: SchedulerPod, devices: ClusterDevices): readonly string[] {
  const messages = [...requests.keys()]
    .filter((name) => name.startsWith(CLASS_RESOURCE))
    .map((name) => `requests ${name}: devices for extended resources are not simulated`);
  for (const { source } of resourceClaims) {
    const isTemplate = source.kind === 'template';
    if (isTemplate && !devices.templates.has(claimKey({ namespace, name: source.name })))
      messages.push(`its ResourceClaimTemplate ${source.name} is not in the input: a pod that replaces it waits for its claim`);
    const name = isTemplate ? (source.generated ?? '') : source.name;
    if (nodeName !== '' && name !== '' && !devices.claims.has(claimKey({ namespace, name })))
      messages.push(`its ResourceClaim ${name} is not in the input: its devices count as free`);
  }
  return messages;
}
