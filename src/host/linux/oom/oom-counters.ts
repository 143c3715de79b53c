import { readFileSync, statSync } from 'node:fs';
import { childPath, cgroupDirectory, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { CgroupOomKills, OomTally } from '../../../core/oom/oom-kill-count.js';
import type { OomCounterReader } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import { showsRootCgroup } from '../cgroup/hierarchies.js';
import type { LinuxNode } from '../node-reader.js';
import { machineOomKills, type OomKillCounter } from './oom-kills.js';
import { fsPath, subdirectoriesIn } from '../../../byte-paths.js';
import { attempt } from '../../../errors.js';

/** A kill during the walk would be seen in a part of the tree: then it is walked again, at most this often. */
const TRIES = 5;

/**
 * The kernel's OOM kill counters of a node's cgroups. v2: memory.events includes descendants, so the walk follows only
 * nonzero counters. v1: memory.oom_control counts the cgroup alone, so the whole tree is walked (about 40 µs a cgroup).
 */
export class OomCounters implements OomCounterReader {
  readonly #machine: OomKillCounter;
  readonly #hierarchy: CgroupHierarchy | undefined;
  readonly #node: string | undefined;
  /** The machine's counter when the tree was read. */
  #seen: number | undefined;

  /** @param node  undefined: the machine */
  constructor(native: Binding, hierarchy: CgroupHierarchy | undefined, node: string | undefined) {
    this.#machine = machineOomKills(native);
    this.#hierarchy = hierarchy;
    this.#node = node;
  }

  get moved(): boolean {
    const total = this.#machine.read();
    return total === undefined || total !== this.#seen;
  }

  *read(): Generator<void, OomTally> {
    for (let tries = 1; ; tries += 1) {
      const before = this.#machine.read();
      const cgroups = new Map<bigint, CgroupOomKills>();
      if (this.#hierarchy !== undefined) yield* this.#visit(this.#hierarchy, this.#node ?? '/', cgroups);
      if (before !== this.#machine.read() && tries < TRIES) continue;
      this.#seen = before;
      return { total: this.#node === undefined ? before : undefined, hierarchical: this.#hierarchy?.version !== 1, cgroups };
    }
  }

  close(): void {
    this.#machine.close();
  }

  /** The deepest path is as long as users want, so it does not recurse. */
  *#visit(hierarchy: CgroupHierarchy, top: string, found: Map<bigint, CgroupOomKills>): Generator<void, void> {
    const pending = [top];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      yield;
      for (const name of this.#look(hierarchy, path, found).toReversed()) pending.push(childPath(path, name));
    }
  }

  /** Returns the names of the child cgroups that may have kills. */
  #look(hierarchy: CgroupHierarchy, path: string, found: Map<bigint, CgroupOomKills>): readonly string[] {
    const directory = cgroupDirectory(hierarchy, path);
    try {
      const kills = counter(`${directory}/${hierarchy.version === 1 ? 'memory.oom_control' : 'memory.events'}`, 'oom_kill');
      if (hierarchy.version === 2 && kills === 0) return [];
      const children = subdirectoriesIn(directory);
      if (kills !== undefined && kills > 0) {
        const local = `${directory}/memory.events.local`;
        const own =
          hierarchy.version === 1
            ? { ownKills: kills, limitHits: undefined }
            : { ownKills: counter(local, 'oom_kill'), limitHits: counter(local, 'oom') };
        found.set(statSync(fsPath(directory), { bigint: true }).ino, { path, kills, ...own });
      }
      return children;
    } catch {
      return []; // removed meanwhile: on v2 its parent has counted the same
    }
  }
}

/** The cgroup whose kills concern the node: '/' where the mount shows a part of the machine. undefined: all of them. */
export function oomCgroup({ identity, hierarchy }: Pick<LinuxNode, 'identity' | 'hierarchy'>): string | undefined {
  return identity.cgroup ?? (hierarchy === undefined || showsRootCgroup(hierarchy) ? undefined : '/');
}

/** undefined: no such file (v2's root), or no such line. */
function counter(file: string, key: string): number | undefined {
  const text = attempt(() => readFileSync(fsPath(file), 'latin1'));
  if (text === undefined) return undefined;
  const [, value] = new RegExp(`^${key} (\\d+)$`, 'm').exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}
