import type { Observations } from '../../core/observation.js';
import type { Signal } from '../../core/signal.js';
import type { Operand } from '../../core/threshold.js';
import type { NotifierState, Wake } from '../../monitor/ports.js';
import type { Binding, FilesystemStats } from '../../native/binding.js';
import { assumedFillRate } from './fill-rate.js';
import type { PidsLevel } from './pids.js';
import { SignalSampler } from './signal-sampler.js';
import type { SlotWake } from './watch-slot.js';

/** The samplers of a node's signals that the kernel does not notify of: its filesystem and its process ids. */
export class SignalSamplers {
  readonly #native: Binding;
  readonly #bySignal: ReadonlyMap<Signal, SignalSampler>;
  /** One per level of the hierarchy that has a limit, by the file that counts. */
  readonly #pids = new Map<string, SignalSampler>();
  #onWake: (wake: Wake) => void = () => undefined;
  readonly #wake: SlotWake = (source, atNs, _detail, approaching) => {
    this.#onWake({ source, atNs, approaching });
  };

  constructor(native: Binding, filesystem: FilesystemStats, nodefs: string) {
    this.#native = native;
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
    this.#bySignal = new Map([ofFilesystem('nodefs.available', 'bytes'), ofFilesystem('nodefs.inodesFree', 'inodes')]);
  }

  /** Signals without an observation stay as they are: there is no capacity to resolve a percentage with. */
  arm(thresholds: readonly Operand[], { observed }: Observations, pids: readonly PidsLevel[], onWake: (wake: Wake) => void): boolean {
    this.#onWake = onWake;
    let armed = false;
    for (const [signal, sampler] of this.#bySignal) {
      const asked = thresholds.some((threshold) => threshold.signal === signal);
      const observation = observed.get(signal);
      if (!asked) sampler.close();
      else if (observation !== undefined && sampler.arm(thresholds, observation)) armed = true;
    }
    for (const level of pids) if (this.#ofLevel(level).arm(thresholds, level)) armed = true;
    for (const [path, sampler] of this.#pids) {
      if (pids.some(({ file }) => file.path === path)) continue;
      sampler.close(); // it has no limit any more, or is gone
      this.#pids.delete(path);
    }
    return armed;
  }

  /** What a pass has read. */
  seen({ observed }: Observations, pids: readonly PidsLevel[]): void {
    for (const [signal, sampler] of this.#bySignal) {
      const observation = observed.get(signal);
      if (observation !== undefined) sampler.seen(observation);
    }
    for (const level of pids) this.#pids.get(level.file.path)?.seen(level);
  }

  states(): NotifierState[] {
    return [...this.#bySignal.values(), ...this.#pids.values()].flatMap((sampler) => sampler.states());
  }

  close(): void {
    for (const sampler of [...this.#bySignal.values(), ...this.#pids.values()]) sampler.close();
    this.#pids.clear();
  }

  #ofLevel({ file, source }: PidsLevel): SignalSampler {
    const known = this.#pids.get(file.path);
    if (known) return known;
    const value = { files: [file], weights: [1] };
    const assumedRate = assumedFillRate('processes');
    const sampler = new SignalSampler(
      this.#native,
      { signal: 'pid.available', counts: 'used', value, assumedRate, name: source },
      this.#wake,
    );
    this.#pids.set(file.path, sampler);
    return sampler;
  }
}
