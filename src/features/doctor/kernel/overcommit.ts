import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { MemoryFacts } from '../../../host/facts/kernel-facts.js';
import type { NodeFacts } from '../facts/node-facts.js';
import { hardMemoryLimit } from './memory-limit.js';

const ID = 'kernel.overcommit';

const STRICT = 2;

/**
 * With strict accounting malloc fails at CommitLimit (Documentation/mm/overcommit-accounting.rst), and the process that
 * allocates may crash. If that happens before the threshold is met, evictd cannot choose the victim.
 */
export function checkOvercommit({ overcommitMemory, totalBytes, commitLimitBytes }: MemoryFacts, node: NodeFacts): Check {
  const details = { overcommitMemory: overcommitMemory ?? null, commitLimitBytes: jsonInteger(commitLimitBytes) };
  if (overcommitMemory !== STRICT) return ok(ID, `vm.overcommit_memory=${String(overcommitMemory ?? 'unknown')}`, details);
  const limit = hardMemoryLimit(node);
  const needed = totalBytes - (limit?.bytes ?? 0n);
  const what = `vm.overcommit_memory=2, CommitLimit ${amountOfBytes(commitLimitBytes)}`;
  if (commitLimitBytes > needed) return ok(ID, `${what}: the threshold is met before allocations fail`, details);
  const reached = limit === undefined ? 'memory is used up' : `${limit.text} is met`;
  const summary = `${what}: allocations fail before ${reached} (at ${amountOfBytes(needed)} in use), and any process may crash`;
  return degraded(ID, summary, 'sysctl vm.overcommit_memory=0, or raise vm.overcommit_ratio', details);
}

export const overcommitCheck = defineCheck(ID, ['memory', 'node'], ({ memory, node }) => checkOvercommit(memory, node));
