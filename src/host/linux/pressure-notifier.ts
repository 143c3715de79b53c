import { errnoName } from '../../errors.js';
import type { Binding, OnWake, Watch } from '../../native/binding.js';
import { allowedPsiWindow, SHORTEST_PSI_WINDOW_US } from './psi-window.js';
import { refusal } from './refusal.js';
import { WatchSlot, type SlotState, type SlotWake } from './watch-slot.js';
import { type WatchFailure } from './watch-failure.js';

/** A further reason to read the node: tasks wait for memory. */
export class PressureNotifier {
  readonly #native: Binding;
  readonly #file: string;
  readonly #slot: WatchSlot;
  /** undefined: not tried yet. */
  #windowUs: number | undefined;

  /** @param file  /proc/pressure/memory, or memory.pressure of a v2 cgroup */
  constructor(native: Binding, file: string, wake: SlotWake) {
    this.#native = native;
    this.#file = file;
    this.#slot = new WatchSlot('psi_trigger', native.WAKE.GONE, wake);
  }

  /** Arms a stall of a tenth of the shortest permitted window. True: it was armed anew. */
  arm(): boolean {
    if (this.#slot.live) return false;
    const open = (onWake: OnWake): Watch => {
      this.#windowUs = allowedPsiWindow(this.#native, this.#file, 'some', SHORTEST_PSI_WINDOW_US);
      return new this.#native.PsiTrigger(this.#file, { kind: 'some', stallUs: this.#windowUs / 10, windowUs: this.#windowUs }, onWake);
    };
    return this.#slot.open(this.#file, open, (error) => explain(this.#file, error));
  }

  state(): SlotState {
    const window = this.#windowUs === undefined ? 'a window' : `${String(this.#windowUs / 1000)} ms`;
    return this.#slot.state(`some 10 % of ${window} in ${this.#file}`, false);
  }

  close(): void {
    this.#slot.close();
  }
}

function explain(file: string, error: unknown): WatchFailure {
  const errno = errnoName(error);
  if (errno === 'ENOENT' || errno === 'EOPNOTSUPP') {
    return { reason: `${file}: this kernel does not measure pressure`, hint: 'boot with psi=1, on a kernel with CONFIG_PSI' };
  }
  return refusal(error);
}
