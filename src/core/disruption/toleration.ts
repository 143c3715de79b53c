import type { Taint } from './taint.js';

/** v1.Toleration; '' stands for a field that is not set. */
export interface Toleration {
  /** '': every key. */
  readonly key: string;
  /** '' is Equal. */
  readonly operator: string;
  readonly value: string;
  /** '': every effect. */
  readonly effect: string;
  /** The time for which it tolerates NoExecute. It plays no part at admission. Left out: for ever. */
  readonly tolerationSeconds?: bigint | undefined;
}

export type Tolerates = (toleration: Toleration, taint: Taint) => boolean;

/**
 * Whether it tolerates the taint (component-helpers/scheduling/corev1, Toleration.ToleratesTaint, v1.36.2).
 *
 * An empty key stands for every key with Equal, too, which the API refuses and the kubelet does not. An operator other
 * than Equal and Exists tolerates nothing; those that compare (Lt, Gt) are behind a feature gate that is off.
 */
export function toleratesTaint({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  switch (operator) {
    case '':
    case 'Equal':
      return value === taint.value;
    case 'Exists':
      return true;
    default:
      return false;
  }
}

/** The first taint with one of these effects that no toleration tolerates. */
export function findMatchingUntoleratedTaint(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly Taint['effect'][],
  tolerates: Tolerates = toleratesTaint,
): Taint | undefined {
  return taints.find((taint) => effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)));
}
