import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../core/cgroup.js';
import { errnoName, UnavailableError } from '../../errors.js';
import type { DemoNode } from './node.js';

const REMOVE_WITHIN_MS = 10_000;
const REMOVE_RETRY_MS = 20;

export interface SandboxPlan {
  /** Of the cgroup, below the one that it can be made in. */
  readonly name: string;
  readonly limitBytes: bigint;
  readonly thresholdBytes: bigint;
  /** Of the workloads. */
  readonly names: readonly string[];
}

/** What evictd's own service is spared by is not for its children. */
const JOIN =
  'read -r adj < /proc/self/oom_score_adj; [ "$adj" -ge 0 ] || echo 0 > /proc/self/oom_score_adj; echo $$ > "$0/cgroup.procs" && exec "$@"';

/** A cgroup of the demo's own, which is the node, and one below it for each workload. */
export class Sandbox implements DemoNode {
  readonly detached = true;
  readonly inMemory = '/dev/shm';
  readonly version: 1 | 2;
  /** As a configuration names it. */
  readonly path: string;
  readonly #hierarchy: CgroupHierarchy;
  readonly #names: readonly string[];
  readonly limitBytes: bigint;
  readonly thresholdBytes: bigint;
  /** v2: the cgroup.subtree_control that was changed for the demo, to be changed back. */
  readonly #enabledIn: string | undefined;

  private constructor(
    hierarchy: CgroupHierarchy,
    path: string,
    { names, limitBytes, thresholdBytes }: SandboxPlan,
    enabledIn: string | undefined,
  ) {
    this.limitBytes = limitBytes;
    this.thresholdBytes = thresholdBytes;
    this.version = hierarchy.version;
    this.path = path;
    this.#hierarchy = hierarchy;
    this.#names = names;
    this.#enabledIn = enabledIn;
  }

  /**
   * Makes it at the top of the hierarchy or, where that is not allowed, as near to `own` as it is.
   *
   * @param own  the cgroup of this process, below the mount; undefined: not visible
   * @throws UnavailableError where no place will have it, with the reason of each
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
    throw new UnavailableError('EVICTD_DEMO_CGROUP', `the demo may not create a cgroup with a memory limit here (${refusals.join('; ')})`, {
      hint:
        hierarchy.version === 1
          ? 'run it as root where the memory controller is mounted writable (in a container: --privileged)'
          : 'run it as root (in a container: --privileged --cgroupns=host), or as a user with systemd-run --user --scope evictd demo',
    });
  }

  static #createBelow(hierarchy: CgroupHierarchy, parent: string, plan: SandboxPlan): Sandbox {
    const { name, names, limitBytes } = plan;
    const path = parent === '/' ? `/${name}` : `${parent}/${name}`;
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

  /** The machine's disks are none of the demo's business. */
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

  /** It joins the cgroup before the program starts, so that all of its memory is counted there. */
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
    return cgroupDirectory(this.#hierarchy, name === undefined ? this.path : `${this.path}/${name}`);
  }

  /** usage − inactive_file, as evictd counts; undefined where it cannot be read. */
  workingSetBytes(name?: string): bigint | undefined {
    const [usage, stat, key] =
      this.version === 1
        ? (['memory.usage_in_bytes', 'memory.stat', 'total_inactive_file'] as const)
        : (['memory.current', 'memory.stat', 'inactive_file'] as const);
    try {
      const used = BigInt(this.#read(usage, name));
      const inactive = BigInt(field(this.#read(stat, name), key) ?? 0);
      return used > inactive ? used - inactive : 0n;
    } catch {
      return undefined;
    }
  }

  /** How many processes the kernel's OOM killer has killed in here. v1 counts in the victim's own cgroup only, so all are added up. */
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

  /** Ends every process in it and removes it. Returns what is left to be done by hand; undefined: nothing. */
  async remove(): Promise<string | undefined> {
    const directories = [...this.#names.map((name) => this.directory(name)), this.directory()];
    const attempt = (): Error | undefined => directories.map(killAndRemove).findLast((error) => error !== undefined);
    const deadline = performance.now() + REMOVE_WITHIN_MS;
    for (let refused = attempt(); refused; refused = attempt()) {
      if (performance.now() > deadline) return `${this.directory()} could not be removed: ${refused.message}`;
      await pause(REMOVE_RETRY_MS);
    }
    if (this.#enabledIn !== undefined) disable(this.#enabledIn);
    return undefined;
  }

  #read(file: string, name?: string): string {
    return readFileSync(`${this.directory(name)}/${file}`, 'utf8');
  }
}

/** Lets the children of a v2 cgroup have a memory controller. Throws EBUSY where processes live in it, and it is not the root. */
function enable(directory: string): string {
  writeFileSync(`${directory}/cgroup.subtree_control`, '+memory');
  return directory;
}

/** EBUSY: somebody below uses it by now (another demo, perhaps), so it stays. */
function disable(directory: string): void {
  try {
    writeFileSync(`${directory}/cgroup.subtree_control`, '-memory');
  } catch {
    // it stays as it is: taking it away from others would be worse
  }
}

/** One attempt; undefined: it is gone. A killed process needs a moment to leave. */
function killAndRemove(directory: string): Error | undefined {
  try {
    if (!existsSync(directory)) return undefined;
    const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of below) killAndRemove(`${directory}/${name}`);
    for (const pid of readFileSync(`${directory}/cgroup.procs`, 'utf8').split('\n').filter(Boolean)) kill(Number(pid));
    rmdirSync(directory);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it ended meanwhile
  }
}

/** `text` as lines of 'key value'. */
function field(text: string, key: string): string | undefined {
  return new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1];
}
