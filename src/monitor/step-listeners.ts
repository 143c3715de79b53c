import type { StepListener } from './ports/ports.js';

/** Calls every listener. A listener must not throw; if one does, `failed` is called, and the others follow. */
export function notifyListeners(
  listeners: readonly StepListener[],
  call: (listener: StepListener) => void,
  failed: (error: unknown) => void,
): void {
  for (const listener of listeners) {
    try {
      call(listener);
    } catch (error) {
      failed(error);
    }
  }
}
