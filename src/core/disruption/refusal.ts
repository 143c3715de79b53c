import { passedOverUntil, type Policy, type State } from '../decide/state.js';
import { fullPause } from '../pause/operator-pause.js';
import { protectionText } from '../rank/rank.js';
import type { Candidates, Protection, Workload } from '../workload/workload.js';
import type { AskedOnce } from './disruption-budget.js';

/** What the disruptions of one step share. */
export interface Disrupting {
  readonly policy: Policy;
  readonly state: Pick<
    State,
    'failedKills' | 'refusedEvictions' | 'unansweredEvictions' | 'layout' | 'pauses' | 'disruptedBudgets' | 'evictions'
  >;
  readonly found: AskedOnce;
  readonly nowNs: bigint;
}

const HALTS = {
  'no source': 'evictd evicts nothing: no workload source is configured, or it is in safe mode',
  paused: 'an operator has paused evictions; evictd resume ends the pause',
  shutdown: 'the machine is shutting down',
} as const;

/** Why no workload at all is ended now, or why this one is not. */
type Refusal = Protection | keyof typeof HALTS;

/** undefined: it may be ended. Budgets are another question. @param asksBudgets  of the cluster */
export function refusalOf(context: Disrupting, workload: Workload, asksBudgets = true): Refusal | undefined {
  return haltOf(context) ?? ownRefusal(context, workload, asksBudgets);
}

/** Why no workload at all is ended now. */
export function haltOf({ policy, state }: Pick<Disrupting, 'policy' | 'state'>): keyof typeof HALTS | undefined {
  if (!policy.hasWorkloadSource) return 'no source';
  if (policy.shuttingDown) return 'shutdown';
  return fullPause(state.pauses) === undefined ? undefined : 'paused';
}

/** What protects this workload, whether or not evictd ends any workload now. */
export function ownRefusal({ state, found, nowNs }: Disrupting, workload: Workload, asksBudgets = true): Protection | undefined {
  if (workload.protection !== undefined) return workload.protection;
  const passedOver = asksBudgets ? [passedOverUntil(state, true), state.unansweredEvictions] : [passedOverUntil(state, false)];
  if (passedOver.some((until) => nowNs < (until.get(workload.id) ?? nowNs))) return { kind: 'kill-failed' };
  return found.veto?.(workload);
}

/** It is not a candidate now, and may run on: it cannot be read, or its container runtime has not answered yet. */
export function isUnlisted(path: string, { unreadable, awaitedRuntimes = [] }: Candidates): boolean {
  return awaitedRuntimes.length > 0 || unreadable.some((one) => one.path === path);
}

export function refusalText(refusal: Refusal): string {
  return typeof refusal === 'string' ? HALTS[refusal] : protectionText(refusal);
}
