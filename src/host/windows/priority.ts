import { constants, setPriority } from 'node:os';

/** Ahead of what fills the memory, which mostly keeps every core busy, too: the class `high`. The one above it, `realtime`, would hold up what Windows itself does. Without the right to it everything stays as it is. */
export function raisePriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
  } catch {
    // not allowed
  }
}
