import type { Journal } from '../../src/journal/journal.js';

/** As evictd does at its end. Returns whether everything is in the state directory. */
export async function closeJournal(journal: Journal, timeoutMs = 5_000): Promise<boolean> {
  const written = await journal.flush(timeoutMs);
  journal.close();
  return written;
}
