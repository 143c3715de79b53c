/** A process, with the pid of its parent, which another process may have by now. */
export interface TreeProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** The time of its start by the system's clock; 0n: not known, so that it counts as no process's child. */
  readonly createdAt: bigint;
}

/** Total, because a pid is unique at a time. Parents come before younger children. */
export function byAge(a: TreeProcess, b: TreeProcess): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.pid - b.pid;
}

/**
 * The processes of one moment by parent. Windows keeps the parent's pid only, and may reuse it after the parent has
 * ended. So a parent counts only if it is not younger than its child. Equal age is enough: the clock has ticks of 15.6
 * ms.
 */
export class ProcessTree<P extends TreeProcess> {
  readonly #byPid: ReadonlyMap<number, P>;
  /** Parents by the pid of the child; without cycles. */
  readonly #parents = new Map<number, P>();
  readonly #children = new Map<number, P[]>();

  constructor(processes: Iterable<P>) {
    const all = [...processes].sort(byAge);
    this.#byPid = new Map(all.map((one) => [one.pid, one]));
    for (const one of all) {
      const parent = this.#byPid.get(one.parentPid);
      if (parent === undefined || !this.#mayHaveStarted(parent, one)) continue;
      this.#parents.set(one.pid, parent);
      const siblings = this.#children.get(parent.pid);
      if (siblings) siblings.push(one);
      else this.#children.set(parent.pid, [one]);
    }
  }

  get(pid: number): P | undefined {
    return this.#byPid.get(pid);
  }

  /** The process and its descendants, the oldest first; empty if another process has its pid by now. */
  below({ pid, createdAt }: TreeProcess): P[] {
    const root = this.#byPid.get(pid);
    if (root?.createdAt !== createdAt) return [];
    const found = [root];
    for (const one of found) found.push(...(this.#children.get(one.pid) ?? []));
    return found.sort(byAge);
  }

  /** Its ancestors, the nearest first. */
  above({ pid }: TreeProcess): P[] {
    const found: P[] = [];
    for (let next = this.#parents.get(pid); next !== undefined; next = this.#parents.get(next.pid)) found.push(next);
    return found;
  }

  /**
   * The pids of a process and its ancestors, for deciding what to spare. A younger parent counts here too, because the
   * clock may have been set back. At worst this spares a process that reuses a parent's pid.
   */
  lineOf(pid: number): ReadonlySet<number> {
    const line = new Set([pid]);
    let next = this.#byPid.get(pid)?.parentPid;
    while (next !== undefined && !line.has(next)) {
      const parent = this.#byPid.get(next);
      if (parent) line.add(next);
      next = parent?.parentPid;
    }
    return line;
  }

  /** Among processes of equal age, whose pids may be reused, an ancestor of `parent` is not its child. */
  #mayHaveStarted(parent: P, child: P): boolean {
    if (child.createdAt === 0n || parent.createdAt > child.createdAt) return false;
    return parent.createdAt < child.createdAt || (parent !== child && !this.above(parent).includes(child));
  }
}
