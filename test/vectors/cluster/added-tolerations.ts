// Tolerations that controllers and admission plugins add to pods (v1.36.2).
import type { Toleration } from '../../../src/core/disruption/toleration.js';

const PREFIX = 'node.kubernetes.io/';
const DEFAULT_SECONDS = 300n;

function exists(name: string, effect: string, tolerationSeconds?: bigint): Toleration {
  return { key: `${PREFIX}${name}`, operator: 'Exists', value: '', effect, tolerationSeconds };
}

/** pkg/controller/daemon/util, AddOrUpdateDaemonPodTolerations. */
export function daemonSetTolerations(tolerations: readonly Toleration[], hostNetwork: boolean): readonly Toleration[] {
  const added = [
    exists('not-ready', 'NoExecute'),
    exists('unreachable', 'NoExecute'),
    ...['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map((name) => exists(name, 'NoSchedule')),
    ...(hostNetwork ? [exists('network-unavailable', 'NoSchedule')] : []),
  ];
  return added.reduce(addOrUpdate, tolerations);
}

/** A toleration that differs in its seconds only is replaced. */
function addOrUpdate(tolerations: readonly Toleration[], added: Toleration): readonly Toleration[] {
  const matches = (other: Toleration): boolean =>
    other.key === added.key && other.effect === added.effect && other.operator === added.operator && other.value === added.value;
  return tolerations.some(matches) ? tolerations.map((other) => (matches(other) ? added : other)) : [...tolerations, added];
}

/** The admission plugin DefaultTolerationSeconds: looks at key and effect only. */
export function defaultTolerationSeconds(tolerations: readonly Toleration[]): readonly Toleration[] {
  const tolerates = (name: string): boolean =>
    tolerations.some(({ key, effect }) => [`${PREFIX}${name}`, ''].includes(key) && ['NoExecute', ''].includes(effect));
  const missing = ['not-ready', 'unreachable'].filter((name) => !tolerates(name));
  return [...tolerations, ...missing.map((name) => exists(name, 'NoExecute', DEFAULT_SECONDS))];
}

/** The admission plugin PodTolerationRestriction, for a pod that is not best-effort. */
export function memoryPressureToleration(tolerations: readonly Toleration[]): readonly Toleration[] {
  return mergeTolerations([...tolerations, exists('memory-pressure', 'NoSchedule')]);
}

/** pkg/util/tolerations, MergeTolerations: leaves out what another one includes; of equal ones the first stays. */
function mergeTolerations(all: readonly Toleration[]): readonly Toleration[] {
  const merged: Toleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isRedundant =
      merged.some((kept) => isSuperset(kept, toleration)) ||
      all.slice(index + 1).some((later) => !isEqual(later, toleration) && isSuperset(later, toleration));
    if (!isRedundant) merged.push(toleration);
  }
  return merged;
}

function isSuperset(wide: Toleration, narrow: Toleration): boolean {
  if (isEqual(wide, narrow)) return true;
  if (narrow.key !== wide.key && (wide.key !== '' || wide.operator !== 'Exists')) return false;
  if (narrow.effect !== wide.effect && wide.effect !== '') return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return ['', 'Equal'].includes(wide.operator) && narrow.operator === wide.operator && narrow.value === wide.value;
}

function isEqual(one: Toleration, other: Toleration): boolean {
  return (
    one.key === other.key &&
    one.operator === other.operator &&
    one.value === other.value &&
    one.effect === other.effect &&
    one.tolerationSeconds === other.tolerationSeconds
  );
}
