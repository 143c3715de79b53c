import type { Operand } from '../../core/threshold.js';
import type { NotifierState, Wake } from '../../monitor/ports.js';
import type { Binding } from '../../native/binding.js';
import { FilesystemSamplers } from './filesystem-samplers.js';
import type { FilesystemOnDevice } from './filesystems.js';
import { assumedFillRate } from '../fill-rate.js';
import { type Level, LevelSamplers } from './level.js';
import type { SlotWake } from './watch-slot.js';

/** The samplers of signals without kernel notification: filesystems and process ids. */
export class SignalSamplers {
  readonly #filesystems: FilesystemSamplers;
  readonly #pids: LevelSamplers;
  #onWake: (wake: Wake) => void = () => undefined;
  readonly #wake: SlotWake = (source, atNs, _detail, approaching) => {
    this.#onWake({ source, atNs, approaching });
  };

  constructor(native: Binding) {
    this.#filesystems = new FilesystemSamplers(native, this.#wake);
    this.#pids = new LevelSamplers(native, 'pid.available', assumedFillRate('processes'), this.#wake);
  }

  arm(
    thresholds: readonly Operand[],
    devices: readonly FilesystemOnDevice[],
    pids: readonly Level[],
    onWake: (wake: Wake) => void,
  ): boolean {
    this.#onWake = onWake;
    const armed = this.#filesystems.arm(thresholds, devices);
    return this.#pids.arm(thresholds, pids) || armed;
  }

  seen(devices: readonly FilesystemOnDevice[], pids: readonly Level[]): void {
    this.#filesystems.seen(devices);
    this.#pids.seen(pids);
  }

  states(): NotifierState[] {
    return [...this.#filesystems.states(), ...this.#pids.states()];
  }

  close(): void {
    this.#filesystems.close();
    this.#pids.close();
  }
}
