import type { Protection, Workload } from './workload.js';

/**
 * Why a shutdown does not end a workload and leaves it to systemd; undefined: it ends with its group. A critical
 * workload ends too, with the critical group.
 *
 * @param found  from a look at its processes, besides its own protection
 */
export function exemptFromShutdown(
  { protection, kubernetes }: Pick<Workload, 'protection' | 'kubernetes'>,
  found: Protection | undefined,
): Protection | undefined {
  if (kubernetes) return { kind: 'kubelet' }; // it would start it again, and has a graceful shutdown of its own
  return [found, protection].flatMap(allProtections).find(isExempt);
}

/** A protection, and those that it hides. */
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
    case 'unreported':
    case 'unlisted':
    case 'removed':
    case 'vacant':
    case 'protected-dependant':
    case 'emergency-action':
      return true;
    case 'critical':
    case 'static':
    case 'omit':
    case 'changed':
    case 'kill-failed':
    case 'budget':
    case 'paused':
    case 'no-yield':
    case 'frees-nothing':
    case 'measuring':
      return false;
  }
}
