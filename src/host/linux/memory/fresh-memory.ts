import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryReading } from './memory.js';
import type { StatisticsOf } from './memory-reserve.js';

/**
 * A smaller difference is not worth a walk; the kernel's own error is as large (64 pages for each CPU and cgroup, three
 * times).
 */
const SLACK = 8n << 20n;

/**
 * Corrects inactive_file of a cgroup with children where memory.stat is behind the usage.
 *
 * Usage is counted at once. The kernel flushes statistics every 2 s, and when memory.stat is read and enough has
 * changed. A cgroup that has already reported enough does not report more to its parents (memcg_rstat_updated(),
 * mm/memcontrol.c); if that happens during a flush, the parents' memory.stat stands still for up to 2 s and page cache
 * looks like memory in use (seen with Linux 6.18: 200 MiB were read into a cgroup, none of it was in the parent's
 * statistics). A cgroup without children has exact statistics.
 */
export class CurrentStatistics {
  readonly #cgroup: StatisticsOf;
  /** Usage that no statistics explain: at most the kernel's own memory. */
  #unexplained = 0n;
  #isBehind = false;

  constructor(cgroup: StatisticsOf) {
    this.#cgroup = cgroup;
  }

  /** The last reading was corrected: read again soon, because no event may follow. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  of(reading: MemoryReading): MemoryReading {
    this.#isBehind = false;
    const { usage, pages, inactiveFile } = reading;
    if (pages === undefined) return reading;
    const unexplained = usage - pages;
    if (unexplained <= this.#unexplained + SLACK) {
      if (unexplained < this.#unexplained) this.#unexplained = unexplained;
      return reading;
    }
    const below = inactiveFileIn(this.#cgroup);
    this.#isBehind = below > inactiveFile + SLACK;
    if (this.#isBehind) return { ...reading, inactiveFile: below };
    this.#unexplained = unexplained;
    return reading;
  }
}

/**
 * Sums the cgroups' own counts. On v1 every cgroup can have pages, on v2 only leaves. Pages of removed cgroups are in
 * the parents' statistics alone.
 */
function inactiveFileIn({ directory, version }: StatisticsOf): bigint {
  const children = subdirectories(directory);
  const below = children.reduce((sum, name) => sum + inactiveFileIn({ directory: join(directory, name), version }), 0n);
  return version === 1 || children.length === 0 ? below + ownInactiveFile(directory) : below;
}

/** Empty where the cgroup was removed. */
function subdirectories(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

function ownInactiveFile(directory: string): bigint {
  try {
    return BigInt(/^inactive_file (\d+)$/m.exec(readFileSync(join(directory, 'memory.stat'), 'utf8'))?.[1] ?? 0);
  } catch {
    return 0n;
  }
}
