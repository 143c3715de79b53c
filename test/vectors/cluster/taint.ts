// What the cluster vectors need of taints and tolerations (component-helpers/scheduling/corev1, v1.36.2).
import type { Taint } from '../../../src/core/disruption/taint.js';
import { int64 } from '../../../src/core/scheduling/label-selector.js';
import {
  findMatchingUntoleratedTaint as untolerated,
  toleratesTaint as toleratesEqual,
  type Toleration,
} from '../../../src/core/disruption/toleration.js';

/** TaintTolerationComparisonOperators: whether the operators Gt and Lt count. */
export type ComparisonGate = 'off' | 'on';

export function toleratesTaint(toleration: Toleration, taint: Taint, gate: ComparisonGate): boolean {
  const { key, operator, value, effect } = toleration;
  if (operator !== 'Gt' && operator !== 'Lt') return toleratesEqual(toleration, taint);
  if (gate === 'off' || !['', taint.effect].includes(effect) || !['', taint.key].includes(key)) return false;
  return compares(taint.value, operator, value);
}

/** Taint on the left, toleration on the right. */
function compares(taint: string, operator: 'Gt' | 'Lt', toleration: string): boolean {
  const [left, right] = [int64(taint), int64(toleration)];
  if (left === undefined || right === undefined) return false;
  return operator === 'Gt' ? left > right : left < right;
}

/** The first taint with one of these effects that no toleration tolerates. */
export function findMatchingUntoleratedTaint(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly Taint['effect'][],
  gate: ComparisonGate,
): Taint | undefined {
  return untolerated(taints, tolerations, effects, (toleration, taint) => toleratesTaint(toleration, taint, gate));
}
