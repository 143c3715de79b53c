import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { limitPidsOf, startForkBomb, type PidsLimit } from '../support/fork-bomb.js';
import { stateOf } from '../support/process-state.js';
import { A_UNIT, moment, type See } from './seen.js';
import { attempt, cgroupsBelow, ChaosWorkload, isV1, kernelKillsIn, LEAK, PASSING, pidsBelow, type Leak } from './workload.js';

/** So far above the thresholds that a busy machine does not make evictd too late for the fastest leak. */
export const NODE_MIB = 1024;
export const NODE_PROCESSES = 150;
const BOMB_PROCESSES = 60;
const FREEZER = '/sys/fs/cgroup/freezer';
const MIB = 1 << 20;

export interface NodePlan {
  readonly cgroup: TestCgroup;
  /** For mounts. */
  readonly scratch: string;
  /** A hugetlbfs. */
  readonly hugePages: string | undefined;
  readonly see: See;
}

/** The node: all that the driver makes is below its cgroup and in `scratch`. */
export class ChaosNode {
  readonly cgroup: TestCgroup;
  readonly workloads: ChaosWorkload[] = [];
  /** Their cgroups are still there. */
  readonly #retiring = new Set<ChaosWorkload>();
  readonly #plan: NodePlan;
  readonly #see: See;
  readonly #pids: PidsLimit;
  #count = 0;
  #closed = false;
  #looked = moment().at;
  /** Kills by the kernel that were seen. */
  #kernelKills = 0;

  constructor(plan: NodePlan) {
    this.#plan = plan;
    this.#see = plan.see;
    this.cgroup = plan.cgroup;
    this.cgroup.limit(BigInt(NODE_MIB * MIB));
    this.#pids = limitPidsOf(this.cgroup, NODE_PROCESSES);
  }

  async leak(kind: string, leak: Leak): Promise<ChaosWorkload> {
    const workload = this.#make(kind, leak);
    let cgroup = workload.cgroup;
    for (let level = 0; level < (leak.deep ?? 0); level++) cgroup = cgroup.child('deep');
    const above = cgroup;
    for (let index = 0; index < (leak.wide ?? 0); index++) cgroup = above.child(`wide${index}`);
    workload.processIn(cgroup);
    await this.#startLeak(workload, cgroup, leak, leak.restarts ?? 0);
    return workload;
  }

  forkBomb(kind: string): void {
    const workload = this.#make(kind);
    workload.pidsLimit = limitPidsOf(workload.cgroup, BOMB_PROCESSES);
    startForkBomb(workload.cgroup, workload.pidsLimit);
  }

  /** Cgroups that come and go, in a workload or as workloads beside it. */
  async passing(kind: string, count: number, where: 'inside' | 'beside'): Promise<void> {
    const workload = this.#make(kind);
    const prefix = where === 'inside' ? join(workload.dir, 'c') : join(this.cgroup.dir, `${workload.name}-`);
    await this.#start(workload, workload.cgroup, 'perl', ['-e', PASSING, prefix, String(count)]);
  }

  /** Only where the cgroup version can. */
  async rename(workload: ChaosWorkload): Promise<void> {
    if (!isV1 || workload.pidsLimit) return;
    await workload.joining;
    const name = `${workload.name}r`;
    const dir = join(this.cgroup.dir, name);
    renameSync(workload.dir, dir);
    [workload.dir, workload.name] = [dir, name];
    this.#see({ kind: 'renamed', workload: workload.id, name });
  }

  freeze(workload: ChaosWorkload): void {
    if (workload.frozen !== undefined) return;
    if (!isV1) {
      workload.cgroup.write('cgroup.freeze', '1');
      return;
    }
    workload.frozen = join(FREEZER, `evictd-test-chaos-${process.pid}-${workload.id}`);
    mkdirSync(workload.frozen);
    for (const pid of workload.pids) attempt(() => writeFileSync(`${workload.frozen ?? ''}/cgroup.procs`, String(pid)));
    writeFileSync(`${workload.frozen}/freezer.state`, 'FROZEN');
  }

  /** Ends it and all that hangs on it. */
  async retire(workload: ChaosWorkload): Promise<void> {
    if (workload.isRetired) return;
    workload.isRetired = true;
    this.workloads.splice(this.workloads.indexOf(workload), 1);
    this.#retiring.add(workload);
    await workload.joining;
    for (const pid of workload.pids) workload.sent.add(pid);
    if (workload.frozen !== undefined) writeFileSync(`${workload.frozen}/freezer.state`, 'THAWED');
    // Not by `cleanup`: the counters go with the cgroup.
    await eventually(`${workload.name} has ended`, () => this.#killAll(workload), { ms: 60_000 });
    this.look(workload);
    this.#retiring.delete(workload);
    await eventually(`${workload.dir} is removed`, () => removed(workload.dir), { ms: 60_000 });
    await workload.pidsLimit?.cleanup();
    const { frozen } = workload;
    if (frozen !== undefined) await eventually(`${frozen} is removed`, () => attempt(() => (rmdirSync(frozen), true)));
    if (workload.tmpfs !== undefined) execFileSync('umount', ['-l', workload.tmpfs]);
    if (workload.hugeFile !== undefined) rmSync(workload.hugeFile, { force: true });
  }

  /** Reads what the kernel's OOM killer has done. */
  look(workload: ChaosWorkload): void {
    const { count, limit } = workload.newKernelKills();
    this.#kernelKills += count;
    if (count > 0) this.#see({ kind: 'kernel-kills', workload: workload.id, count, since: this.#looked, limit });
  }

  lookAtAll(): void {
    const before = moment();
    const usage = attempt(() => Number(this.cgroup.read(isV1 ? 'memory.usage_in_bytes' : 'memory.current')));
    if (usage === undefined) return;
    // On v2 the node has the kills of units too, whose cgroups go with them.
    const kills = isV1 ? 0 : kernelKillsIn(this.cgroup.dir);
    for (const workload of [...this.workloads, ...this.#retiring]) this.look(workload);
    const count = kills - this.#kernelKills;
    if (count > 0) {
      this.#see({ kind: 'kernel-kills', workload: A_UNIT, count, since: this.#looked, limit: 'node' });
      this.#kernelKills = kills;
    }
    const looked = {
      kind: 'looked' as const,
      freeBytes: NODE_MIB * MIB - usage,
      anonBytes: Object.fromEntries(this.workloads.flatMap((workload) => [[workload.id, workload.anonBytes() ?? 0]])),
      alive: this.workloads.flatMap(({ pids }) => [...pids].filter((pid) => !['Z', 'X', undefined].includes(stateOf(pid)))),
    };
    // What was alive was so after this moment.
    this.#see(looked, before);
    this.#looked = before.at;
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.workloads[0]) await this.retire(this.workloads[0]).catch(() => undefined);
    await this.cgroup.cleanup();
    await this.#pids.cleanup();
  }

  #make(kind: string, { ownLimitMib, onTmpfs, hugeMib, upToMib = 0 }: Partial<Leak> = {}): ChaosWorkload {
    if (this.#closed) throw new Error('the run was interrupted');
    const name = `${kind}-${String(++this.#count)}`;
    const workload = new ChaosWorkload(this.cgroup.child(name), name, ownLimitMib);
    this.workloads.push(workload);
    this.#see({ kind: 'workload', workload: workload.id, name, protected: workload.protected });
    if (onTmpfs) workload.tmpfs = this.#mountTmpfs(name, upToMib);
    if (hugeMib !== undefined) workload.hugeFile = join(this.#plan.hugePages ?? '', name);
    return workload;
  }

  #mountTmpfs(name: string, mib: number): string {
    const directory = join(this.#plan.scratch, name);
    mkdirSync(directory);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib + 1}m`, 'evictd-test', directory]);
    return directory;
  }

  async #startLeak(workload: ChaosWorkload, cgroup: TestCgroup, leak: Leak, restarts: number): Promise<void> {
    const file = workload.tmpfs === undefined ? '' : join(workload.tmpfs, 'held');
    const perl = ['perl', '-e', LEAK, String(leak.mibPerSecond), String(leak.upToMib), file, leak.ignoresTerm ? '1' : ''];
    // It leaks also where the pool has too few pages.
    const huge = [
      '/bin/sh',
      '-c',
      'fallocate --length "$1"MiB "$2"; shift 2; exec "$@"',
      'sh',
      String(leak.hugeMib),
      workload.hugeFile ?? '',
    ];
    const [program = '', ...args] = leak.hugeMib === undefined ? perl : [...huge, ...perl];
    const { ended } = await this.#start(workload, cgroup, program, args);
    void ended.then(async () => {
      if (leak.isRemovedAtOnce && !workload.isRetired) await this.retire(workload).catch(() => undefined);
      await pause(100);
      if (restarts === 0 || workload.isRetired || !existsSync(cgroup.dir)) return;
      // It is evicted again before it is a member.
      workload.joining = this.#startLeak(workload, cgroup, leak, restarts - 1).catch(() => undefined);
    });
  }

  /** Resolves when the process is a member. */
  async #start(
    workload: ChaosWorkload,
    cgroup: TestCgroup,
    program: string,
    args: readonly string[],
  ): Promise<{ readonly ended: Promise<void> }> {
    const before = moment();
    const { pid, child, ended } = await cgroup.spawn(program, args);
    child.stdout?.destroy();
    workload.pids.add(pid);
    if (workload.isRetired) workload.sent.add(pid);
    this.#see({ kind: 'process', workload: workload.id, pid }, before);
    const over = ended.then((signal) => {
      this.look(workload);
      this.#see({ kind: 'ended', workload: workload.id, pid, signal, sent: workload.sent.has(pid) });
      workload.pids.delete(pid);
    });
    return { ended: over };
  }

  #killAll(workload: ChaosWorkload): boolean {
    let alive = 0;
    for (const pid of pidsBelow(workload.dir)) {
      workload.sent.add(pid);
      alive++;
      attempt(() => process.kill(pid, 'SIGKILL'));
    }
    return alive === 0 && workload.pids.size === 0;
  }
}

function removed(dir: string): boolean {
  for (const below of [...cgroupsBelow(dir)].reverse()) attempt(() => rmdirSync(below));
  return !existsSync(dir);
}
