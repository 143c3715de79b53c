import { isBelow, withAncestors } from '../../core/workload/cgroup.js';
import { isCriCgroup } from '../../core/workload/cri-cgroup.js';
import type { RuntimeWorkload } from '../../core/workload/pod-sandbox.js';
import type { ContainerRuntime } from '../../monitor/ports/ports.js';
import type { MemberRoot, MembersChange } from '../cgroup/source-root.js';

/** The cgroups that a container runtime has reported. */
export class RuntimeRoot implements MemberRoot {
  readonly path = '/';
  readonly directory: string;
  readonly names = 'reported';
  readonly #runtime: ContainerRuntime;
  #listed: readonly RuntimeWorkload[] | undefined;
  #byPath: ReadonlyMap<string, RuntimeWorkload> = new Map();

  constructor(runtime: ContainerRuntime, directory: string) {
    this.#runtime = runtime;
    this.directory = directory;
  }

  changes(): MembersChange {
    return this.#listed === this.#runtime.workloads() ? 'none' : 'unknown';
  }

  list(): string[] {
    this.#listed = this.#runtime.workloads();
    this.#byPath = new Map(this.#listed.map((workload) => [workload.path, workload]));
    return this.#listed.map(({ path }) => path.slice(1));
  }

  nameOf(below: string): string {
    return this.#byPath.get(`/${below}`)?.name ?? below;
  }

  isWhole(): boolean {
    return false;
  }

  /** As listed; undefined: not of this runtime. */
  reported(path: string): RuntimeWorkload | undefined {
    return this.#byPath.get(path);
  }

  all(): Iterable<RuntimeWorkload> {
    return this.#byPath.values();
  }

  relist(): void {
    this.#listed = undefined;
  }

  forget(): void {
    this.relist();
  }

  follow(): void {
    this.#runtime.follow();
  }

  /** undefined: the runtime has reported its workloads. */
  get awaited(): string | undefined {
    return this.#runtime.hasReported ? undefined : this.#runtime.endpoint;
  }

  problem(): ReturnType<ContainerRuntime['problem']> {
    return this.#runtime.problem();
  }

  watch(): void {
    return;
  }

  /** The opener closes the runtime. */
  close(): void {
    return;
  }
}

/** The workloads that the container runtimes of the sources have reported. */
export class ReportedWorkloads {
  readonly #roots: readonly RuntimeRoot[];

  constructor(roots: readonly RuntimeRoot[]) {
    this.#roots = roots;
  }

  /** No source is a container runtime. */
  get areNone(): boolean {
    return this.#roots.length === 0;
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
