import { DocumentError } from '../../../errors.js';
import type { PodOwner, PodService } from '../../../core/scheduling/cluster/default-selector.js';
import type { Labels } from '../../../core/scheduling/label-selector.js';
import type { PriorityClass } from '../../../core/scheduling/priority-admission.js';
import type { SchedulerNode } from '../../../core/scheduling/scheduler-node.js';
import type { SimulatedContent } from '../../../core/simulation/simulated-cluster.js';
import type { NodeMemory } from '../../../core/simulation/simulated-memory.js';
import type { SimulatedBudget } from '../../../core/simulation/simulated-budgets.js';
import type { SimulatedPod } from '../../../core/simulation/simulated-pod.js';
import { isAbsent, member, resourceListOf, textOf, wrong, type Field } from '../../../kubernetes/document.js';
import { DEVICE_API_VERSIONS, DEVICE_KINDS, DeviceObjects } from '../../../kubernetes/devices/device-objects.js';
import { readObjects, type FoundObject } from '../../../kubernetes/objects/object-file.js';
import { objectName } from '../../../kubernetes/objects/object-name.js';
import { namespaceAt, ownerAt, priorityClassAt, serviceAt } from '../../../kubernetes/scheduling/cluster-objects.js';
import { schedulerNodeAt } from '../../../kubernetes/scheduling/scheduler-node.js';
import { usagesIn } from '../../../kubernetes/stats.js';
import { makeSignalObservations } from '../../../kubernetes/summary.js';
import { unsimulatedVolumes } from '../../../kubernetes/volumes/volume-claim.js';
import { VOLUME_KINDS, VolumeObjects } from '../../../kubernetes/volumes/volume-objects.js';
import { quantityValue } from '../../../core/quantity/quantity.js';
import { simulatedBudgetAt } from './budget-document.js';
import { Findings, type FindingPlace } from './finding.js';
import { podMetricsAt, simulatedPodAt } from './pod-document.js';
import { unknownChoices } from './unknown-choices.js';
import { unmetClaims } from './unmet-claims.js';
import { invalidRequirements } from './invalid-requirements.js';
import { unmetLabels } from './unmet-labels.js';

interface Placed<T> {
  readonly value: T;
  readonly at: FindingPlace;
}

/** A cluster as its files have it. */
export interface DumpedCluster {
  readonly content: SimulatedContent;
  readonly priorityClasses: readonly PriorityClass[];
  readonly findings: Findings;
}

interface Kind {
  readonly versions: readonly string[];
  /** Left out: the kind is known, and the simulation needs nothing of it. */
  readonly take?: (dump: ClusterDump, object: Field, at: FindingPlace) => void;
}

const OWNER = (kind: PodOwner['kind'], versions: readonly string[]): Kind => ({
  versions,
  take: (dump, object) => {
    dump.owners.push(ownerAt(object, kind));
  },
});

const KINDS: Readonly<Record<string, Kind>> = {
  Node: { versions: ['v1'], take: (dump, object, at) => dump.takeNode(object, at) },
  Pod: { versions: ['v1'], take: (dump, object, at) => dump.takePod(object, at) },
  PodDisruptionBudget: { versions: ['policy/v1'], take: (dump, object, at) => dump.takeBudget(object, at) },
  PriorityClass: {
    versions: ['scheduling.k8s.io/v1'],
    take: (dump, object) => {
      const priorityClass = priorityClassAt(object);
      // The API server's default (scheduling/v1/defaults.go).
      dump.priorityClasses.push({ ...priorityClass, preemptionPolicy: priorityClass.preemptionPolicy || 'PreemptLowerPriority' });
    },
  },
  Namespace: {
    versions: ['v1'],
    take: (dump, object) => {
      dump.namespaces.set(...namespaceAt(object));
    },
  },
  Service: { versions: ['v1'], take: (dump, object) => dump.services.push(serviceAt(object)) },
  ReplicationController: OWNER('ReplicationController', ['v1']),
  ReplicaSet: OWNER('ReplicaSet', ['apps/v1']),
  StatefulSet: OWNER('StatefulSet', ['apps/v1']),
  Deployment: { versions: ['apps/v1'] },
  DaemonSet: { versions: ['apps/v1'] },
  Job: { versions: ['batch/v1'] },
  PodMetrics: {
    versions: ['metrics.k8s.io/v1beta1'],
    take: (dump, object) => {
      dump.memoryByPod.set(...podMetricsAt(object));
    },
  },
  NodeMetrics: { versions: ['metrics.k8s.io/v1beta1'] },
  ...Object.fromEntries(
    VOLUME_KINDS.map(([kind, version]): [string, Kind] => [
      kind,
      { versions: [version], take: (dump, object) => dump.volumes.take(kind, object) },
    ]),
  ),
  ...Object.fromEntries(
    DEVICE_KINDS.map((kind): [string, Kind] => [
      kind,
      { versions: DEVICE_API_VERSIONS, take: (dump, object, at) => dump.takeDevices(kind, object, at) },
    ]),
  ),
};

/** Collects the objects of files. What is wrong is a finding, and the rest goes on. */
export class ClusterDump {
  readonly findings = new Findings();
  readonly priorityClasses: PriorityClass[] = [];
  readonly namespaces = new Map<string, Labels>();
  readonly services: PodService[] = [];
  readonly owners: PodOwner[] = [];
  readonly volumes = new VolumeObjects();
  /** Working sets by namespace/name. */
  readonly memoryByPod = new Map<string, bigint>();
  readonly #nodes = new Map<string, Placed<SchedulerNode>>();
  readonly #memory = new Map<string, NodeMemory>();
  readonly #pods = new Map<string, Placed<SimulatedPod>>();
  readonly #budgets = new Map<string, Placed<SimulatedBudget>>();
  readonly #devices = new DeviceObjects();
  readonly #summaries: unknown[] = [];

  /** @throws InputError  the file cannot be read */
  readFile(path: string): void {
    readObjects(path, {
      object: (found) => {
        this.take(found);
      },
      bad: ({ object, message, at }) => {
        this.findings.add('error', at, object, message);
      },
    });
  }

  take({ kind, apiVersion, object, at }: Omit<FoundObject, 'at'> & { readonly at: FindingPlace }): void {
    const name = objectName(kind, object);
    try {
      if (kind === '' && !isAbsent(member(member(object, 'node'), 'nodeName'))) {
        this.#summaries.push(object.value);
        return;
      }
      const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
      if (known === undefined) {
        this.findings.add(
          'error',
          at,
          name,
          kind === ''
            ? 'has no kind'
            : kind.endsWith('List')
              ? 'has no items'
              : `the kind ${kind} (${apiVersion}) is unknown: it is left out`,
          kind,
        );
        return;
      }
      if (!known.versions.includes(apiVersion)) {
        const expected = known.versions.join(' or ');
        this.findings.add('error', at, name, `apiVersion ${JSON.stringify(apiVersion)} is unknown: ${expected} is expected`, kind);
        return;
      }
      const own = member(member(object, 'metadata'), 'name');
      if (isAbsent(own)) throw wrong(own, 'a name');
      known.take?.(this, object, at);
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      this.findings.add('error', at, name, error.message);
    }
  }

  takeNode(object: Field, at: FindingPlace): void {
    const allocatable = member(member(object, 'status'), 'allocatable');
    if (isAbsent(allocatable)) throw wrong(allocatable, 'what the node has for pods');
    const node = schedulerNodeAt(object);
    for (const message of unknownChoices(member(object, 'spec'))) this.findings.add('warning', at, `Node ${node.name}`, message);
    const capacity = resourceListOf(member(member(object, 'status'), 'capacity')).get('memory');
    const capacityBytes = capacity === undefined ? (node.allocatable.get('memory') ?? 0n) : quantityValue(capacity);
    this.#nodes.set(node.name, { value: node, at });
    this.#memory.set(node.name, { capacityBytes });
  }

  takePod(object: Field, at: FindingPlace): void {
    const pod = simulatedPodAt(object);
    const { namespace, name, nodeName } = pod.scheduling;
    this.#pods.set(`${namespace}/${name}`, { value: pod, at });
    const report = (message: string): void => {
      const { controller } = pod.scheduling;
      const group = controller === undefined ? name : `${controller.kind}/${controller.name}`;
      this.findings.add('warning', at, `Pod ${namespace}/${name}`, message, `${namespace}/${group}`);
    };
    if (isAbsent(member(object, 'status'))) report(`has no status: counts as ${nodeName === '' ? 'pending' : 'running and ready'}`);
    const spec = member(object, 'spec');
    const selectors = ['affinity', 'topologySpreadConstraints'].flatMap((key) => [...invalidRequirements(member(spec, key))]);
    for (const message of new Set([...selectors, ...unknownChoices(spec), ...unsimulatedVolumes(spec)])) report(message);
  }

  takeBudget(object: Field, at: FindingPlace): void {
    const budget = simulatedBudgetAt(object);
    this.#budgets.set(`${budget.namespace}/${budget.name}`, { value: budget, at });
    const report = (message: string): void => {
      this.findings.add('warning', at, objectName('PodDisruptionBudget', object), message);
    };
    for (const message of invalidRequirements(member(object, 'spec'))) report(message);
    if (isAbsent(member(object, 'status'))) report('has no status: allows no eviction, as for the API server');
  }

  takeDevices(kind: string, object: Field, at: FindingPlace): void {
    for (const message of this.#devices.take(kind, object)) this.findings.add('warning', at, objectName(kind, object), message, kind);
  }

  /** All files have been read. */
  cluster(): DumpedCluster {
    this.#applySummaries();
    const nodes = [...this.#nodes.values()].map(({ value }) => value);
    const pods = [...this.#pods.values()].map(({ value, at }) => {
      const { namespace, name, nodeName } = value.scheduling;
      if (nodeName !== '' && !this.#nodes.has(nodeName))
        this.findings.add(
          'warning',
          at,
          `Pod ${namespace}/${name}`,
          `its node ${nodeName} is not in the input: counts as pending`,
          nodeName,
        );
      const memoryBytes = this.memoryByPod.get(`${namespace}/${name}`);
      return memoryBytes === undefined ? value : { ...value, memoryBytes };
    });
    const [memory, devices] = [this.#memory, this.#devices.devices()];
    for (const { pod, message } of [...unmetLabels(nodes, pods), ...unmetClaims(devices, pods)]) {
      const { namespace, name, controller } = pod.scheduling;
      const at = this.#pods.get(`${namespace}/${name}`)?.at;
      const group = controller === undefined ? name : `${controller.kind}/${controller.name}`;
      if (at !== undefined) this.findings.add('warning', at, `Pod ${namespace}/${name}`, message, `${namespace}/${group}`);
    }
    const { namespaces, services, owners, priorityClasses, findings } = this;
    const budgets = [...this.#budgets.values()].map(({ value }) => value);
    const volumes = this.volumes.volumes();
    return { content: { nodes, pods, budgets, namespaces, services, owners, memory, devices, volumes }, priorityClasses, findings };
  }

  /** Statistics of a kubelet: what its pods use, and the memory that its node has left. */
  #applySummaries(): void {
    for (const summary of this.#summaries) {
      const nodeName = textOf(member(member({ value: summary, path: '' }, 'node'), 'nodeName'));
      const own = [...this.#pods.values()].map(({ value }) => value).filter(({ scheduling }) => scheduling.nodeName === nodeName);
      for (const { workload, stats } of usagesIn(summary)(own.map(({ workload: each }) => each)))
        if (stats?.workingSetBytes !== undefined) this.memoryByPod.set(workload.path, stats.workingSetBytes);
      const observed = makeSignalObservations(summary, 'linux').observed.get('memory.available');
      if (observed) this.#memory.set(nodeName, { capacityBytes: observed.capacity, availableBytes: observed.available });
    }
  }
}
