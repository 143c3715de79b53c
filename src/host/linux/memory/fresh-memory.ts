import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OrderCondition } from '../../../monitor/ports/standing-order.js';
import type { MemoryReading, Statistics } from './memory.js';
import { fsPath } from '../../../byte-paths.js';
import { cgroupTree } from '../cgroup/cgroup-tree.js';
import { attempt } from '../../../errors.js';

/**
 * A smaller difference is not worth a walk; the kernel's own error is as large (64 pages for each CPU and cgroup, three
 * times).
 */
const SLACK = 8n << 20n;

/**
 * Corrects the reclaimable memory of a cgroup with children where memory.stat is behind the usage.
 *
 * Usage is counted at once. The kernel flushes statistics every 2 s, and when memory.stat is read and enough has
 * changed. A cgroup that has already reported enough does not report more to its parents (memcg_rstat_updated(),
 * mm/memcontrol.c); if that happens during a flush, the parents' memory.stat stands still for up to 2 s and page cache
 * looks like memory in use (seen with Linux 6.18: 200 MiB were read into a cgroup, none of it was in the parent's
 * statistics). A cgroup without children has exact statistics.
 */
export class CurrentStatistics {
  /** Usage that no statistics explain: at most the kernel's own memory. */
  #unexplained = 0n;
  #isBehind = false;

  constructor(private readonly cgroup: Statistics) {}

  /** The last reading was corrected: read again soon, because no event may follow. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** The condition for the native layer, which cannot correct: the statistics explain the usage. */
  get condition(): OrderCondition {
    return { value: this.cgroup.explained, atLeast: -Number(this.#unexplained + SLACK) };
  }

  of(reading: MemoryReading): MemoryReading {
    this.#isBehind = false;
    const { usage, pages, reclaimable } = reading;
    if (pages === undefined) return reading;
    const unexplained = usage - pages;
    if (unexplained <= this.#unexplained + SLACK) {
      if (unexplained < this.#unexplained) this.#unexplained = unexplained;
      return reading;
    }
    const counts = countsIn(this.cgroup);
    const below = counts === undefined ? 0n : this.cgroup.reclaimableOf(counts);
    this.#isBehind = below > reclaimable + SLACK;
    if (this.#isBehind) return { ...reading, reclaimable: below };
    this.#unexplained = unexplained;
    return reading;
  }
}

/**
 * Sums the cgroups' own counts. On v1 every cgroup can have pages, on v2 only leaves. Pages of removed cgroups are in
 * the parents' statistics alone. undefined: too many cgroups, and the reading stays as it is.
 */
function countsIn({ directory, version, keys }: Statistics): readonly number[] | undefined {
  const none = keys.map(() => 0);
  return cgroupTree(directory)
    ?.filter(({ isLeaf }) => version === 1 || isLeaf)
    .map((cgroup) => ownCounts(cgroup.directory, keys))
    .reduce((sums, counts) => sums.map((sum, index) => sum + (counts[index] ?? 0)), none);
}

function ownCounts(directory: string, keys: readonly string[]): readonly number[] {
  const text = attempt(() => readFileSync(fsPath(join(directory, 'memory.stat')), 'latin1')) ?? '';
  return keys.map((key) => Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1] ?? 0));
}
