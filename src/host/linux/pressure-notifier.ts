import type { Binding } from '../../native/binding.js';
import { errnoName } from '../../errors.js';
import { refusal } from './refusal.js';
import { WatchSlot, type SlotState, type SlotWake, type WatchFailure } from './watch-slot.js';

/** Stalled for a tenth of the window. The kernel allows windows that are no multiple of 2 s only with CAP_SYS_RESOURCE (Documentation/accounting/psi.rst). */
const WINDOWS_US = [500_000, 2_000_000] as const;

/** An additional reason to look at the node: some task waits for memory. */
export class PressureNotifier {
  readonly #native: Binding;
  readonly #file: string;
  readonly #slot: WatchSlot;
  #windowUs: number = WINDOWS_US[0];

  /** @param file  /proc/pressure/memory, or memory.pressure of a v2 cgroup */
  constructor(native: Binding, file: string, wake: SlotWake) {
    this.#native = native;
    this.#file = file;
    this.#slot = new WatchSlot('psi_trigger', native.WAKE.GONE, wake);
  }

  /** True: it was armed anew. */
  arm(): boolean {
    if (this.#slot.live) return false;
    for (const windowUs of WINDOWS_US) {
      let refused: unknown;
      const armed = this.#slot.open(
        this.#file,
        (onWake) => new this.#native.PsiTrigger(this.#file, { kind: 'some', stallUs: windowUs / 10, windowUs }, onWake),
        (error) => {
          refused = error;
          return explain(this.#file, error);
        },
      );
      this.#windowUs = windowUs;
      if (armed) return true;
      if (errnoName(refused) !== 'EINVAL') return false;
    }
    return false;
  }

  state(): SlotState {
    return this.#slot.state(`some 10 % of ${String(this.#windowUs / 1000)} ms in ${this.#file}`, false);
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
