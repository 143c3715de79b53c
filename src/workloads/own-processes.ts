import { closeSync, openSync, readSync } from 'node:fs';
import { membership, type CgroupHierarchy } from '../core/cgroup.js';

/** evictd or a process that it descends from. */
export interface OwnProcess {
  readonly pid: number;
  /** Its cgroup in the kernel's words; undefined: not known. */
  readonly cgroup: string | undefined;
}

interface Kept {
  readonly pid: number;
  readonly stat: number;
  readonly cgroup: number;
}

/**
 * evictd and its ancestors, up to process 1: ending one of them would, sooner or later, end evictd. Their /proc files stay open, because this is
 * read before every decision; processes end, are adopted and move, so everything is read each time.
 */
export class OwnProcesses {
  readonly #hierarchy: CgroupHierarchy;
  readonly #chain: Kept[] = [];
  readonly #buffer = Buffer.alloc(16 * 1024);

  constructor(hierarchy: CgroupHierarchy) {
    this.#hierarchy = hierarchy;
  }

  /** Itself first, always. What may not be read (hidepid) ends the list. */
  read(): OwnProcess[] {
    // A process that ends in the middle has its child adopted: one more look finds the new parent.
    const found = this.#walk() ?? this.#walk() ?? [];
    return found.length > 0 ? found : [{ pid: process.pid, cgroup: undefined }];
  }

  close(): void {
    this.#forget(0);
  }

  /** undefined: an ancestor ended meanwhile. */
  #walk(): OwnProcess[] | undefined {
    const found: OwnProcess[] = [];
    let pid = process.pid;
    for (let level = 0; pid > 0; level++) {
      const kept = this.#keep(level, pid);
      if (kept === undefined) break;
      try {
        found.push({ pid, cgroup: membership(this.#text(kept.cgroup), this.#hierarchy) });
        pid = parentPid(this.#text(kept.stat));
      } catch {
        this.#forget(level);
        return undefined;
      }
    }
    return found;
  }

  #keep(level: number, pid: number): Kept | undefined {
    const known = this.#chain[level];
    if (known?.pid === pid) return known;
    this.#forget(level);
    let stat: number | undefined;
    try {
      stat = openSync(`/proc/${String(pid)}/stat`, 'r');
      const kept = { pid, stat, cgroup: openSync(`/proc/${String(pid)}/cgroup`, 'r') };
      this.#chain.push(kept);
      return kept;
    } catch {
      if (stat !== undefined) closeSync(stat);
      return undefined;
    }
  }

  #text(file: number): string {
    return this.#buffer.toString('utf8', 0, readSync(file, this.#buffer, 0, this.#buffer.length, 0));
  }

  #forget(from: number): void {
    for (const { stat, cgroup } of this.#chain.splice(from)) {
      closeSync(stat);
      closeSync(cgroup);
    }
  }
}

/** The fourth field of /proc/PID/stat; the second is the command's name in parentheses and may hold anything. 0: it has no parent that is visible here. */
function parentPid(stat: string): number {
  const [, parent] = /^ \S (\d+)/.exec(stat.slice(stat.lastIndexOf(')') + 1)) ?? [];
  return Number(parent ?? 0);
}
