import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryController, testCgroup, type TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { limitPidsOf, startForkBomb, type PidsLimit } from '../support/fork-bomb.js';
import type { Seen } from './seen.js';

/** So far above the thresholds that a busy machine does not make evictd too late for the fastest leak. */
const NODE_MIB = 1024n;
const NODE_PROCESSES = 150;
const BOMB_PROCESSES = 60;
const FREEZER = '/sys/fs/cgroup/freezer';
export const isV1 = memoryController()?.version === 1;

export interface Leak {
  readonly mibPerSecond: number;
  readonly upToMib: number;
  readonly ignoresTerm: boolean;
  /** Files there instead of anonymous memory. */
  readonly onTmpfs: boolean;
  /** Cgroups below the workload, one in the other and beside each other: it leaks in the last of them. */
  readonly deep: number;
  readonly wide: number;
  /** How often it starts again after an end that the driver has not made. */
  readonly restarts: number;
}

/** In Perl, as in test/e2e: it starts at once on an emulated machine too. */
const LEAK = `
  my ($rate, $cap, $file, $term) = @ARGV;
  $SIG{TERM} = 'IGNORE' if $term;
  my ($one, @held, $out) = (1 << 20);
  open $out, '>>', $file or die if $file;
  for (1 .. $cap) {
    if ($file) { syswrite $out, 'x' x $one or last } else { push @held, 'x' x $one }
    select undef, undef, undef, 1 / $rate;
  }
  sleep while 1;`;

/** A workload of the node: a cgroup with processes, and what hangs on it. */
export class ChaosWorkload {
  readonly id: string;
  readonly protected: boolean;
  /** As it was made; `dir` and `name` follow a rename. */
  readonly cgroup: TestCgroup;
  dir: string;
  name: string;
  readonly pids = new Set<number>();
  readonly sent = new Set<number>();
  /** A process that is about to join: its cgroup stays as it is until then. */
  joining: Promise<unknown> = Promise.resolve();
  pidsLimit: PidsLimit | undefined;
  tmpfs: string | undefined;
  frozen: string | undefined;
  kernelKills = 0;
  looked = Date.now();

  constructor(cgroup: TestCgroup, name: string) {
    this.cgroup = cgroup;
    this.dir = cgroup.dir;
    this.name = name;
    this.protected = name.startsWith('protected-');
    this.id = String(statSync(cgroup.dir, { bigint: true }).ino);
  }
}

/** The node: all that the driver makes is below its cgroup and in `scratch`. */
export class ChaosNode {
  readonly cgroup: TestCgroup;
  readonly workloads: ChaosWorkload[] = [];
  readonly #scratch: string;
  readonly #see: (event: Seen) => void;
  readonly #pids: PidsLimit;
  #count = 0;
  #closed = false;

  constructor(scratch: string, see: (event: Seen) => void) {
    this.#scratch = scratch;
    this.#see = see;
    this.cgroup = testCgroup(`evictd-test-chaos-${process.pid}-${Date.now().toString(36)}`);
    this.cgroup.limit(NODE_MIB << 20n);
    this.#pids = limitPidsOf(this.cgroup, NODE_PROCESSES);
  }

  async leak(kind: string, leak: Leak): Promise<ChaosWorkload> {
    const workload = this.#make(kind);
    if (leak.onTmpfs) workload.tmpfs = this.#mountTmpfs(workload.name, leak.upToMib);
    let cgroup = workload.cgroup;
    for (let level = 0; level < leak.deep; level++) cgroup = cgroup.child('deep');
    const above = cgroup;
    for (let index = 0; index < leak.wide; index++) cgroup = above.child(`wide${index}`);
    await this.#start(workload, cgroup, leak, leak.restarts);
    return workload;
  }

  forkBomb(kind: string): void {
    const workload = this.#make(kind);
    workload.pidsLimit = limitPidsOf(workload.cgroup, BOMB_PROCESSES);
    startForkBomb(workload.cgroup, workload.pidsLimit);
  }

  /** Only where the cgroup version can. */
  async rename(workload: ChaosWorkload): Promise<void> {
    if (!isV1 || workload.pidsLimit) return;
    await workload.joining;
    const name = `${workload.name}r`;
    const dir = join(this.cgroup.dir, name);
    renameSync(workload.dir, dir);
    [workload.dir, workload.name] = [dir, name];
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
    this.workloads.splice(this.workloads.indexOf(workload), 1);
    await workload.joining;
    for (const pid of workload.pids) workload.sent.add(pid);
    if (workload.frozen !== undefined) writeFileSync(`${workload.frozen}/freezer.state`, 'THAWED');
    // Not by `cleanup`: the counters go with the cgroup.
    await eventually(`${workload.name} has ended`, () => this.#killAll(workload), { ms: 60_000 });
    this.look(workload);
    await eventually(`${workload.dir} is removed`, () => removed(workload.dir), { ms: 60_000 });
    await workload.pidsLimit?.cleanup();
    const { frozen } = workload;
    if (frozen !== undefined) await eventually(`${frozen} is removed`, () => attempt(() => (rmdirSync(frozen), true)));
    if (workload.tmpfs !== undefined) execFileSync('umount', ['-l', workload.tmpfs]);
  }

  /** Reads what the kernel's OOM killer has done. */
  look(workload: ChaosWorkload): void {
    const since = workload.looked;
    const kills = attempt(() => kernelKillsIn(workload.dir)) ?? workload.kernelKills;
    workload.looked = Date.now();
    const count = kills - workload.kernelKills;
    workload.kernelKills = kills;
    if (count > 0) this.#see({ at: workload.looked, kind: 'kernel-kills', workload: workload.id, count, since });
  }

  lookAtAll(): void {
    for (const workload of this.workloads) this.look(workload);
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.workloads[0]) await this.retire(this.workloads[0]).catch(() => undefined);
    await this.cgroup.cleanup();
    await this.#pids.cleanup();
  }

  #make(kind: string): ChaosWorkload {
    if (this.#closed) throw new Error('the run was interrupted');
    const name = `${kind}-${String(++this.#count)}`;
    const workload = new ChaosWorkload(this.cgroup.child(name), name);
    this.workloads.push(workload);
    this.#see({ at: Date.now(), kind: 'workload', workload: workload.id, name, protected: workload.protected });
    return workload;
  }

  #mountTmpfs(name: string, mib: number): string {
    const directory = join(this.#scratch, name);
    mkdirSync(directory);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib + 1}m`, 'evictd-test', directory]);
    return directory;
  }

  async #start(workload: ChaosWorkload, cgroup: TestCgroup, leak: Leak, restarts: number): Promise<void> {
    const at = Date.now();
    const file = workload.tmpfs === undefined ? '' : join(workload.tmpfs, 'held');
    const args = ['-e', LEAK, String(leak.mibPerSecond), String(leak.upToMib), file, leak.ignoresTerm ? '1' : ''];
    const { pid, child, ended } = await cgroup.spawn('perl', args);
    child.stdout?.destroy();
    workload.pids.add(pid);
    if (!this.workloads.includes(workload)) workload.sent.add(pid);
    this.#see({ at, kind: 'process', workload: workload.id, pid });
    void ended.then(async (signal) => {
      this.look(workload);
      this.#see({ at: Date.now(), kind: 'ended', workload: workload.id, pid, signal, sent: workload.sent.has(pid) });
      workload.pids.delete(pid);
      await pause(100);
      if (restarts === 0 || !this.workloads.includes(workload) || !existsSync(cgroup.dir)) return;
      // It is evicted again before it is a member.
      workload.joining = this.#start(workload, cgroup, leak, restarts - 1).catch(() => undefined);
    });
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

function* cgroupsBelow(dir: string): Generator<string> {
  yield dir;
  for (const entry of attempt(() => readdirSync(dir, { withFileTypes: true })) ?? []) {
    if (entry.isDirectory()) yield* cgroupsBelow(join(dir, entry.name));
  }
}

function pidsBelow(dir: string): number[] {
  return [...cgroupsBelow(dir)].flatMap((cgroup) =>
    (attempt(() => readFileSync(`${cgroup}/cgroup.procs`, 'utf8')) ?? '').split('\n').filter(Boolean).map(Number),
  );
}

/** On v1 a cgroup counts its own kills, on v2 those below it too. */
function kernelKillsIn(dir: string): number {
  const counted = (cgroup: string): number => {
    const text = readFileSync(join(cgroup, isV1 ? 'memory.oom_control' : 'memory.events'), 'utf8');
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  return isV1 ? [...cgroupsBelow(dir)].reduce((sum, cgroup) => sum + counted(cgroup), 0) : counted(dir);
}

/** undefined: it failed, because the process or the cgroup has gone. */
function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
