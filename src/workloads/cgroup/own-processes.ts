import { closeSync, openSync, readSync } from 'node:fs';
import { textOfBytes } from '../../core/name/byte-text.js';
import { isBelow, membership, pathBelowMount, withAncestors, type CgroupHierarchy } from '../../core/workload/cgroup.js';

/** evictd or one of its ancestors. */
export interface OwnProcess {
  readonly pid: number;
  /** The kernel's path; undefined: unknown. */
  readonly cgroup: string | undefined;
}

interface Kept {
  readonly pid: number;
  readonly stat: number;
  readonly cgroup: number;
  /** What its file said last, and what that means: at rest the same. */
  read?: { readonly bytes: Buffer; readonly own: OwnProcess };
}

/**
 * evictd and its ancestors up to process 1: ending one could end evictd. Their /proc files stay open and are read
 * before every decision, because processes end, are adopted and move.
 */
export class OwnProcesses {
  readonly #chain: Kept[] = [];
  readonly #buffer = Buffer.alloc(16 * 1024);

  constructor(private readonly hierarchy: CgroupHierarchy) {}

  /** evictd first. An unreadable ancestor (hidepid) ends the list. */
  read(): OwnProcess[] {
    // If an ancestor ends meanwhile, its child has a new parent: walk again.
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
        found.push(this.#own(kept));
        pid = this.#parentOf(kept);
      } catch {
        this.#forget(level);
        return undefined;
      }
    }
    return found;
  }

  #own(kept: Kept): OwnProcess {
    const bytes = this.#bytes(kept.cgroup);
    if (kept.read?.bytes.equals(bytes) !== true) {
      kept.read = { bytes: Buffer.from(bytes), own: { pid: kept.pid, cgroup: membership(textOfBytes(bytes), this.hierarchy) } };
    }
    return kept.read.own;
  }

  #parentOf({ pid, stat }: Kept): number {
    if (pid === process.pid) return process.ppid;
    return pid === 1 ? 0 : parentPid(this.#bytes(stat));
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

  /** Valid until the next call. */
  #bytes(file: number): Buffer {
    return this.#buffer.subarray(0, readSync(file, this.#buffer, 0, this.#buffer.length, 0));
  }

  #forget(from: number): void {
    for (const { stat, cgroup } of this.#chain.splice(from)) {
      closeSync(stat);
      closeSync(cgroup);
    }
  }
}

/** Whether one of them is in the cgroup or below; undefined: a namespace or the mount hides that. */
export function holdsAny(path: string, own: readonly OwnProcess[], hierarchy: CgroupHierarchy): boolean | undefined {
  const places = own.map(({ cgroup }) => (cgroup === undefined ? undefined : pathBelowMount(cgroup, hierarchy)));
  if (places.some((place) => place !== undefined && (place === path || isBelow(place, path)))) return true;
  return places.includes(undefined) ? undefined : false;
}

/**
 * The cgroups with one of them inside or below.
 *
 * @param search  the cgroups with one of these processes, whose place a namespace or the mount hides
 */
export function cgroupsHolding(
  own: readonly OwnProcess[],
  hierarchy: CgroupHierarchy,
  search: (hidden: readonly number[]) => readonly string[],
): ReadonlySet<string> {
  const paths = new Set<string>();
  const hidden: number[] = [];
  for (const { pid, cgroup } of own) {
    const path = cgroup === undefined ? undefined : pathBelowMount(cgroup, hierarchy);
    if (path === undefined) hidden.push(pid);
    else for (const above of withAncestors(path)) paths.add(above);
  }
  if (hidden.length > 0) for (const path of search(hidden)) paths.add(path);
  return paths;
}

/** Field 4 of /proc/PID/stat; field 2, the command in parentheses, may contain anything. 0: no visible parent. */
function parentPid(stat: Buffer): number {
  const begin = stat.lastIndexOf(') ') + ') S '.length;
  return Number(stat.toString('latin1', begin, stat.indexOf(' ', begin)));
}
