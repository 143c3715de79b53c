import type { Effect } from '../decide/effect.js';
import type { RestraintLift, LiftReason, PolicyTarget } from '../policy/policy-action.js';
import { EVERYTHING, type OperatorPauses } from '../pause/operator-pause.js';
import { readingBefore } from '../policy/scope-history.js';
import { isBelow } from '../workload/cgroup.js';
import type { Restrained } from './policy-state.js';
import { valueOf, type ComparedHistories } from './victim-order.js';

const OPPOSITES = { throttle: 'unthrottle', freeze: 'thaw' } as const satisfies Record<Restrained['action'], RestraintLift['action']>;

/** The restraints that stay, and the effects that lift the others. */
export interface LiftedRestraints {
  readonly restraints: readonly Restrained[];
  readonly effects: readonly Effect[];
}

/** @param reasonOf  why a restraint is lifted now; undefined: it stays */
export function liftRestraints(restraints: readonly Restrained[], reasonOf: (one: Restrained) => LiftReason | undefined): LiftedRestraints {
  const effects = restraints.flatMap((one): Effect[] => {
    const reason = reasonOf(one);
    if (reason === undefined) return [];
    const { policy, scope, condition, target, action } = one;
    return [{ kind: 'policy', policy, scope, condition, values: {}, dryRun: false, action: OPPOSITES[action], target, reason }];
  });
  return effects.length === 0 ? { restraints, effects } : { restraints: restraints.filter((one) => reasonOf(one) === undefined), effects };
}

/** Whether the end of one cgroup concerns the other: it is the same, or inside of it. */
export function isRelated(a: Pick<PolicyTarget, 'path'>, b: Pick<PolicyTarget, 'path'>): boolean {
  return a.path === b.path || isBelow(a.path, b.path) || isBelow(b.path, a.path);
}

/** Whether an operator has paused evictions of everything, or of this workload. */
export function isPaused({ target }: Restrained, pauses: OperatorPauses): boolean {
  return [...pauses.keys()].some((path) => path === EVERYTHING || isRelated(target, { path }));
}

/** Shows that a throttled workload makes no progress. */
export const STALLED_VALUE = 'memory.pressure.full.total';
/** A throttled workload is watched for this time. */
const PROGRESS_NS = 3_000_000_000n;
/** All of its tasks wait for memory almost all of the time. */
const STALLED = 0.9;
/** Less than this is not progress in that time: reclaim that finds anything frees 32 pages at once (SWAP_CLUSTER_MAX). */
const LEAST_FREED_BYTES = 2 ** 20;

/**
 * Reports whether a workload under memory.high only waits: all its tasks stall, and its memory shrinks by less than 1 MiB.
 * Above memory.high with nothing to reclaim a task sleeps at every allocation, for ever if nothing changes.
 */
export function isStuck({ action, target, atNs }: Restrained, histories: ComparedHistories): boolean {
  const history = histories.get(target.path);
  const before = history && readingBefore(history, PROGRESS_NS);
  if (action !== 'throttle' || before === undefined || before.timeNs < atNs) return false;
  const [total, current] = [valueOf(history, STALLED_VALUE), valueOf(history, 'memory.current')];
  const [totalBefore, currentBefore] = [before.values.get(STALLED_VALUE), before.values.get('memory.current')];
  const last = history?.readings.at(-1);
  if (last === undefined || total === undefined || current === undefined || totalBefore === undefined || currentBefore === undefined)
    return false;
  const stalled = ((total - totalBefore) * 1_000) / Number(last.timeNs - before.timeNs);
  return stalled >= STALLED && currentBefore - current < LEAST_FREED_BYTES;
}
