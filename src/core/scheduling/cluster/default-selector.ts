// Which pods belong together if the pod does not say it itself: those of its services and its owner (plugins/helper/spread.go, v1.36.2).
import type { LabelSelector, Labels } from '../label-selector.js';
import type { ControllerReference, SchedulerPod } from '../scheduler-pod.js';

export interface PodService {
  readonly namespace: string;
  /** Empty: it selects no pod. */
  readonly selector: Labels;
}

/** What may control pods that have spread constraints by default. */
export interface PodOwner {
  readonly kind: 'ReplicationController' | 'ReplicaSet' | 'StatefulSet';
  readonly namespace: string;
  readonly name: string;
  readonly selector: LabelSelector | undefined;
}

/** Owners of the same kind in other API groups do not count. */
const API_VERSIONS: Readonly<Record<PodOwner['kind'], string>> = {
  ReplicationController: 'v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
};

/** Finds services and owners by namespace. */
export class PodSelectors {
  readonly #services = new Map<string, PodService[]>();
  readonly #owners = new Map<string, PodOwner>();

  constructor(services: readonly PodService[], owners: readonly PodOwner[]) {
    for (const service of services) {
      const own = this.#services.get(service.namespace);
      if (own === undefined) this.#services.set(service.namespace, [service]);
      else own.push(service);
    }
    for (const owner of owners) this.#owners.set(keyOf(owner.namespace, { ...owner, apiVersion: API_VERSIONS[owner.kind] }), owner);
  }

  /** undefined: nothing selects the pod. */
  of({ namespace, labels, controller }: SchedulerPod): LabelSelector | undefined {
    const exact = new Map<string, string>();
    for (const { selector } of this.#services.get(namespace) ?? []) {
      if (selector.size === 0 || ![...selector].every(([key, value]) => labels.get(key) === value)) continue;
      for (const [key, value] of selector) exact.set(key, value);
    }
    const owner = controller && this.#owners.get(keyOf(namespace, controller));
    const requirements = [
      ...[...exact].map(([key, value]) => ({ key, operator: 'In', values: [value] })),
      ...(owner?.selector?.requirements ?? []),
    ];
    return requirements.length === 0 ? undefined : { requirements };
  }
}

function keyOf(namespace: string, { apiVersion, kind, name }: ControllerReference): string {
  return `${apiVersion} ${kind}/${namespace}/${name}`;
}
