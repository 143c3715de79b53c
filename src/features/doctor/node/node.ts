import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { broken, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { NodeFacts } from '../facts/node-facts.js';

const ID = 'node.memory';

export function checkNode({ name, missing, capacities }: NodeFacts): Check {
  if (missing) return broken(ID, missing.message, missing.hint ?? 'correct node.cgroup', { node: name });
  const capacity = capacities.get('memory.available');
  if (capacity === undefined) return broken(ID, `${name}: cannot read its memory`, 'see evictd check', { node: name });
  return ok(ID, `${name}, ${amountOfBytes(capacity)}`, { node: name, capacityBytes: jsonInteger(capacity) });
}

export const nodeCheck = defineCheck(ID, ['node'], ({ node }) => checkNode(node));
