// Labels and what selects them (apimachinery/pkg/labels, component-helpers/scheduling/corev1/nodeaffinity, v1.36.2).
import { isAbsent, items, member, members, textOf, type Field } from '../../../src/kubernetes/document.js';
import { int64 } from './taint.js';

export type Labels = ReadonlyMap<string, string>;

export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export function labelsAt(labels: Field): Labels {
  return new Map(members(labels).map(([name, value]) => [name, textOf(value)]));
}

export function requirementsAt(list: Field): readonly Requirement[] {
  return items(list).map((expression) => ({
    key: textOf(member(expression, 'key')),
    operator: textOf(member(expression, 'operator')),
    values: items(member(expression, 'values')).map(textOf),
  }));
}

/** undefined: invalid, such as In without values. */
export function meets(labels: Labels, { key, operator, values }: Requirement): boolean | undefined {
  const value = labels.get(key);
  switch (operator) {
    case 'In':
      return values.length === 0 ? undefined : value !== undefined && values.includes(value);
    case 'NotIn':
      return values.length === 0 ? undefined : value === undefined || !values.includes(value);
    case 'Exists':
      return values.length > 0 ? undefined : value !== undefined;
    case 'DoesNotExist':
      return values.length > 0 ? undefined : value === undefined;
    case 'Gt':
    case 'Lt':
      return compares(value, operator, values);
    default:
      return undefined;
  }
}

function compares(value: string | undefined, operator: 'Gt' | 'Lt', values: readonly string[]): boolean | undefined {
  const [bound = ''] = values;
  const limit = goInteger(bound);
  if (values.length !== 1 || limit === undefined) return undefined;
  const number = value === undefined ? undefined : goInteger(value);
  if (number === undefined) return false;
  return operator === 'Gt' ? number > limit : number < limit;
}

/** As strconv.ParseInt reads decimal numbers of 64 bits. */
function goInteger(text: string): bigint | undefined {
  const match = /^([-+]?)0*([0-9]+)$/.exec(text);
  if (match === null) return undefined;
  const [, sign = '', digits = ''] = match;
  return int64(digits === '0' ? '0' : `${sign === '-' ? '-' : ''}${digits}`);
}

/** metav1.LabelSelector. `undefined`: none is given, which selects nothing; an empty one selects all. */
export interface LabelSelector {
  readonly requirements: readonly Requirement[];
}

export function labelSelectorAt(selector: Field): LabelSelector | undefined {
  if (isAbsent(selector)) return undefined;
  const exact = members(member(selector, 'matchLabels')).map(([key, value]) => ({ key, operator: 'In', values: [textOf(value)] }));
  return { requirements: [...exact, ...requirementsAt(member(selector, 'matchExpressions'))] };
}

/** An invalid selector selects nothing. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  return selector?.requirements.every((requirement) => meets(labels, requirement) === true) ?? false;
}
