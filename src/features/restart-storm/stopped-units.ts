import type { Hold } from '../../core/systemd/unit-hold.js';
import type { UnitManager } from '../../monitor/ports/ports.js';
import { Releases, type ReleaseResult } from '../../monitor/unit-releases.js';
import type { State } from '../../core/decide/state.js';
import type { NotStarted } from '../../core/systemd/unit-start.js';
import type { Journal } from '../../journal/journal.js';
import { releaseRecord } from '../../monitor/effects/release.js';
import { notReleasedRecord } from '../../journal/records/record.js';
import type { Reporter } from '../../monitor/reporter.js';
import type { StateKeeper } from '../../state/state-keeper.js';

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

export interface LastReleaseParts {
  readonly releases: Pick<Releases, 'release'>;
  readonly keeper: Pick<StateKeeper, 'forgetHeld'>;
  readonly journal: Pick<Journal, 'record'>;
  readonly reporter: Pick<Reporter, 'releaseRefused'>;
}

const NEXT = 'the next evictd starts it, or run `evictd restore`';

/**
 * Starts the units that evictd keeps stopped, after its loop has ended. Units that are still being evicted, or for
 * which systemd does not answer within `timeoutMs`, stay in the saved state for the next evictd. Each gets its journal
 * record when its result is known.
 */
export async function releaseHeldUnits(
  { held, evictions }: Pick<State, 'held' | 'evictions'>,
  { releases, keeper, journal, reporter }: LastReleaseParts,
  timeoutMs: number,
): Promise<void> {
  if (held.size === 0) return;
  const evicted = new Set(evictions.map(({ decision }) => decision.victim.workload.unit?.name));
  const holds = [...held.values()];
  const over = await releases.release(
    holds.filter(({ unit }) => !evicted.has(unit)),
    timeoutMs,
  );
  const notStarted = (hold: Hold, why: NotStarted): void => {
    journal.record(notReleasedRecord(hold, why));
    reporter.releaseRefused(hold, why);
  };
  for (const hold of holds.filter(({ unit }) => evicted.has(unit))) {
    notStarted(hold, { reasons: ['evictd stops before the eviction of the unit is over'], hint: NEXT });
  }
  for (const released of over) {
    if (released.kind === 'started') journal.record(releaseRecord(released));
    else notStarted(released.hold, released.kind === 'refused' ? released.why : { reasons: [released.reason], hint: NEXT });
  }
  keeper.forgetHeld(new Set(over.filter(({ kind }) => kind !== 'open').map(({ hold }) => hold.unit)));
}
