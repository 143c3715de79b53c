import type { Observations } from '../../core/observation.js';
import type { Signal } from '../../core/signal.js';
import type { Operand } from '../../core/threshold.js';
import type { NotifierState, Wake } from '../../monitor/ports.js';
import type { Binding, FilesystemStats } from '../../native/binding.js';
import { assumedFillRate } from './fill-rate.js';
import type { Level } from './level.js';
import { LevelSamplers } from './level-samplers.js';
import { SignalSampler } from './signal-sampler.js';
import type { SlotWake } from './watch-slot.js';

/** The samplers of a node's signals that the kernel does not notify of: its filesystem and its process ids. */
export class SignalSamplers {
  readonly #bySignal: ReadonlyMap<Signal, SignalSampler>;
  readonly #pids: LevelSamplers;
  #onWake: (wake: Wake) => void = () => undefined;
  readonly #wake: SlotWake = (source, atNs, _detail, approaching) => {
    this.#onWake({ source, atNs, approaching });
  };

  constructor(native: Binding, filesystem: FilesystemStats, nodefs: string) {
    const ofFilesystem = (signal: Signal, unit: 'bytes' | 'inodes'): [Signal, SignalSampler] => {
      const value = { filesystem, field: unit === 'bytes' ? 'availableBytes' : 'inodesFree' } as const;
      const sampled = {
        signal,
        counts: 'free',
        value,
        assumedRate: assumedFillRate(unit),
        name: `${unit === 'bytes' ? 'available bytes' : 'free inodes'} of ${nodefs}`,
      } as const;
      return [signal, new SignalSampler(native, sampled, this.#wake)];
    };
    this.#pids = new LevelSamplers(native, 'pid.available', assumedFillRate('processes'), this.#wake);
    this.#bySignal = new Map([ofFilesystem('nodefs.available', 'bytes'), ofFilesystem('nodefs.inodesFree', 'inodes')]);
  }

  /** Signals without an observation stay as they are: there is no capacity to resolve a percentage with. */
  arm(thresholds: readonly Operand[], { observed }: Observations, pids: readonly Level[], onWake: (wake: Wake) => void): boolean {
    this.#onWake = onWake;
    let armed = false;
    for (const [signal, sampler] of this.#bySignal) {
      const asked = thresholds.some((threshold) => threshold.signal === signal);
      const observation = observed.get(signal);
      if (!asked) sampler.close();
      else if (observation !== undefined && sampler.arm(thresholds, observation)) armed = true;
    }
    return this.#pids.arm(thresholds, pids) || armed;
  }

  /** What a pass has read. */
  seen({ observed }: Observations, pids: readonly Level[]): void {
    for (const [signal, sampler] of this.#bySignal) {
      const observation = observed.get(signal);
      if (observation !== undefined) sampler.seen(observation);
    }
    this.#pids.seen(pids);
  }

  states(): NotifierState[] {
    return [...this.#bySignal.values(), this.#pids].flatMap((sampler) => sampler.states());
  }

  close(): void {
    for (const sampler of [...this.#bySignal.values(), this.#pids]) sampler.close();
  }
}
