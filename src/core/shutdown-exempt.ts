import type { Protection, Workload } from './workload.js';

/**
 * Why a workload is not ended at a shutdown, and left to whoever takes the machine down; undefined: it ends with its group. What only keeps it from being
 * evicted does not count: a critical one ends, with the critical ones.
 *
 * @param found  what a look at its processes says beside its own protection
 */
export function exemptFromShutdown({ protection }: Pick<Workload, 'protection'>, found: Protection | undefined): Protection | undefined {
  return [found, protection].flatMap(allProtections).find(isExempt);
}

/** Itself, and what it hides. */
export function allProtections(protection: Protection | undefined): readonly Protection[] {
  if (protection === undefined) return [];
  return 'also' in protection ? [protection, ...allProtections(protection.also)] : [protection];
}

function isExempt({ kind }: Protection): boolean {
  switch (kind) {
    case 'self':
    case 'unit':
    case 'system':
    case 'kubelet':
    case 'contains':
    case 'outside':
    case 'untold':
    case 'unlisted':
    case 'gone':
    case 'vacant':
    case 'takes-along':
    case 'emergency-action':
      return true;
    case 'critical':
    case 'static':
    case 'omit':
    case 'changed':
    case 'kill-failed':
    case 'frees-nothing':
    case 'measuring':
      return false;
  }
}
