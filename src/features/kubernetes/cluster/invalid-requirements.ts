import { meets } from '../../../core/scheduling/label-selector.js';
import { items, member, members, textOf, wrong, type Field } from '../../../kubernetes/document.js';

const LABEL_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
/** Operators of node selectors. */
export const NODE_OPERATORS = [...LABEL_OPERATORS, 'Gt', 'Lt'] as const;
/** Keys that lead to selectors of nodes. */
const NODE_SELECTORS: ReadonlySet<string> = new Set(['nodeAffinity', 'nodeSelectorTerms', 'preference']);

/**
 * Requirements of the selectors in a document that the API server refuses: an unknown operator, values that are missing or too many. For
 * the scheduler they select nothing.
 */
export function* invalidRequirements(field: Field, operators: readonly string[] = LABEL_OPERATORS): Generator<string> {
  if (Array.isArray(field.value)) {
    for (const item of items(field)) yield* invalidRequirements(item, operators);
    return;
  }
  if (typeof field.value !== 'object') return;
  for (const [key, below] of members(field)) {
    if (key === 'matchExpressions' || key === 'matchFields') {
      for (const requirement of items(below)) yield* problemOf(requirement, key === 'matchFields' ? ['In', 'NotIn'] : operators);
    } else yield* invalidRequirements(below, NODE_SELECTORS.has(key) ? NODE_OPERATORS : operators);
  }
}

function* problemOf(requirement: Field, operators: readonly string[]): Generator<string> {
  const [operator, values] = [member(requirement, 'operator'), member(requirement, 'values')];
  const read = { key: '', operator: textOf(operator), values: items(values).map(textOf) };
  if (!operators.includes(read.operator)) yield `${wrong(operator, `one of ${operators.join(', ')}`).message}: it selects nothing`;
  else if (meets(new Map(), read) === undefined)
    yield `${values.path}: ${read.operator} takes ${takenBy(read.operator)}: it selects nothing`;
}

function takenBy(operator: string): string {
  if (operator === 'Gt' || operator === 'Lt') return 'one integer, as text';
  return operator.endsWith('In') ? 'at least one value' : 'no value';
}
