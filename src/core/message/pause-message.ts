import type { Effect } from '../decide/effect.js';
import type { OperatorPause } from '../pause/operator-pause.js';
import { formatDuration } from '../quantity/duration.js';

/** A pause for people. */
export interface TimedPause extends Pick<OperatorPause, 'reason' | 'workload'> {
  /** When it ends, in seconds since 1970. */
  readonly endSeconds: number;
  /** The end as a date of ISO 8601. */
  readonly endsAt: string;
  /** The end for people: '2026-11-26 03:00:00+01:00'. */
  readonly endsLocal: string;
}

/** 'an operator paused evictions for 30m0s: disk swap'. */
export function pauseMessage(effect: Extract<Effect, { kind: 'pause' }>): string {
  const { workload, reason, beganBootNs, endsBootNs, by = 'an operator' } = effect.pause;
  const of = workload === undefined ? 'evictions' : `evictions of ${workload.name}`;
  if (effect.event === 'begin') return `${by} paused ${of} for ${formatDuration(endsBootNs - beganBootNs)}: ${reason}`;
  const why = effect.because === 'limit' ? ', because pause.max is shorter' : '';
  return `the pause of ${of} is over${why} (${reason})`;
}

/** 'an operator has paused evictions of web until 2026-11-26 03:00:00+01:00: disk swap'. */
export function pausedText({ workload, reason, endsLocal }: TimedPause): string {
  return `an operator has paused evictions${workload === undefined ? '' : ` of ${workload.name}`} until ${endsLocal}: ${reason}`;
}
