import { amountOfBytes } from '../core/amount.js';
import { jsonInteger } from '../core/integer.js';
import { broken, ok, type Check } from './check.js';
import type { NodeFacts } from './facts/node.js';

const ID = 'node.memory';

/** What is guarded, and how much memory it has. */
export function checkNode({ name, missing, capacities }: NodeFacts): Check {
  if (missing) return broken(ID, missing.message, missing.hint ?? 'correct node.cgroup', { node: name });
  const capacity = capacities.get('memory.available');
  if (capacity === undefined) return broken(ID, `${name}: its memory cannot be read`, 'evictd check says why', { node: name });
  return ok(ID, `${name}, ${amountOfBytes(capacity)}`, { node: name, capacityBytes: jsonInteger(capacity) });
}
