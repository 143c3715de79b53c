import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryReading } from './memory.js';

/** A cgroup with a memory.stat. */
export interface StatisticsOf {
  readonly directory: string;
  readonly version: 1 | 2;
}

/** Less than this is not worth a walk; the kernel itself is not more exact (64 pages for each processor and cgroup, three times). */
const SLACK = 8n << 20n;

/**
 * The inactive_file of a cgroup with others below it, where its memory.stat is behind its usage.
 *
 * Usage is counted at once. Statistics are collected when somebody reads memory.stat and enough has changed, and every 2 s. A cgroup that has already counted enough does not tell those above it of more (memcg_rstat_updated(),
 * mm/memcontrol.c), and where it came to that in the middle of a reading of theirs they were set back after it: then their memory.stat stands still for up to 2 s, while page cache seems to be memory that is in use (seen with
 * Linux 6.18: 200 MiB read into a cgroup, and none of it in the statistics above it). A cgroup without others below it tells what is so.
 */
export class FreshMemory {
  readonly #cgroup: StatisticsOf;
  /** What stands in the usage and in no statistics that are read: the kernel's own memory, at most. */
  #unexplained = 0n;
  #isBehind = false;

  constructor(cgroup: StatisticsOf) {
    this.#cgroup = cgroup;
  }

  /** Of the last reading: it is to be looked at again soon, for nothing may tell of what comes next. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** The same reading where its statistics are those of its usage. */
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

/** Of each cgroup by itself. On v1 all can have pages, on v2 those with nobody below. What has removed cgroups of these left is in the statistics above alone. */
function inactiveFileIn({ directory, version }: StatisticsOf): bigint {
  const children = subdirectories(directory);
  const below = children.reduce((sum, name) => sum + inactiveFileIn({ directory: join(directory, name), version }), 0n);
  return version === 1 || children.length === 0 ? below + ownInactiveFile(directory) : below;
}

/** A cgroup may be removed at any time: then nothing is in it. */
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
