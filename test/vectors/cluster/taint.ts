// What the cluster vectors need of taints and tolerations (component-helpers/scheduling/corev1, v1.36.2).
import type { Taint } from '../../../src/core/disruption/taint.js';
import {
  findMatchingUntoleratedTaint as untolerated,
  toleratesTaint as toleratesEqual,
  type Toleration,
} from '../../../src/core/disruption/toleration.js';

/** TaintTolerationComparisonOperators: whether the operators Gt and Lt count. */
export type ComparisonGate = 'off' | 'on';

/** 64 bits, without a plus sign, leading zeros or a negative zero. */
const CANONICAL_INTEGER = /^(0|-?[1-9][0-9]*)$/;

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

/** undefined: not the canonical text of an integer of 64 bits. */
export function int64(text: string): bigint | undefined {
  if (!CANONICAL_INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  return value === BigInt.asIntN(64, value) ? value : undefined;
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
