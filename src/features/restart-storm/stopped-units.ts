import type { Hold } from '../../core/systemd/unit-hold.js';
import type { UnitManager } from '../../monitor/ports/ports.js';
import { Releases, type ReleaseResult } from '../../monitor/unit-releases.js';

export type StillStopped = Exclude<ReleaseResult, { kind: 'started' }>;

/**
 * Starts units that an evictd which has ended keeps stopped.
 *
 * @param timeoutMs  for the connection, and again for the answers
 */
export async function startHeldUnits(units: UnitManager, holds: readonly Hold[], timeoutMs: number): Promise<readonly ReleaseResult[]> {
  if (holds.length === 0) return [];
  const releases = new Releases(units, () => undefined);
  await releases.connected(timeoutMs);
  return releases.release(holds, timeoutMs);
}

export function reasonsOf(left: StillStopped): readonly string[] {
  return left.kind === 'open' ? [left.reason] : left.why.reasons;
}

/**
 * 'b.service is kept stopped: b.service conflicts with fallback.service, which runs; to start it: …; to leave it
 * stopped: …'.
 */
export function stillStoppedText(left: StillStopped): string {
  const { unit } = left.hold;
  const running = left.kind === 'open' ? [] : left.why.running;
  const cure = running.length === 0 ? 'after that is solved:' : `to start it: systemctl stop ${running.join(' ')} &&`;
  return `${unit} is kept stopped: ${reasonsOf(left).join('; ')}; ${cure} evictd restore; to leave it stopped: evictd restore --forget ${unit}`;
}
