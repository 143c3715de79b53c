/** What a tree is made of: a process, and the number of whoever started it, which another one may have since. */
export interface TreeProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** On the clock of the system; 0n: not known, and then it is nobody's child. */
  readonly createdAt: bigint;
}

/** Total: one process has a number at a time. Whoever has started others comes before those that are younger. */
export function byAge(a: TreeProcess, b: TreeProcess): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.pid - b.pid;
}

/**
 * The processes of one moment, by who started whom. Windows keeps the number of the parent and not the parent: when that has ended, another process may get its number. So a
 * parent counts only where it is not younger than its child: as old is enough, because the clock goes in ticks (15.6 ms), and a program starts another one in less.
 */
export class ProcessTree<P extends TreeProcess> {
  readonly #byPid: ReadonlyMap<number, P>;
  /** By the number of the child; without a circle. */
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

  /** It and all that it has started, and they, the oldest first; nobody where it is not among these itself, because another one may have its number. */
  below({ pid, createdAt }: TreeProcess): P[] {
    const root = this.#byPid.get(pid);
    if (root?.createdAt !== createdAt) return [];
    const found = [root];
    for (const one of found) found.push(...(this.#children.get(one.pid) ?? []));
    return found.sort(byAge);
  }

  /** Whoever started it, and who started that one, the nearest first. */
  above({ pid }: TreeProcess): P[] {
    const found: P[] = [];
    for (let next = this.#parents.get(pid); next !== undefined; next = this.#parents.get(next.pid)) found.push(next);
    return found;
  }

  /**
   * The numbers of a process and of all that it descends from, whether or not it is among these. For who is to be spared: a parent counts here also where it is younger, because the
   * clock may have been set back since. At worst somebody is spared who has the number of a parent that has ended.
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

  /** Of those that are as old as each other one may have the number of another's parent: who is above `parent` is not its child. */
  #mayHaveStarted(parent: P, child: P): boolean {
    if (child.createdAt === 0n || parent.createdAt > child.createdAt) return false;
    return parent.createdAt < child.createdAt || (parent !== child && !this.above(parent).includes(child));
  }
}
