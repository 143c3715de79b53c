import { isBelow, withAncestors } from '../core/cgroup.js';
import { isCriCgroup } from '../core/cri-cgroup.js';
import type { RuntimeWorkload } from '../core/pod-sandbox.js';
import type { RuntimeRoot } from './runtime-root.js';

/** The workloads that the container runtimes of the sources have reported. */
export class ReportedWorkloads {
  readonly #roots: readonly RuntimeRoot[];

  constructor(roots: readonly RuntimeRoot[]) {
    this.#roots = roots;
  }

  follow(): void {
    for (const root of this.#roots) root.follow();
  }

  /** Endpoints of runtimes that have not reported yet. */
  awaitedRuntimes(): readonly string[] {
    return this.#roots.flatMap((root) => root.awaited ?? []);
  }

  at(path: string): RuntimeWorkload | undefined {
    for (const root of this.#roots) {
      const found = root.reported(path);
      if (found) return found;
    }
    return undefined;
  }

  /** The innermost workload above a cgroup. */
  above(path: string): RuntimeWorkload | undefined {
    if (this.#roots.length === 0) return undefined;
    for (const above of withAncestors(path).slice(1)) {
      const found = this.at(above);
      if (found) return found;
    }
    return undefined;
  }

  /** The innermost workload that a cgroup is or belongs to. */
  holding(path: string): RuntimeWorkload | undefined {
    return this.at(path) ?? this.above(path);
  }

  /** Whether it is named like a container or pod that no runtime has reported. */
  isAwaited(path: string): boolean {
    if (this.#roots.length === 0 || !isCriCgroup(path) || this.holding(path) !== undefined) return false;
    return !this.#roots.some((root) => [...root.all()].some((inner) => isBelow(inner.path, path)));
  }
}
