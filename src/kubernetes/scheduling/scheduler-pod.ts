import { PREEMPTION_POLICIES } from '../../core/disruption/priority-class.js';
import { ANY_ADDRESS, type HostPort } from '../../core/scheduling/host-port.js';
import type { LabelSelector, Labels, Requirement } from '../../core/scheduling/label-selector.js';
import { amountsOf } from '../../core/scheduling/node-fit.js';
import { bookedResources, scoredRequests } from '../../core/scheduling/pod-requests.js';
import type {
  ControllerReference,
  PodAffinity,
  PodAffinityTerm,
  SchedulerPod,
  SpreadConstraint,
} from '../../core/scheduling/scheduler-pod.js';
import { DEFAULT_SCHEDULER } from '../../core/scheduling/scheduler-profile.js';
import { integerOf, isAbsent, items, member, textOf, timeOf, type Field } from '../document.js';
import { podClaimsAt } from '../devices/pod-resource-claims.js';
import { labelsAt, labelSelectorAt, preferredNodeTermsAt, requiredNodeAffinityAt } from './label-selector.js';
import { podAmountsAt } from './pod-amounts.js';
import { tolerationsAt } from '../taint.js';
import { podVolumesAt } from '../volumes/volume-claim.js';

/**
 * Reads a pod (v1.Pod) for the scheduler. Its containers' images, ports and requests are read once, here.
 *
 * @throws DocumentError  with the path of the problem
 */
export function schedulerPodAt(pod: Field): SchedulerPod {
  const [metadata, spec, status] = [member(pod, 'metadata'), member(pod, 'spec'), member(pod, 'status')];
  const name = textOf(member(metadata, 'name'));
  const namespace = textOf(member(metadata, 'namespace'));
  const labels = labelsAt(member(metadata, 'labels'));
  const affinity = member(spec, 'affinity');
  const amounts = podAmountsAt(pod);
  const booked = bookedResources(amounts);
  const terminating = !isAbsent(member(metadata, 'deletionTimestamp'));
  return {
    name,
    namespace,
    uid: textOf(member(metadata, 'uid')),
    labels,
    nodeName: textOf(member(spec, 'nodeName')),
    nominatedNodeName: textOf(member(status, 'nominatedNodeName')),
    schedulerName: textOf(member(spec, 'schedulerName')) || DEFAULT_SCHEDULER,
    priority: Number(integerOf(member(spec, 'priority'), 'int32') ?? 0n),
    preemptionPolicy: PREEMPTION_POLICIES.find((policy) => policy === textOf(member(spec, 'preemptionPolicy'))) ?? 'PreemptLowerPriority',
    schedulingGates: items(member(spec, 'schedulingGates')).map((gate) => textOf(member(gate, 'name'))),
    terminating,
    preempted: terminating && items(member(status, 'conditions')).some(saysPreempted),
    startNs: timeOf(member(status, 'startTime')),
    controller: controllerAt(member(metadata, 'ownerReferences')),
    tolerations: tolerationsAt(spec),
    requiredNodeAffinity: requiredNodeAffinityAt(spec),
    preferredNodeTerms: preferredNodeTermsAt(member(affinity, 'nodeAffinity')),
    podAffinity: podAffinityAt(member(affinity, 'podAffinity'), namespace, labels),
    podAntiAffinity: podAffinityAt(member(affinity, 'podAntiAffinity'), namespace, labels),
    spreadConstraints: spreadConstraintsAt(member(spec, 'topologySpreadConstraints'), labels),
    hostPorts: hostPortsAt(spec),
    requiredFeatures: requiredFeaturesAt(spec),
    volumes: podVolumesAt(spec),
    images: [
      ...['initContainers', 'containers'].flatMap((list) => items(member(spec, list)).map((container) => member(container, 'image'))),
      ...items(member(spec, 'volumes')).flatMap((volume) => {
        const image = member(volume, 'image');
        return isAbsent(image) ? [] : [member(image, 'reference')];
      }),
    ].map(imageNameAt),
    requests: amountsOf(booked.requests),
    nonZeroRequests: amountsOf(booked.nonZero),
    scoredRequests: amountsOf(scoredRequests(amounts)),
    resourceClaims: podClaimsAt(spec, status),
  };
}

function saysPreempted(condition: Field): boolean {
  const text = (name: string): string => textOf(member(condition, name));
  return text('type') === 'DisruptionTarget' && text('status') === 'True' && text('reason') === 'PreemptionByScheduler';
}

function controllerAt(owners: Field): ControllerReference | undefined {
  const owner = items(owners).find((reference) => member(reference, 'controller').value === true);
  if (owner === undefined) return undefined;
  return { apiVersion: textOf(member(owner, 'apiVersion')), kind: textOf(member(owner, 'kind')), name: textOf(member(owner, 'name')) };
}

function podAffinityAt(affinity: Field, namespace: string, labels: Labels): PodAffinity {
  return {
    required: items(member(affinity, 'requiredDuringSchedulingIgnoredDuringExecution')).map((term) => termAt(term, namespace, labels)),
    preferred: items(member(affinity, 'preferredDuringSchedulingIgnoredDuringExecution')).map((preferred) => ({
      ...termAt(member(preferred, 'podAffinityTerm'), namespace, labels),
      weight: Number(integerOf(member(preferred, 'weight'), 'int32') ?? 0n),
    })),
  };
}

/** `matchLabelKeys` and `mismatchLabelKeys` as the API server merges them into the selector when the pod is created. */
function termAt(term: Field, namespace: string, labels: Labels): PodAffinityTerm {
  const names = items(member(term, 'namespaces')).map(textOf);
  const namespaceSelector = member(term, 'namespaceSelector');
  const selector = labelSelectorAt(member(term, 'labelSelector'));
  const keysAt = (list: string, operator: string): readonly Requirement[] => labelKeysAt(member(term, list), operator, labels);
  return {
    selector: selector && {
      requirements: [...selector.requirements, ...keysAt('matchLabelKeys', 'In'), ...keysAt('mismatchLabelKeys', 'NotIn')],
    },
    namespaces: names.length === 0 && isAbsent(namespaceSelector) ? [namespace] : names,
    namespaceSelector: labelSelectorAt(namespaceSelector),
    topologyKey: textOf(member(term, 'topologyKey')),
  };
}

/** @param podLabels  whose values `matchLabelKeys` takes */
export function spreadConstraintsAt(list: Field, podLabels: Labels): readonly SpreadConstraint[] {
  return items(list).map((constraint) => ({
    topologyKey: textOf(member(constraint, 'topologyKey')),
    maxSkew: Number(integerOf(member(constraint, 'maxSkew'), 'int32') ?? 0n),
    whenUnsatisfiable: textOf(member(constraint, 'whenUnsatisfiable')) === 'ScheduleAnyway' ? 'ScheduleAnyway' : 'DoNotSchedule',
    minDomains: Number(integerOf(member(constraint, 'minDomains'), 'int32') ?? 1n),
    selector: withMatchLabelKeys(labelSelectorAt(member(constraint, 'labelSelector')), member(constraint, 'matchLabelKeys'), podLabels),
    honorsAffinity: textOf(member(constraint, 'nodeAffinityPolicy')) !== 'Ignore',
    honorsTaints: textOf(member(constraint, 'nodeTaintsPolicy')) === 'Honor',
  }));
}

/** A constraint without a selector selects no pod, whatever the keys (podtopologyspread/common.go: mergeLabelSetWithSelector). */
function withMatchLabelKeys(selector: LabelSelector | undefined, keys: Field, labels: Labels): LabelSelector | undefined {
  return selector && { requirements: [...labelKeysAt(keys, 'In', labels), ...selector.requirements] };
}

/** The pod's own values. A key that it does not have is left out. */
function labelKeysAt(keys: Field, operator: string, labels: Labels): readonly Requirement[] {
  return items(keys).flatMap((field) => {
    const key = textOf(field);
    const value = labels.get(key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}

/** The host ports of containers and sidecars. */
export function hostPortsAt(spec: Field): readonly HostPort[] {
  const sidecars = items(member(spec, 'initContainers')).filter((container) => textOf(member(container, 'restartPolicy')) === 'Always');
  return [...items(member(spec, 'containers')), ...sidecars]
    .flatMap((container) => items(member(container, 'ports')))
    .map((port) => ({
      address: textOf(member(port, 'hostIP')) || ANY_ADDRESS,
      protocol: textOf(member(port, 'protocol')) || 'TCP',
      port: Number(integerOf(member(port, 'hostPort'), 'int32') ?? 0n),
    }))
    .filter(({ port }) => port > 0);
}

/** Features that a pod needs where it runs (component-helpers/nodedeclaredfeatures, InferForScheduling, v1.36). */
function requiredFeaturesAt(spec: Field): readonly string[] {
  const containers = ['containers', 'initContainers'].flatMap((list) => items(member(spec, list)));
  const rules = containers.flatMap((container) => items(member(container, 'restartPolicyRules')));
  return [
    ...(rules.some((rule) => textOf(member(rule, 'action')) === 'RestartAllContainers') ? ['RestartAllContainersOnContainerExits'] : []),
    ...(member(spec, 'hostNetwork').value === true && member(spec, 'hostUsers').value === false
      ? ['UserNamespacesHostNetworkSupport']
      : []),
  ];
}

/** The name with a tag, as nodes report images. */
function imageNameAt(field: Field): string {
  const image = textOf(field);
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
