import { constants, setPriority } from 'node:os';

/**
 * Raises the priority class to `high`, because what fills the memory mostly keeps every core busy, too. `realtime`
 * would delay Windows itself. Without the right it has no effect.
 */
export function raisePriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
  } catch {
    // not permitted
  }
}
