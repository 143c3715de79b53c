import { admitPriority, type PriorityClass } from '../../core/scheduling/priority-admission.js';
import type { SchedulerPod } from '../../core/scheduling/scheduler-pod.js';
import type { SimulatedPod } from '../../core/simulation/simulated-pod.js';
import { SYSTEM_CLASSES } from '../../core/disruption/priority-class.js';
import { DocumentError, InputError } from '../../errors.js';
import { integerOf, isAbsent, member, textOf, wrong, type Field } from '../../kubernetes/document.js';
import { readObjects, type FoundObject } from '../../kubernetes/objects/object-file.js';
import { simulatedPodAt } from '../kubernetes/cluster/pod-document.js';

/** Kinds whose pods have a template, by apiVersion. */
const TEMPLATES: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  ReplicationController: 'v1',
  Job: 'batch/v1',
};

/** Pods of `--add`: as the API server admits them. */
export class AddedPods {
  readonly #classes: readonly PriorityClass[];

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
   * @throws InputError  the file cannot be read, or is no pod, or the API server would refuse it
   */
  read(path: string, replicas: number | undefined): readonly SimulatedPod[] {
    const file = path === '-' ? 'standard input' : path;
    const pods: SimulatedPod[] = [];
    const refused = (message: string, at: { readonly line: number; readonly column: number }): InputError =>
      new InputError('EVICTD_KUBERNETES_DOCUMENT', `${file}:${String(at.line)}:${String(at.column)}: ${message}`, { isMissing: false });
    readObjects(path, {
      bad: ({ message, at }) => {
        throw refused(message, at);
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
    const templateMetadata = member(template, 'metadata').value as object | undefined;
    const own = { namespace: textOf(member(metadata, 'namespace')), name: textOf(member(metadata, 'name')) };
    const pod: Field = {
      value: { kind: 'Pod', apiVersion: 'v1', ...(template.value as object), metadata: { ...templateMetadata, ...own } },
      path: '',
    };
    const count = replicas ?? Number(integerOf(member(spec, kind === 'Job' ? 'parallelism' : 'replicas'), 'int32') ?? 1n);
    return this.#copies(pod, count, kind === 'Deployment' ? 'ReplicaSet' : kind);
  }

  #copies(document: Field, count: number, controller: string | undefined): readonly SimulatedPod[] {
    const pod = simulatedPodAt(document);
    const { name } = pod.scheduling;
    const admitted = this.#admitted(pod, document);
    const owned: SchedulerPod = controller === undefined ? admitted : { ...admitted, controller: { kind: controller, name } };
    return Array.from({ length: count }, (_item, index) => named(pod, owned, count === 1 ? name : `${name}-${String(index + 1)}`));
  }

  /** With the priority of its class (DefaultTolerationSeconds: of 300 s for a node that fails). */
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
      ...{ priority: Number(admission.priority), nodeName: '' },
      preemptionPolicy: admission.preemptionPolicy === 'Never' ? 'Never' : 'PreemptLowerPriority',
      tolerations: defaultTolerationSeconds(scheduling.tolerations),
    };
  }
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
