// Labels and what selects them (apimachinery/pkg/labels, component-helpers/scheduling/corev1/nodeaffinity, v1.36.2).

export type Labels = ReadonlyMap<string, string>;

export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
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

/** 64 bits, without a plus sign, leading zeros or a negative zero. */
const CANONICAL_INTEGER = /^(0|-?[1-9][0-9]*)$/;

/** undefined: not the canonical text of an integer of 64 bits. */
export function int64(text: string): bigint | undefined {
  if (!CANONICAL_INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  return value === BigInt.asIntN(64, value) ? value : undefined;
}

/** Reads a decimal number of 64 bits as strconv.ParseInt does. */
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

/** An invalid selector selects nothing. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  return selector?.requirements.every((requirement) => meets(labels, requirement) === true) ?? false;
}
