// The validation of a pod's tolerations by the API server (pkg/apis/core/validation, v1.36.2).
import {
  invalid,
  tolerationProblems,
  unsupported,
  VALUE_RULES,
  type TolerationProblem,
  type ValueRules,
} from '../../../src/core/disruption/toleration-validation.js';
import type { Toleration } from '../../../src/core/disruption/toleration.js';
import { int64 } from '../../../src/core/scheduling/label-selector.js';
import type { ComparisonGate } from './taint.js';

interface FieldError {
  readonly type: TolerationProblem['type'];
  readonly field: string;
  /** With the field in front. */
  readonly message: string;
}

const refused = (operator: string) => () => [unsupported('operator', operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
const compared = (value: string) => integerErrors(value).map((message) => invalid('value', value, message));

const RULES: Readonly<Record<ComparisonGate, ValueRules>> = {
  off: { ...VALUE_RULES, Lt: refused('Lt'), Gt: refused('Gt') },
  on: { ...VALUE_RULES, Lt: compared, Gt: compared },
};

export function validateToleration(toleration: Toleration, path: string, gate: ComparisonGate): readonly FieldError[] {
  return tolerationProblems(toleration, RULES[gate]).map(({ type, field, message }) => {
    return { type, field: `${path}.${field}`, message: `${path}.${field}: ${message}` };
  });
}

/** A canonical integer that fits into 64 bits. Go's parser accepts a plus sign and leading zeros, and names the rest. */
function integerErrors(value: string): readonly string[] {
  if (int64(value) !== undefined) return [];
  const canonical = /^(0|-?[1-9][0-9]*)$/.test(value) ? [] : ['must be a valid decimal integer in canonical form'];
  const parsing = `strconv.ParseInt: parsing ${JSON.stringify(value)}`;
  if (!/^[-+]?[0-9]+$/.test(value)) return [...canonical, `${parsing}: invalid syntax`];
  const number = BigInt(value.replace(/^\+/, ''));
  return number === BigInt.asIntN(64, number) ? canonical : [...canonical, `${parsing}: value out of range`];
}
