/** v1.Toleration; '' stands for a field that is not set. For how long it tolerates plays no part at admission. */
export interface Toleration {
  /** '': every key. */
  readonly key: string;
  /** '' is Equal. */
  readonly operator: string;
  readonly value: string;
  /** '': every effect. */
  readonly effect: string;
}

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/**
 * Whether one of these tolerates the taint (component-helpers/scheduling/corev1, TolerationsTolerateTaint, v1.36.2).
 */
export function tolerationsTolerateTaint(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some((toleration) => toleratesTaint(toleration, taint));
}

/**
 * An empty key stands for every key with Equal, too, which the API refuses and the kubelet does not. An operator other
 * than Equal and Exists tolerates nothing; those that compare (Lt, Gt) are behind a feature gate that is off.
 */
function toleratesTaint({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
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
