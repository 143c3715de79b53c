import { addResourceLists } from '../quantity/resource-list.js';
import type { Container, QosClass, ResourceList } from './workload.js';

/** Requests and limits of a container, or of a pod as a whole. */
export interface Resources {
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

/** Other resources do not count for the class. */
const QOS_RESOURCES = ['cpu', 'memory'] as const;

/**
 * The class of a pod by its cpu and memory (kubelet: ComputePodQOS, v1.36.2).
 *
 * BestEffort: it asks for nothing and limits nothing. Guaranteed: everything has limits for both, and the sums of
 * requests and limits are equal by resource; the containers need not be equal each. Amounts that are not positive count
 * as absent. Init containers count like others.
 *
 * @param podLevel  spec.resources, which alone counts where it is set, be it empty
 */
export function computePodQos(containers: readonly Container[], podLevel: Resources | undefined): QosClass {
  const all: readonly Resources[] = podLevel === undefined ? containers : [podLevel];
  const requests = all.map((resources) => positive(resources.requests)).reduce(addResourceLists, new Map());
  const limits = all.map((resources) => positive(resources.limits)).reduce(addResourceLists, new Map());
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const limited = all.every((resources) => positive(resources.limits).size === QOS_RESOURCES.length);
  const equal = QOS_RESOURCES.every((name) => requests.get(name)?.nano === limits.get(name)?.nano);
  return limited && equal ? 'Guaranteed' : 'Burstable';
}

function positive(list: ResourceList): ResourceList {
  return new Map(
    QOS_RESOURCES.flatMap((name) => {
      const quantity = list.get(name);
      return quantity !== undefined && quantity.nano > 0n ? [[name, quantity] as const] : [];
    }),
  );
}
