import { amountOfBytes } from '../core/amount.js';
import { jsonInteger } from '../core/integer.js';
import { degraded, ok, type Check } from './check.js';
import type { MemoryFacts } from './facts/kernel.js';
import type { NodeFacts } from './facts/node.js';
import { hardMemoryLimit } from './memory-limit.js';

const ID = 'kernel.overcommit';

const STRICT = 2;

/**
 * With strict accounting malloc fails at CommitLimit (Documentation/mm/overcommit-accounting.rst): a process that cannot bear that ends by itself, whoever it is,
 * and where that is before the threshold evictd never gets to choose.
 */
export function checkOvercommit({ overcommitMemory, totalBytes, commitLimitBytes }: MemoryFacts, node: NodeFacts): Check {
  const details = { overcommitMemory: overcommitMemory ?? null, commitLimitBytes: jsonInteger(commitLimitBytes) };
  if (overcommitMemory !== STRICT) return ok(ID, `vm.overcommit_memory=${String(overcommitMemory ?? 'unknown')}`, details);
  const limit = hardMemoryLimit(node);
  const needed = totalBytes - (limit?.bytes ?? 0n);
  const what = `vm.overcommit_memory=2, CommitLimit ${amountOfBytes(commitLimitBytes)}`;
  if (commitLimitBytes > needed) return ok(ID, `${what}: allocations fail only beyond what evictd acts at`, details);
  const said = `${what}: allocations fail before ${limit?.text ?? 'memory is used up'}, which takes ${amountOfBytes(needed)} in use, and whoever asked for them may end`;
  return degraded(ID, said, 'sysctl vm.overcommit_memory=0, or a larger vm.overcommit_ratio', details);
}
