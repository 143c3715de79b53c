import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { childPath, cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { attempt, errnoName, UnavailableError, asError } from '../../errors.js';
import type { DemoNode } from './demo-node.js';

const REMOVE_WITHIN_MS = 10_000;
const REMOVE_RETRY_MS = 20;

export interface SandboxPlan {
  /** Name of the cgroup. */
  readonly name: string;
  readonly limitBytes: bigint;
  readonly thresholdBytes: bigint;
  /** Names of the workloads. */
  readonly names: readonly string[];
}

/** Resets the negative oom_score_adj of evictd's service, joins the cgroup, and runs the program. */
const JOIN =
  'read -r adj < /proc/self/oom_score_adj; [ "$adj" -ge 0 ] || echo 0 > /proc/self/oom_score_adj; echo $$ > "$0/cgroup.procs" && exec "$@"';

/** A cgroup as the node, with a child for each workload. */
export class Sandbox implements DemoNode {
  readonly detached = true;
  readonly inMemory = '/dev/shm';
  readonly version: 1 | 2;
  readonly #names: readonly string[];
  readonly limitBytes: bigint;
  readonly thresholdBytes: bigint;

  private constructor(
    private readonly hierarchy: CgroupHierarchy,
    /** The path below the mount. */
    readonly path: string,
    { names, limitBytes, thresholdBytes }: SandboxPlan,
    /** v2: the directory whose cgroup.subtree_control the demo changed. */
    private readonly enabledIn: string | undefined,
  ) {
    this.limitBytes = limitBytes;
    this.thresholdBytes = thresholdBytes;
    this.version = hierarchy.version;
    this.#names = names;
  }

  /**
   * Creates the cgroup in the root or, if that is refused, in the nearest ancestor of `own`.
   *
   * @param own  the cgroup of this process, below the mount; undefined: not visible
   * @throws UnavailableError  with the reason of each refusal
   */
  static create(hierarchy: CgroupHierarchy, own: string | undefined, plan: SandboxPlan): Sandbox {
    const refusals: string[] = [];
    for (const parent of new Set(['/', ...(own === undefined ? [] : withAncestors(own))])) {
      try {
        return Sandbox.#createBelow(hierarchy, parent, plan);
      } catch (error) {
        const errno = errnoName(error);
        if (errno === undefined) throw error;
        refusals.push(`${cgroupDirectory(hierarchy, parent)}: ${errno}`);
      }
    }
    throw new UnavailableError('EVICTD_DEMO_CGROUP', `cannot create a cgroup with a memory limit (${refusals.join('; ')})`, {
      hint:
        hierarchy.version === 1
          ? 'run it as root where the memory controller is mounted writable (in a container: --privileged)'
          : 'run it as root (in a container: --privileged --cgroupns=host), or as a user with systemd-run --user --scope evictd demo',
    });
  }

  static #createBelow(hierarchy: CgroupHierarchy, parent: string, plan: SandboxPlan): Sandbox {
    const { name, names, limitBytes } = plan;
    const path = childPath(parent, name);
    const directory = cgroupDirectory(hierarchy, path);
    mkdirSync(directory);
    let enabledIn: string | undefined;
    try {
      if (hierarchy.version === 2) {
        if (!existsSync(`${directory}/memory.max`)) enabledIn = enable(cgroupDirectory(hierarchy, parent));
        enable(directory);
      }
      writeFileSync(`${directory}/${hierarchy.version === 1 ? 'memory.limit_in_bytes' : 'memory.max'}`, String(limitBytes));
      for (const child of names) mkdirSync(`${directory}/${child}`);
      return new Sandbox(hierarchy, path, plan, enabledIn);
    } catch (error) {
      for (const child of names) if (existsSync(`${directory}/${child}`)) rmdirSync(`${directory}/${child}`);
      rmdirSync(directory);
      if (enabledIn !== undefined) disable(enabledIn);
      throw error;
    }
  }

  get introduction(): string {
    const [limit, threshold] = [this.limitBytes, this.thresholdBytes].map((bytes) => `${String(bytes >> 20n)} MiB`);
    return `the node is cgroup ${this.path} with ${limit ?? ''}; evictd evicts when less than ${threshold ?? ''} are available`;
  }

  get described(): DemoNode['described'] {
    return {
      cgroup: this.path,
      cgroupVersion: this.version,
      limitBytes: Number(this.limitBytes),
      threshold: `memory.available<${this.#threshold}`,
    };
  }

  /** Disk thresholds are off. */
  settings(): Readonly<Record<string, unknown>> {
    return {
      evictionHard: { 'memory.available': this.#threshold, 'nodefs.available': '0%', 'nodefs.inodesFree': '0%' },
      node: { cgroup: this.path },
      workloads: [{ cgroup: this.path }],
    };
  }

  nameOf(name: string): string {
    return name;
  }

  /** Joins the cgroup before the program starts, so that all its memory is counted. */
  command(name: string, program: readonly string[]): readonly [string, ...string[]] {
    return ['/bin/sh', '-c', JOIN, this.directory(name), ...program];
  }

  started(): void {
    return;
  }

  stop(evictd: ChildProcess): void {
    evictd.kill('SIGTERM');
  }

  get #threshold(): string {
    return `${String(this.thresholdBytes >> 20n)}Mi`;
  }

  /** The directory of a workload's cgroup, or of the node. */
  directory(name?: string): string {
    return cgroupDirectory(this.hierarchy, name === undefined ? this.path : `${this.path}/${name}`);
  }

  /** usage − page cache, nearly as evictd computes it; undefined: unreadable. */
  workingSetBytes(name?: string): bigint | undefined {
    const [usage, of] = this.version === 1 ? (['memory.usage_in_bytes', 'total_'] as const) : (['memory.current', ''] as const);
    return attempt(() => {
      const used = BigInt(this.#read(usage, name));
      const stat = this.#read('memory.stat', name);
      const cache = BigInt(field(stat, `${of}inactive_file`) ?? 0) + BigInt(field(stat, `${of}active_file`) ?? 0);
      return used > cache ? used - cache : 0n;
    });
  }

  /** cgroup v1 counts kills only in the victim's cgroup, so this adds all up. */
  oomKills(): number {
    if (this.version === 2) return Number(field(this.#read('memory.events'), 'oom_kill') ?? 0);
    return [undefined, ...this.#names].reduce(
      (sum, name) => sum + Number(field(this.#read('memory.oom_control', name), 'oom_kill') ?? 0),
      0,
    );
  }

  get oomKillSource(): string {
    return this.version === 2 ? `memory.events of ${this.path}` : `memory.oom_control of ${this.path} and below`;
  }

  processes(name: string): number[] {
    return this.#read('cgroup.procs', name).split('\n').filter(Boolean).map(Number);
  }

  async remove(): Promise<string | undefined> {
    const directories = [...this.#names.map((name) => this.directory(name)), this.directory()];
    const attempt = (): Error | undefined => directories.map(killAndRemove).findLast((error) => error !== undefined);
    const deadline = performance.now() + REMOVE_WITHIN_MS;
    for (let refused = attempt(); refused; refused = attempt()) {
      if (performance.now() > deadline) return `${this.directory()} could not be removed: ${refused.message}`;
      await pause(REMOVE_RETRY_MS);
    }
    if (this.enabledIn !== undefined) disable(this.enabledIn);
    return undefined;
  }

  #read(file: string, name?: string): string {
    return readFileSync(`${this.directory(name)}/${file}`, 'utf8');
  }
}

/**
 * Enables the memory controller for the children of a v2 cgroup. Throws EBUSY if it has processes and is not the root.
 */
function enable(directory: string): string {
  writeFileSync(`${directory}/cgroup.subtree_control`, '+memory');
  return directory;
}

/** Stays enabled after EBUSY: another cgroup uses it. */
function disable(directory: string): void {
  try {
    writeFileSync(`${directory}/cgroup.subtree_control`, '-memory');
  } catch {
    // see above
  }
}

/** One attempt; undefined: removed. A killed process takes a moment to exit. */
function killAndRemove(directory: string): Error | undefined {
  try {
    if (!existsSync(directory)) return undefined;
    const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of below) killAndRemove(`${directory}/${name}`);
    for (const pid of readFileSync(`${directory}/cgroup.procs`, 'utf8').split('\n').filter(Boolean)) kill(Number(pid));
    rmdirSync(directory);
    return undefined;
  } catch (error) {
    return asError(error);
  }
}

function kill(pid: number): void {
  attempt(() => process.kill(pid, 'SIGKILL')); // fails where it has ended
}

/** The value of `key` in lines of 'key value'. */
function field(text: string, key: string): string | undefined {
  return new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1];
}
