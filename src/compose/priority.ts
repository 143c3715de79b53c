import { selectHost } from '../host/select.js';

/** Ahead of what fills the memory, as far as the system lets evictd. */
export function raisePriority(): void {
  selectHost().raisePriority();
}
