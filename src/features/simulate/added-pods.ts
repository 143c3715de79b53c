import { createHash } from 'node:crypto';
import type { PodOwner } from '../../core/scheduling/cluster/default-selector.js';
import { admitPriority, type PriorityClass } from '../../core/scheduling/priority-admission.js';
import type { SchedulerPod } from '../../core/scheduling/scheduler-pod.js';
import { KEEPS_NAME, type SimulatedPod } from '../../core/simulation/simulated-pod.js';
import { SYSTEM_CLASSES } from '../../core/disruption/priority-class.js';
import { DocumentError, InputError } from '../../errors.js';
import { integerOf, isAbsent, member, textOf, wrong, type Field } from '../../kubernetes/document.js';
import { readObjects, type FoundObject } from '../../kubernetes/objects/object-file.js';
import { ownerAt } from '../../kubernetes/scheduling/cluster-objects.js';
import { podWithDefaults } from '../../kubernetes/scheduling/pod-defaults.js';
import { invalidRequirements } from '../kubernetes/cluster/invalid-requirements.js';
import { unknownChoices } from '../kubernetes/cluster/unknown-choices.js';
import { simulatedPodAt } from '../kubernetes/cluster/pod-document.js';

/** Kinds whose pods have a template, by apiVersion. */
const TEMPLATES: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  ReplicationController: 'v1',
  Job: 'batch/v1',
};

const OWNER_KINDS: readonly PodOwner['kind'][] = ['ReplicaSet', 'StatefulSet', 'ReplicationController'];

/** Pods of `--add`: as the API server admits them. */
export class AddedPods {
  readonly #classes: readonly PriorityClass[];
  /** Owners of the pods that were read. */
  readonly owners: PodOwner[] = [];

  constructor(classes: readonly PriorityClass[]) {
    const known = new Set(classes.map(({ name }) => name));
    const system = SYSTEM_CLASSES.filter(({ name }) => !known.has(name)).map((each) => ({
      ...each,
      value: BigInt(each.value),
      globalDefault: false,
    }));
    this.#classes = [...classes, ...system];
  }

  /**
   * @param replicas  left out: those of the controller, or else one
   * @throws InputError  the file cannot be read, or is not a pod, or the API server would refuse it
   */
  read(path: string, replicas: number | undefined): readonly SimulatedPod[] {
    const file = path === '-' ? 'standard input' : path;
    const pods: SimulatedPod[] = [];
    const refused = (message: string, at: { readonly line: number; readonly column: number }): InputError =>
      new InputError('EVICTD_KUBERNETES_DOCUMENT', `${file}:${String(at.line)}:${String(at.column)}: ${message}`, {
        isMissing: false,
        hint: `the file has a Pod, ${Object.keys(TEMPLATES).join(', ')}, as the API server accepts it`,
      });
    readObjects(path, {
      bad: ({ object, message, at }) => {
        throw refused(object === '' ? message : `${object}: ${message}`, at);
      },
      object: (found) => {
        try {
          pods.push(...this.#podsOf(found, replicas));
        } catch (error) {
          if (!(error instanceof DocumentError)) throw error;
          throw refused(error.message, found.at);
        }
      },
    });
    return pods;
  }

  #podsOf({ kind, apiVersion, object }: FoundObject, replicas: number | undefined): readonly SimulatedPod[] {
    if (kind === 'Pod' && apiVersion === 'v1')
      return this.#copies(object, replicas ?? 1, replicas === undefined ? undefined : 'ReplicaSet');
    if (TEMPLATES[kind] !== apiVersion)
      throw new DocumentError(`${kind} ${apiVersion}: a Pod, or ${Object.keys(TEMPLATES).join(', ')} is expected`, { path: 'kind' });
    const [metadata, spec] = [member(object, 'metadata'), member(object, 'spec')];
    const template = member(spec, 'template');
    if (isAbsent(template)) throw wrong(template, 'a template');
    const hash = kind === 'Deployment' ? hashOf(template) : {};
    this.#addOwner(kind, object, hash);
    const templateMetadata = member(template, 'metadata');
    const labels = { ...(member(templateMetadata, 'labels').value as object | undefined), ...hash };
    const own = { namespace: textOf(member(metadata, 'namespace')), name: textOf(member(metadata, 'name')) };
    const pod: Field = {
      value: {
        kind: 'Pod',
        apiVersion: 'v1',
        ...(template.value as object),
        metadata: { ...(templateMetadata.value as object | undefined), ...own, labels },
      },
      path: '',
    };
    const count = replicas ?? Number(integerOf(member(spec, kind === 'Job' ? 'parallelism' : 'replicas'), 'int32') ?? 1n);
    return this.#copies(pod, count, kind === 'Deployment' ? 'ReplicaSet' : kind);
  }

  /** It selects the pods that have spread constraints by default. */
  #addOwner(kind: string, object: Field, hash: TemplateHash): void {
    const owner = kind === 'Deployment' ? 'ReplicaSet' : OWNER_KINDS.find((each) => each === kind);
    if (owner === undefined) return;
    const { selector, ...known } = ownerAt(object, owner);
    const requirements = Object.entries(hash).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
    this.owners.push({ ...known, selector: selector && { requirements: [...selector.requirements, ...requirements] } });
  }

  #copies(given: Field, count: number, controller: string | undefined): readonly SimulatedPod[] {
    const document = podWithDefaults(given);
    const pod = simulatedPodAt(document);
    for (const message of [...invalidRequirements(document), ...unknownChoices(member(document, 'spec'))])
      throw new DocumentError(message, { path: 'spec' });
    const { name } = pod.scheduling;
    const admitted = this.#admitted(pod, document);
    const owner = controller === undefined ? undefined : { apiVersion: TEMPLATES[controller] ?? '', kind: controller, name };
    const owned: SchedulerPod = owner === undefined ? admitted : { ...admitted, controller: owner };
    const nameOf = (index: number): string => {
      if (controller === KEEPS_NAME) return `${name}-${String(index)}`;
      return count === 1 ? name : `${name}-${String(index + 1)}`;
    };
    return Array.from({ length: count }, (_item, index) => named(pod, owned, nameOf(index)));
  }

  /** The pod with the priority of its class (DefaultTolerationSeconds: 300 s for a node that fails). */
  #admitted({ scheduling }: SimulatedPod, document: Field): SchedulerPod {
    const spec = member(document, 'spec');
    const admission = admitPriority(
      {
        name: scheduling.name,
        priorityClassName: textOf(member(spec, 'priorityClassName')),
        priority: integerOf(member(spec, 'priority'), 'int32'),
        preemptionPolicy: textOf(member(spec, 'preemptionPolicy')),
      },
      this.#classes,
    );
    if (!admission.allowed) throw new DocumentError(admission.error, { path: 'spec.priorityClassName' });
    return {
      ...scheduling,
      priority: Number(admission.priority),
      preemptionPolicy: admission.preemptionPolicy === 'Never' ? 'Never' : 'PreemptLowerPriority',
      tolerations: defaultTolerationSeconds(scheduling.tolerations),
    };
  }
}

type TemplateHash = Readonly<Record<string, string>>;

/** A label that pods of another template do not have. (The value differs from that of Kubernetes.) */
function hashOf(template: Field): TemplateHash {
  const text = JSON.stringify(template.value, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  return { 'pod-template-hash': createHash('sha256').update(text).digest('hex').slice(0, 10) };
}

const DEFAULT_SECONDS = 300n;

/** The admission plugin DefaultTolerationSeconds (v1.36.2): looks at key and effect only. */
function defaultTolerationSeconds(tolerations: SchedulerPod['tolerations']): SchedulerPod['tolerations'] {
  const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
    (name) => !tolerations.some(({ key, effect }) => [name, ''].includes(key) && ['NoExecute', ''].includes(effect)),
  );
  const added = missing.map((key) => ({ key, operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds: DEFAULT_SECONDS }));
  return [...tolerations, ...added];
}

function named(pod: SimulatedPod, scheduling: SchedulerPod, name: string): SimulatedPod {
  const path = `${scheduling.namespace}/${name}`;
  return {
    ...pod,
    ...{ phase: 'Pending', ready: true },
    scheduling: { ...scheduling, name, uid: '' },
    workload: { ...pod.workload, id: path, name, path, priority: scheduling.priority },
  };
}
