import { memoryGrowth, type MemoryGrowth, type MemoryHoldings } from '../../core/budget/memory-growth.js';
import type { AlertKind } from '../../core/decide/effect.js';
import type { Decision } from '../../core/decide/eviction.js';
import { withAncestors } from '../../core/workload/cgroup.js';
import { selectHost, type Host, type LinuxNode } from '../../host/select.js';
import type { GrowthReader, StepListener, StepReport, WorkloadSource } from '../../monitor/ports/ports.js';
import { native } from '../../native/index.js';

export interface GrowthParts {
  readonly node: Pick<LinuxNode, 'identity' | 'hierarchy'>;
  readonly workloads: Pick<WorkloadSource, 'holding'>;
}

/** The longest time over which growth is compared. */
const WITHIN_NS = 600_000_000_000n;

/**
 * Finds what outside the workloads has grown since an eviction for memory. Reads when the signal of an eviction has been
 * sent, and when evictd stops evicting; never at rest.
 */
export class OutsideGrowth implements StepListener, GrowthReader {
  readonly #parts: GrowthParts;
  readonly #readHoldings: Host['readMemoryHoldings'];
  /** Of the first eviction of the last minutes, and of the last. */
  #first: MemoryHoldings | undefined;
  #last: MemoryHoldings | undefined;
  /** Cgroups above the workloads that were there since the first. */
  #above = new Set<string>();

  constructor(parts: GrowthParts, { readMemoryHoldings }: Pick<Host, 'readMemoryHoldings'> = selectHost()) {
    this.#parts = parts;
    this.#readHoldings = readMemoryHoldings;
  }

  stepped({ effects }: Pick<StepReport, 'effects'>): void {
    const evicted = effects.flatMap((effect) => (effect.kind === 'evict' && isOfMemory(effect.decision) ? [effect.decision] : []));
    const [decision] = evicted;
    if (decision === undefined) return;
    if (this.#first !== undefined && decision.decidedAtNs - this.#first.atNs > WITHIN_NS) {
      this.#first = undefined;
      this.#above = new Set();
    }
    for (const { workload } of decision.ranking) for (const above of withAncestors(workload.path).slice(1)) this.#above.add(above);
    this.#last = this.#read();
    this.#first ??= this.#last;
  }

  skipped(): boolean {
    return true;
  }

  growth(alert: AlertKind): MemoryGrowth | undefined {
    const before = alert === 'budget-exhausted' ? this.#first : this.#last;
    const after = before && this.#read();
    return before && after && memoryGrowth(before, after);
  }

  close(): void {
    this.#first = this.#last = undefined;
  }

  #read(): MemoryHoldings | undefined {
    const { node, workloads } = this.#parts;
    return this.#readHoldings?.(native, node.hierarchy, node.identity.cgroup, (path) => {
      if (workloads.holding(path) !== undefined) return 'workload';
      return this.#above.has(path) ? 'above' : 'outside';
    });
  }
}

function isOfMemory({ resource, dryRun }: Decision): boolean {
  return resource === 'memory' && !dryRun;
}
