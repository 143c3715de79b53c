import type { Workload } from '../../core/workload/workload.js';
import type { JournalRecord } from './record.js';

/**
 * The container runtime removes a workload that was evicted.
 *
 * @param error  why it could not yet; undefined: it has
 */
export function removalRecord({ name, path, id }: Workload, error: string | undefined): JournalRecord {
  return {
    type: 'removal',
    victim: { name, path, id },
    removed: error === undefined,
    ...(error === undefined ? {} : { error }),
    message: removalText(name, error),
  };
}

export function removalText(name: string, error: string | undefined): string {
  if (error === undefined) return `${name} was removed by its container runtime, with its files`;
  return `${name} was evicted, but its container runtime did not remove it: ${error}; evictd tries again at every tick`;
}
