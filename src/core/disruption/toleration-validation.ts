import { labelKeyErrors, labelValueErrors } from '../name/label.js';
import { TAINT_EFFECTS } from './taint.js';
import type { Toleration } from './toleration.js';

export interface TolerationProblem {
  readonly type: 'FieldValueInvalid' | 'FieldValueNotSupported';
  readonly field: 'key' | 'operator' | 'value' | 'effect';
  readonly message: string;
}

type Field = TolerationProblem['field'];

/** What is wrong with a value, by the operator. */
export type ValueRules = Readonly<Record<string, (value: string) => readonly TolerationProblem[]>>;

const equal = (value: string): readonly TolerationProblem[] => {
  const problems = labelValueErrors(value);
  return problems.length === 0 ? [] : [invalid('operator', value, problems.join(';'))];
};

/** The API reports a wrong value as a wrong operator. */
export const VALUE_RULES: ValueRules = {
  '': equal,
  Equal: equal,
  Exists: (value) => (value === '' ? [] : [invalid('operator', value, "value must be empty when `operator` is 'Exists'")]),
};

/**
 * What is wrong with a toleration (pkg/apis/core/validation, ValidateTolerations, v1.36.2). Empty: nothing.
 *
 * @param rules  of the operators that are accepted
 */
export function tolerationProblems(toleration: Toleration, rules: ValueRules = VALUE_RULES): readonly TolerationProblem[] {
  const { key, operator, value, effect, tolerationSeconds } = toleration;
  const problems = key === '' ? [] : labelKeyErrors(key).map((message) => invalid('key', key, message));
  if (key === '' && operator !== 'Exists')
    problems.push(
      invalid('operator', operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"'),
    );
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    problems.push(invalid('effect', effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  const ofValue = Object.hasOwn(rules, operator) ? rules[operator] : undefined;
  problems.push(...(ofValue?.(value) ?? [unsupported('operator', operator, ['Equal', 'Exists'])]));
  if (effect !== '' && !TAINT_EFFECTS.some((known) => known === effect)) problems.push(unsupported('effect', effect, TAINT_EFFECTS));
  return problems;
}

export function invalid(field: Field, given: string, message: string): TolerationProblem {
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(given)}: ${message}` };
}

export function unsupported(field: Field, given: string, supported: readonly string[]): TolerationProblem {
  const words = supported.map((word) => JSON.stringify(word)).join(', ');
  return { type: 'FieldValueNotSupported', field, message: `Unsupported value: ${JSON.stringify(given)}: supported values: ${words}` };
}
