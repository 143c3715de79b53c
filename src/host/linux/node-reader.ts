import type { CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { FilesystemPaths, FilesystemRole } from '../../core/signal/layout.js';
import type { Observation, Observations } from '../../core/signal/observation.js';
import { filesystemOf, type DiskSignal, type KubeletSignal, type Signal } from '../../core/signal/signal.js';
import { operandsOf, resolve, type Operand, type Threshold } from '../../core/threshold/threshold.js';
import type { Node, NodeIdentity, NotifierState, Wake } from '../../monitor/ports/ports.js';
import type { OrderCondition } from '../../monitor/ports/standing-order.js';
import type { Binding } from '../../native/binding.js';
import { collect } from '../missing-reading.js';
import { filesystemResources, Filesystems, signalOf, type FilesystemsSeen } from './disk/filesystems.js';
import type { Allocatable } from './memory/allocatable.js';
import type { KernelSource, Missing } from './sampling/kernel-source.js';
import type { MemoryNotifiers } from './memory/memory-notifiers.js';
import { availableOf, type MemorySource } from './memory/memory.js';
import { NodePass } from './memory/node-pass.js';
import type { PressureAndSwap } from './pressure/pressure-and-swap.js';
import type { OomKillCounter } from './oom/oom-kills.js';
import { levelResources, type Level, type LevelReading } from './sampling/level.js';
import { SignalSamplers, type SampledResource } from './sampling/signal-sampler.js';

/** The node, and the memory hierarchy of its workloads (undefined: no memory controller). */
export interface LinuxNode extends Node {
  readonly hierarchy: CgroupHierarchy | undefined;
  /** Changes the filesystems: request them, and read when they have answered. */
  place(filesystems: FilesystemPaths): void;
}

/** What a node is read from. The reader closes it. */
export interface NodeParts {
  readonly native: Binding;
  readonly hierarchy: CgroupHierarchy | undefined;
  readonly identity: NodeIdentity;
  readonly filesystems: FilesystemPaths;
  readonly thresholds: readonly Threshold[];
  readonly memory: MemorySource;
  /** Asked at a look and a pass: other memory that counts from now on; undefined: the same. Left out: always the same. */
  readonly changedMemory?: (() => Pick<NodeParts, 'memory' | 'notifiers'> | undefined) | undefined;
  readonly pids: KernelSource<LevelReading | Missing>;
  readonly oomKills: OomKillCounter;
  readonly notifiers: MemoryNotifiers;
  readonly own: PressureAndSwap;
  /** Or why there is none. */
  readonly allocatable: Allocatable | Missing;
}

type Reading = Observation | Missing;

/** The interval of looks while statistics are behind, because no event may follow. */
const BEHIND_LOOK_NS = 100_000_000n;

const AWAITED: Missing = { missing: 'no container runtime has reported yet where images are, and filesystems.imagefs is not set' };

/** The machine or a cgroup of it. */
export class LinuxNodeReader implements LinuxNode {
  readonly identity: NodeIdentity;
  readonly hierarchy: CgroupHierarchy | undefined;
  #parts: NodeParts;
  #pass: NodePass;
  #lookAtNs: bigint | undefined;
  /** Those of the last pass, if `steady` has made it. */
  #steadyCapacities: string | undefined;
  /** What `steady` has found to count from now on, until the next arming. */
  #changed: ReturnType<NonNullable<NodeParts['changedMemory']>>;
  readonly #filesystems: Filesystems;
  #placed: FilesystemPaths;
  #seenFilesystems: FilesystemsSeen;
  #asksAllocatable = false;
  /** Filesystems that are not configured, but that a threshold or a policy needs. */
  readonly #requestedRoles = new Set<FilesystemRole>();
  readonly #samplers: SignalSamplers;
  readonly stalls = (): ReturnType<PressureAndSwap['stalls']> => this.#parts.own.stalls();
  /** Kept to arm a filesystem's thresholds when it has answered. */
  #armed: { readonly operands: readonly Operand[]; readonly onWake: (wake: Wake) => void } | undefined;

  constructor(parts: NodeParts) {
    this.identity = parts.identity;
    this.hierarchy = parts.hierarchy;
    this.#parts = parts;
    this.#pass = passOf(parts);
    this.#placed = parts.filesystems;
    this.#filesystems = new Filesystems(parts.native, parts.filesystems, () => {
      if (this.#armed) this.#armSamplers(this.#armed.operands, this.#armed.onWake);
    });
    this.#seenFilesystems = this.#filesystems.look(process.hrtime.bigint());
    this.#samplers = new SignalSamplers(parts.native);
    this.#ask(parts.thresholds.flatMap(operandsOf).map(({ signal }) => signal));
    this.requestFilesystems();
  }

  get countsKernelMemory(): boolean {
    return this.#parts.memory.countsKernelMemory ?? false;
  }

  read(): Observations {
    this.#readPass();
    const { memory, notifiers, allocatable, own } = this.#parts;
    const observations = this.#observe(own.read(process.hrtime.bigint()));
    this.#seen(memory, notifiers);
    if (!('missing' in allocatable)) this.#seen(allocatable.memory, allocatable.notifiers);
    this.#samplers.seen(this.#resources());
    return observations;
  }

  /** @param own  signals that the kubelet does not have, which only a full pass reads */
  #observe(own: readonly [Signal, Observation | Missing][] = []): Observations {
    const timeNs = process.hrtime.bigint();
    const pids = this.#pass.of(this.#parts.pids);
    this.#seenFilesystems = this.#filesystems.look(timeNs);
    // In the order of the kubelet's signals; a missing entry does not compile.
    const readings: Readonly<Record<Exclude<KubeletSignal, DiskSignal>, Reading | undefined>> = {
      'memory.available': this.#memory(this.#parts.memory, timeNs),
      'allocatableMemory.available': this.#allocatable(timeNs),
      ...Object.fromEntries(this.#disks(this.#seenFilesystems)),
      'pid.available': 'missing' in pids ? pids : observationOf(pids.narrowest, timeNs),
    };
    const read = Object.entries(readings).flatMap(([signal, reading]) => (reading ? [[signal as Signal, reading] as const] : []));
    return collect([...read, ...own]);
  }

  layout(): FilesystemsSeen['layout'] {
    return this.#seenFilesystems.layout;
  }

  place(filesystems: FilesystemPaths): void {
    this.#placed = filesystems;
    const unused = this.#filesystems.place(filesystems);
    if (this.#armed) this.#armSamplers(this.#armed.operands, this.#armed.onWake);
    for (const watched of unused) watched.close();
  }

  requestFilesystems(onAnswer?: (outstanding: number) => void): void {
    this.#filesystems.request(onAnswer);
  }

  arm(thresholds: readonly Threshold[], onWake: (wake: Wake) => void, alsoRead: readonly Signal[] = []): boolean {
    this.#followMemory();
    // Reclaimable memory and the limits may have changed since the last pass.
    this.#readPass();
    const { memory, notifiers, allocatable } = this.#parts;
    const operands = thresholds.flatMap(operandsOf);
    this.#armed = { operands, onWake };
    this.#ask([...operands.map(({ signal }) => signal), ...alsoRead]);
    const others = [this.#parts.own.arm(thresholds, onWake), this.#armSamplers(operands, onWake)].includes(true);
    const armed = this.#arm(memory, notifiers, thresholds, onWake) || others;
    return 'missing' in allocatable ? armed : this.#arm(allocatable.memory, allocatable.notifiers, thresholds, onWake) || armed;
  }

  #ask(signals: readonly Signal[]): void {
    this.#asksAllocatable = signals.includes('allocatableMemory.available');
    for (const role of signals.map(filesystemOf)) if (role !== undefined) this.#requestedRoles.add(role);
  }

  lookAtNs(): bigint | undefined {
    const { lookAtNs } = this.#parts.own;
    if (this.#lookAtNs === undefined || (lookAtNs !== undefined && lookAtNs < this.#lookAtNs)) return lookAtNs;
    return this.#lookAtNs;
  }

  look(): boolean {
    const nowNs = process.hrtime.bigint();
    if (this.#lookAtNs !== undefined && this.#lookAtNs <= nowNs) {
      this.#lookAtNs = undefined;
      return true;
    }
    return this.#parts.own.look(nowNs);
  }

  decided({ observed }: Observations): void {
    this.#parts.own.decided(observed, process.hrtime.bigint());
  }

  crossing({ value }: Pick<Threshold, 'value'>): readonly OrderCondition[] | undefined {
    const { memory: source, notifiers } = this.#parts;
    const memory = this.#pass.memoryOf(source);
    const fresh = this.#pass.freshOf(source);
    if ('missing' in memory || fresh?.isBehind) return undefined;
    return [notifiers.crossing(resolve(value, memory.capacity), memory), ...(fresh ? [fresh.condition] : [])];
  }

  notifiers(): readonly NotifierState[] {
    const { notifiers, allocatable } = this.#parts;
    return [
      ...notifiers.states(),
      ...this.#parts.own.states(),
      ...('missing' in allocatable ? [] : allocatable.notifiers.states()),
      ...this.#samplers.states(),
    ];
  }

  oomKills(): number | undefined {
    return this.#parts.oomKills.read();
  }

  close(): void {
    this.#armed = undefined;
    this.#samplers.close();
    this.#parts.notifiers.close();
    this.#parts.own.close();
    if (!('missing' in this.#parts.allocatable)) this.#parts.allocatable.notifiers.close();
    this.#parts.oomKills.close();
    this.#pass.close();
    this.#filesystems.close();
  }

  steady(): Observations | undefined {
    this.#changed = this.#parts.changedMemory?.() ?? this.#changed;
    if (this.#changed !== undefined) return undefined;
    const before = this.#steadyCapacities ?? this.#capacities();
    this.#readPass();
    this.#steadyCapacities = this.#capacities();
    return this.#lookAtNs === undefined && before !== undefined && this.#steadyCapacities === before ? this.#observe() : undefined;
  }

  /** What limits are computed from, by the last pass; undefined: a part of it could not be read. */
  #capacities(): string | undefined {
    const pids = this.#pass.of(this.#parts.pids);
    const memories = this.#pass.memories.map((source) => this.#pass.memoryOf(source));
    const capacities = memories.flatMap((memory) => ('missing' in memory ? [] : [memory.capacity]));
    if ('missing' in pids || capacities.length < memories.length) return undefined;
    return [...capacities, ...pids.levels.map(({ capacity }) => capacity)].join(' ');
  }

  #readPass(): void {
    this.#steadyCapacities = undefined;
    this.#lookAtNs = this.#pass.read() ? process.hrtime.bigint() + BEHIND_LOOK_NS : undefined;
  }

  #followMemory(): void {
    const changed = this.#parts.changedMemory?.() ?? this.#changed;
    this.#changed = undefined;
    if (changed === undefined) return;
    this.#parts.notifiers.close();
    this.#pass.close();
    this.#parts = { ...this.#parts, ...changed };
    this.#pass = passOf(this.#parts);
  }

  #memory(source: MemorySource, timeNs: bigint): Observation | Missing {
    const memory = this.#pass.memoryOf(source);
    if ('missing' in memory) return memory;
    return { available: availableOf(memory), capacity: memory.capacity, timeNs, source: source.description };
  }

  /** Left out where it is neither configured nor asked for. */
  #allocatable(timeNs: bigint): Reading | undefined {
    const { allocatable } = this.#parts;
    if (!('missing' in allocatable)) return this.#memory(allocatable.memory, timeNs);
    return this.#asksAllocatable ? allocatable : undefined;
  }

  /** nodefs, and the others where they are configured or asked for. */
  #disks({ devices, unsupported }: FilesystemsSeen): [Signal, Observation | Missing][] {
    return devices.flatMap(({ roles, available, inodesFree }) =>
      roles.flatMap((role): [Signal, Observation | Missing][] => {
        if (role !== 'nodefs' && this.#parts.filesystems[role] === undefined && !this.#requestedRoles.has(role)) return [];
        const refusal = role === 'containerfs' && unsupported !== undefined ? { missing: unsupported } : undefined;
        const missing = this.#isAwaited(role) ? AWAITED : refusal;
        return [
          [signalOf(role, 'available'), missing ?? available],
          [signalOf(role, 'inodesFree'), missing ?? inodesFree],
        ];
      }),
    );
  }

  #seen(source: MemorySource, notifiers: MemoryNotifiers): void {
    const memory = this.#pass.memoryOf(source);
    if (!('missing' in memory)) notifiers.seen(memory);
  }

  #armSamplers(operands: readonly Operand[], onWake: (wake: Wake) => void): boolean {
    this.#seenFilesystems = this.#filesystems.look(process.hrtime.bigint());
    const known = operands.filter(({ signal }) => !this.#isAwaited(filesystemOf(signal)));
    return this.#samplers.arm(known, this.#resources(), onWake);
  }

  #isAwaited(role: FilesystemRole | undefined): boolean {
    return role !== undefined && role !== 'nodefs' && this.#placed.isAwaited === true;
  }

  #resources(): readonly SampledResource[] {
    const pids = this.#pass.of(this.#parts.pids);
    const levels = 'missing' in pids ? [] : pids.levels;
    return [...filesystemResources(this.#seenFilesystems.devices), ...levelResources('pid.available', 'processes', levels)];
  }

  #arm(source: MemorySource, notifiers: MemoryNotifiers, thresholds: readonly Threshold[], onWake: (wake: Wake) => void): boolean {
    const memory = this.#pass.memoryOf(source);
    if ('missing' in memory) return false; // the cgroup was removed: no limit can be computed
    return notifiers.arm(thresholds, memory, process.hrtime.bigint(), onWake);
  }
}

function passOf({ native, memory, pids, allocatable }: NodeParts): NodePass {
  return new NodePass(native, [memory, ...('missing' in allocatable ? [] : [allocatable.memory])], [pids]);
}

function observationOf({ available, capacity, source }: Level, timeNs: bigint): Observation {
  return { available, capacity, source, timeNs };
}
