import { readFileSync, statSync } from 'node:fs';
import { cgroupDirectory, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { Binding, FileSpec } from '../../../native/binding.js';
import { fsPath } from '../../../byte-paths.js';
import { cgroupTree } from '../cgroup/cgroup-tree.js';

/** Their counters are read in some 0.3 s, and only after an OOM kill. */
const MAX_CGROUPS = 10_000;

/** Counts the kernel's OOM kills below the node. Only grows. */
export interface OomKillCounter {
  /** undefined: the kernel does not count them. */
  read(): number | undefined;
  close(): void;
}

export function machineOomKills(native: Binding): OomKillCounter {
  return counter(native, { path: '/proc/vmstat', format: 'keyed', keys: ['oom_kill'] });
}

export function cgroupOomKills(native: Binding, hierarchy: CgroupHierarchy, path: string): OomKillCounter {
  const directory = cgroupDirectory(hierarchy, path);
  if (hierarchy.version === 1) return new LeafOomKills(native, directory);
  return counter(native, { path: `${directory}/memory.events`, format: 'keyed', keys: ['oom_kill'] }); // hierarchical
}

function counter(native: Binding, file: FileSpec): OomKillCounter {
  const reader = new native.FileReader([file]);
  return {
    read: () => {
      reader.read();
      return reader.errors[0] === 0 ? reader.values[0] : undefined;
    },
    close: () => reader.close(),
  };
}

/**
 * cgroup v1 counts a kill only in memory.oom_control of the victim's cgroup (mm/memcontrol.c, memcg_memory_event), and
 * the count goes with the cgroup. So the tree is walked when the machine's counter has moved, and counts are kept.
 * Kills in a cgroup that was removed before the walk are lost, and those in a tree of more than 10,000 cgroups.
 */
class LeafOomKills implements OomKillCounter {
  readonly #machine: OomKillCounter;
  readonly #directory: string;
  readonly #seen = new Map<bigint, number>();
  #machineKills: number | undefined;

  constructor(native: Binding, directory: string) {
    this.#machine = machineOomKills(native);
    this.#directory = directory;
  }

  read(): number {
    const kills = this.#machine.read();
    if (kills === undefined || kills !== this.#machineKills) this.#lookThrough(this.#directory);
    this.#machineKills = kills;
    return [...this.#seen.values()].reduce((sum, count) => sum + count, 0);
  }

  #lookThrough(directory: string): void {
    for (const cgroup of cgroupTree(directory, MAX_CGROUPS) ?? []) this.#look(cgroup.directory);
  }

  #look(directory: string): void {
    try {
      const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(fsPath(`${directory}/memory.oom_control`), 'latin1')) ?? [];
      if (count !== undefined) this.#remember(statSync(fsPath(directory), { bigint: true }).ino, Number(count));
    } catch {
      // removed meanwhile: its last count stays
    }
  }

  /** Remembers only cgroups with kills, so that the map grows with kills only. */
  #remember(id: bigint, count: number): void {
    if (count > 0) this.#seen.set(id, count);
  }

  close(): void {
    this.#machine.close();
  }
}
