import type { RuntimeWorkload } from '../core/pod-sandbox.js';
import type { ContainerRuntime } from '../monitor/ports.js';
import type { MemberRoot, MembersChange } from './source-root.js';

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
