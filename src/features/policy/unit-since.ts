import { slicePath, unitNameOf, unitPlace } from '../../core/systemd/unit.js';
import type { UnitManager } from '../../monitor/ports/unit-port.js';

/** After this time without an answer the connection is renewed. Until then no other age replaces that of the unit. */
const ANSWERED_WITHIN_NS = 10_000_000_000n;

/**
 * The monotonic time at which the unit of a cgroup was started. 'awaited': systemd's answer is outstanding. undefined: it is
 * not a unit of the system's manager, or systemd does not answer.
 */
export type UnitSince = (path: string) => bigint | 'awaited' | undefined;

export function unitSince(units: Pick<UnitManager, 'unit' | 'awaited'>): UnitSince {
  return (path) => {
    const name = systemUnit(path);
    if (name === undefined) return undefined;
    const known = units.unit(name);
    if (known === undefined) return units.awaited(name, ANSWERED_WITHIN_NS) ? 'awaited' : undefined;
    const isOther = known.controlGroup !== '' && known.controlGroup !== path;
    return isOther ? undefined : known.sinceNs;
  };
}

/** Users choose the names below their managers, and those of parts of units are not units of the system. */
function systemUnit(path: string): string | undefined {
  const { kind, unit } = unitPlace(path);
  if (kind === 'slice') {
    const slice = unitNameOf(path.slice(path.lastIndexOf('/') + 1));
    return path !== '/' && slicePath(slice) === path ? slice : undefined;
  }
  return kind !== 'inside' && unit?.manager === 'system' ? unit.name : undefined;
}
