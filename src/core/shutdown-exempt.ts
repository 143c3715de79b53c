import { protectedUnit } from './protected-units.js';
import type { Protection, Workload } from './workload.js';

/**
 * Why a workload is not ended at a shutdown, and left to whoever takes the machine down; undefined: it ends with its group. What only keeps it from being
 * evicted does not count: a critical one ends, with the critical ones.
 *
 * @param found  what a look at its processes says beside its own protection
 */
export function exemptFromShutdown({ protection, path, runtime }: Workload, found: Protection | undefined): Protection | undefined {
  const held = [found, protection].find((each) => each !== undefined && isExempt(each));
  if (held !== undefined) return held;
  // A rule that calls it critical says nothing about who stops it.
  if (runtime?.byKubelet) return { kind: 'kubelet' };
  const listed = protection?.kind === 'critical' ? protectedUnit(path) : undefined;
  return listed && { kind: 'unit', why: listed.why };
}

function isExempt({ kind }: Protection): boolean {
  switch (kind) {
    case 'self':
    case 'unit':
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
