import { FILESYSTEM_ROLES, type FilesystemPaths, type FilesystemRole } from '../../core/signal/layout.js';
import type { Observation, Observations } from '../../core/signal/observation.js';
import { filesystemOf, isKubeletSignal, SIGNAL_FACTS, type Signal } from '../../core/signal/signal.js';
import { operandsOf, type Threshold } from '../../core/threshold/threshold.js';
import type { Node, NodeIdentity, NotifierState, Wake } from '../../monitor/ports/ports.js';
import type { WindowsBinding } from '../../native/windows-binding.js';
import { collect, type Missing } from '../missing-reading.js';
import { WindowsFilesystems, type VolumesSeen } from './volumes.js';
import { LowMemory, MACHINE_READERS, type commitAvailable } from './windows-memory.js';
import { MemoryPolling } from './memory-polling.js';
import { thrownText } from '../../native/system-error.js';

/** The configuration of the node; a cgroup is refused before. */
interface WindowsNodeConfig {
  readonly filesystems: FilesystemPaths;
  readonly thresholds?: readonly Threshold[];
}

export interface WindowsNode extends Node {
  /** Windows has no cgroups. */
  readonly hierarchy: undefined;
  /** Changes the filesystems: request them, and read when they have answered. */
  place(filesystems: FilesystemPaths): void;
}

export function openWindowsNode(config: WindowsNodeConfig, native: WindowsBinding): WindowsNode {
  return new WindowsNodeReader(config, native);
}

const AWAITED: Missing = { missing: 'no container runtime has reported yet where images are, and filesystems.imagefs is not set' };

class WindowsNodeReader implements WindowsNode {
  readonly hierarchy = undefined;
  readonly identity: NodeIdentity = { name: 'machine', cgroup: undefined, cgroupVersion: undefined };
  readonly #native: WindowsBinding;
  readonly #configured: FilesystemPaths;
  #placed: FilesystemPaths;
  readonly #filesystems: WindowsFilesystems;
  readonly #looks = new MemoryPolling();
  readonly #low: LowMemory;
  #seen: VolumesSeen;
  /** The signals that a threshold or a policy has requested. */
  readonly #requested = new Set<Signal>();

  constructor({ filesystems, thresholds = [] }: WindowsNodeConfig, native: WindowsBinding) {
    this.#native = native;
    this.#configured = this.#placed = filesystems;
    this.#filesystems = new WindowsFilesystems(native, filesystems);
    this.#low = new LowMemory(native);
    this.#seen = this.#filesystems.look(process.hrtime.bigint());
    for (const { signal } of thresholds.flatMap(operandsOf)) this.#requested.add(signal);
    this.requestFilesystems();
  }

  read(): Observations {
    const memory = this.#memory();
    this.#seen = this.#filesystems.look(process.hrtime.bigint());
    return collect([...memory, ...FILESYSTEM_ROLES.flatMap((role) => this.#disk(role)), ...this.#absent()]);
  }

  layout(): VolumesSeen['layout'] {
    return this.#seen.layout;
  }

  place(filesystems: FilesystemPaths): void {
    this.#placed = filesystems;
    this.#filesystems.place(filesystems);
  }

  requestFilesystems(onAnswer?: (outstanding: number) => void): void {
    this.#filesystems.request(onAnswer);
  }

  arm(thresholds: readonly Threshold[], onWake: (wake: Wake) => void, alsoRead: readonly Signal[] = []): boolean {
    const operands = thresholds.flatMap(operandsOf);
    for (const signal of [...operands.map((operand) => operand.signal), ...alsoRead]) this.#requested.add(signal);
    const moved = this.#looks.arm(operands, process.hrtime.bigint());
    if (this.#looks.atNs !== undefined) return this.#low.arm(onWake) || moved;
    this.#low.close();
    return moved;
  }

  lookAtNs(): bigint | undefined {
    return this.#looks.atNs;
  }

  look(): boolean {
    return this.#looks.crossed(collect(this.#memory()).observed, process.hrtime.bigint());
  }

  decided({ observed }: Observations): void {
    this.#looks.decided(observed, process.hrtime.bigint());
  }

  /** There is no standing order on Windows. */
  crossing(): undefined {
    return undefined;
  }

  notifiers(): readonly NotifierState[] {
    const looks = this.#looks.states();
    return looks.length === 0 ? [] : [...looks, this.#low.state()];
  }

  /** Windows has no OOM killer: allocations fail. */
  oomKills(): undefined {
    return undefined;
  }

  close(): void {
    this.#looks.close();
    this.#low.close();
    this.#filesystems.close();
  }

  #memory(): [Signal, Observation | Missing][] {
    const readers = Object.entries(MACHINE_READERS) as [keyof typeof MACHINE_READERS, typeof commitAvailable][];
    const signals = readers.filter(([signal]) => isKubeletSignal(signal) || this.#requested.has(signal));
    try {
      const info = this.#native.performanceInfo();
      const timeNs = process.hrtime.bigint();
      return signals.map(([signal, read]) => [signal, read(info, timeNs)]);
    } catch (error) {
      const missing = `GetPerformanceInfo: ${thrownText(error)}`;
      return signals.map(([signal]) => [signal, { missing }]);
    }
  }

  /** nodefs, and the others where they are configured or asked for. */
  #disk(role: FilesystemRole): [Signal, Observation | Missing][] {
    const isRequested = this.#configured[role] !== undefined || [...this.#requested].some((signal) => filesystemOf(signal) === role);
    if (!isRequested) return [];
    const isAwaited = role !== 'nodefs' && this.#placed.isAwaited === true;
    const { available, unsupported } = this.#seen;
    const missing = isAwaited ? AWAITED : role === 'containerfs' && unsupported !== undefined ? { missing: unsupported } : undefined;
    return [[`${role}.available`, missing ?? available[role]], ...absence(`${role}.inodesFree`)];
  }

  /** pid.available, and what a threshold asks for although Windows does not have it. */
  #absent(): [Signal, Missing][] {
    const signals = [...this.#requested].filter((signal) => filesystemOf(signal) === undefined);
    return [...new Set<Signal>(['pid.available', ...signals])].flatMap(absence);
  }
}

function absence(signal: Signal): [Signal, Missing][] {
  const missing = SIGNAL_FACTS[signal].absentOnWindows;
  return missing === undefined ? [] : [[signal, { missing, absent: true }]];
}
