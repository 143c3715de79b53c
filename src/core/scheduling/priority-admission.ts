// The priority of a new pod by its class (plugin/pkg/admission/priority, v1.36.2).

export interface PriorityClass {
  readonly name: string;
  readonly value: bigint;
  readonly globalDefault: boolean;
  /** '': not set, which the API server does not store. */
  readonly preemptionPolicy: string;
}

export interface PrioritizedPod {
  readonly name: string;
  readonly priorityClassName: string;
  /** undefined: not set. */
  readonly priority: bigint | undefined;
  /** '': not set. */
  readonly preemptionPolicy: string;
}

export type PriorityAdmission =
  | {
      readonly allowed: true;
      readonly priority: bigint;
      readonly priorityClassName: string;
      /** undefined: neither the class nor the pod has one. */
      readonly preemptionPolicy: string | undefined;
    }
  | { readonly allowed: false; readonly code: 403; readonly error: string };

const NO_CLASS: PriorityClass = { name: '', value: 0n, globalDefault: false, preemptionPolicy: 'PreemptLowerPriority' };

/** What the pod says itself must agree with its class. A class without a policy leaves the pod its own. */
export function admitPriority(pod: PrioritizedPod, classes: readonly PriorityClass[]): PriorityAdmission {
  const refused = (why: string): PriorityAdmission => ({ allowed: false, code: 403, error: `pods "${pod.name}" is forbidden: ${why}` });
  const found = pod.priorityClassName === '' ? defaultClass(classes) : classes.find(({ name }) => name === pod.priorityClassName);
  if (found === undefined) return refused(`no PriorityClass with name ${pod.priorityClassName} was found`);
  const { name, value, preemptionPolicy } = found;
  const differs = (what: string, given: string, computed: string): PriorityAdmission =>
    refused(
      `the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`,
    );
  if (pod.priority !== undefined && pod.priority !== value)
    return differs('integer value of priority', String(pod.priority), String(value));
  if (preemptionPolicy !== '' && pod.preemptionPolicy !== '' && pod.preemptionPolicy !== preemptionPolicy)
    return differs('string value of PreemptionPolicy', pod.preemptionPolicy, preemptionPolicy);
  return {
    allowed: true,
    priority: value,
    priorityClassName: name,
    preemptionPolicy: preemptionPolicy || pod.preemptionPolicy || undefined,
  };
}

/** The default class; of several, the one with the lowest value. */
function defaultClass(classes: readonly PriorityClass[]): PriorityClass {
  const defaults = classes.filter(({ globalDefault }) => globalDefault);
  return defaults.reduce<PriorityClass>((least, found) => (least === NO_CLASS || found.value < least.value ? found : least), NO_CLASS);
}
