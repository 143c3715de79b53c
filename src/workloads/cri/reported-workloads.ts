import { isDeepStrictEqual } from 'node:util';
import { isBelow, withAncestors } from '../../core/workload/cgroup.js';
import { isCriCgroup } from '../../core/workload/cri-cgroup.js';
import type { NodePod } from '../../core/kubernetes/node-pod.js';
import type { RuntimePart } from '../../core/workload/pod-sandbox.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import type { MemberRoot, MembersChange } from '../cgroup/source-root.js';

/** A workload that a container runtime or the API server of a cluster has reported, with its cgroup. */
export interface Reported {
  readonly name: string;
  readonly path: string;
  readonly runtime?: RuntimePart;
  readonly pod?: NodePod;
}

/** What reports workloads, such as a container runtime. Nothing here waits or throws. */
export interface Reporter {
  readonly endpoint: string;
  readonly hasReported: boolean;
  /** The same array while nothing has changed. */
  workloads(): readonly Reported[];
  /** Asks again. Left out: it reports by itself. */
  follow?(): void;
  /** Searches for cgroups that have not been found, at ticks only. Left out: reports have the cgroups. */
  search?(): void;
  problem(): SourceProblem | undefined;
}

/** The cgroups of one reporter. */
export class ReportedRoot implements MemberRoot {
  readonly path = '/';
  readonly names = 'reported';
  /** Counts the reports that were taken. */
  version = 0;
  #listed: readonly Reported[] | undefined;
  #byPath: ReadonlyMap<string, Reported> = new Map();
  #relabelled: string[] = [];

  constructor(
    readonly reporter: Reporter,
    readonly directory: string,
  ) {}

  changes(): MembersChange {
    return this.#listed === this.reporter.workloads() ? 'none' : 'unknown';
  }

  list(): string[] {
    this.version += 1;
    this.#listed = this.reporter.workloads();
    const before = this.#byPath;
    this.#byPath = new Map(this.#listed.map((workload) => [workload.path, workload]));
    for (const [path, reported] of this.#byPath) {
      const known = before.get(path);
      if (known !== undefined && !isDeepStrictEqual(labelsOf(known), labelsOf(reported))) this.#relabelled.push(path);
    }
    return this.#listed.map(({ path }) => path.slice(1));
  }

  relabelled(): readonly string[] {
    return this.#relabelled.splice(0);
  }

  nameOf(below: string): string {
    return this.#byPath.get(`/${below}`)?.name ?? below;
  }

  isWhole(): boolean {
    return false;
  }

  /** The workload as listed; undefined: not reported. */
  reported(path: string): Reported | undefined {
    return this.#byPath.get(path);
  }

  all(): Iterable<Reported> {
    return this.#byPath.values();
  }

  relist(): void {
    this.#listed = undefined;
  }

  forget(): void {
    this.relist();
  }

  problem(): SourceProblem | undefined {
    return this.reporter.problem();
  }

  watch(): void {
    this.reporter.search?.();
  }

  /** The opener closes the reporter. */
  close(): void {
    return;
  }
}

export class ReportedWorkloads {
  /** @param roots  the first one that has reported a cgroup counts */
  constructor(private readonly roots: readonly ReportedRoot[]) {}

  /** Grows with each report. */
  get version(): number {
    return this.roots.reduce((sum, { version }) => sum + version, 0);
  }

  follow(): void {
    for (const { reporter } of this.roots) reporter.follow?.();
  }

  /** Endpoints of reporters that have not reported yet. */
  awaited(): readonly string[] {
    return this.roots.flatMap(({ reporter: { endpoint, hasReported } }) => (hasReported ? [] : [endpoint]));
  }

  at(path: string): Reported | undefined {
    return this.#find(path, () => true);
  }

  /** What its container runtime has reported of it. */
  runtimeAt(path: string): RuntimePart | undefined {
    return this.#find(path, ({ runtime }) => runtime !== undefined)?.runtime;
  }

  labelsAt(path: string): ReturnType<typeof labelsOf> {
    const found = this.at(path);
    return found && labelsOf(found);
  }

  /** The innermost workload above a cgroup. */
  above(path: string): Reported | undefined {
    if (this.roots.length === 0) return undefined;
    for (const above of withAncestors(path).slice(1)) {
      const found = this.at(above);
      if (found) return found;
    }
    return undefined;
  }

  /** The innermost workload that a cgroup is or belongs to. */
  holding(path: string): Reported | undefined {
    return this.at(path) ?? this.above(path);
  }

  /** Whether it is named like a container or pod that was not reported. */
  isAwaited(path: string): boolean {
    if (this.roots.length === 0 || !isCriCgroup(path) || this.holding(path) !== undefined) return false;
    return !this.roots.some((root) => [...root.all()].some((inner) => isBelow(inner.path, path)));
  }

  #find(path: string, isMeant: (reported: Reported) => boolean): Reported | undefined {
    for (const root of this.roots) {
      const found = root.reported(path);
      if (found && isMeant(found)) return found;
    }
    return undefined;
  }
}

function labelsOf({ pod, runtime }: Reported): Readonly<Record<string, string>> | undefined {
  return pod?.labels ?? runtime?.labels;
}
