import type { Effect } from '../decide/effect.js';
import type { StepInput } from '../decide/step-input.js';
import type { Policy, State } from '../decide/state.js';
import { choiceOf, decide, type Choice } from '../rank/eviction-decision.js';
import { rank } from '../rank/rank.js';
import type { Workload } from '../workload/workload.js';
import { followsTaints, stepTaints, withoutBegun } from './taint-step.js';
import { askedOnce, endingIds, type AskedOnce } from './disruption-budget.js';
import type { DisruptionCause, Disruptions } from './disruption-cause.js';
import { isUnderWay } from '../drain/drain.js';
import { afterEvictions, stepDrain } from '../drain/drain-step.js';
import { refusalOf, type Disrupting } from './refusal.js';
import { asksBudgets, evictionFailure, withDisrupted } from '../drain/workload-eviction.js';

/** The number of concurrent evictions of a drain that fits into the saved state, so that the drain survives a SIGKILL of evictd. */
const MAX_CONCURRENT = 32;

/** systemd may start a unit again that is ended by signals, so its answer is worth more time than under node pressure. */
const AWAITS_NS = 10_000_000_000n;

/**
 * The disruptions' part of a step, after that of the thresholds: evicts what is to end whatever the node's readings are.
 * undefined: there is nothing to do.
 */
export function stepDisruptions(
  policy: Policy,
  made: { readonly state: State; readonly effects: readonly Effect[] },
  input: StepInput,
): { readonly state: State; readonly effects: readonly Effect[]; readonly isAwaiting: boolean } | undefined {
  if (input.request === undefined && isUrgent(made.effects))
    return isPending(policy, made.state) ? { ...made, isAwaiting: true } : undefined;
  let read: AskedOnce | undefined;
  const candidates = (): AskedOnce => (read ??= askedOnce(input.candidates()));
  const tainted = stepTaints(policy, withoutBegun(policy, made.state, made.effects), { ...input, candidates });
  const ofTaints = { state: tainted.state, effects: [...made.effects, ...tainted.effects] };
  const { state, effects: before, causes } = stepDrain(policy, ofTaints, input, candidates);
  const outstanding = [...state.disruptions].filter(([id, cause]) => isStillAsked(id, cause, state.drain, tainted));
  const asked = withRequest(new Map([...outstanding, ...causes, ...tainted.causes]), input);
  const isChanged = state !== made.state || before.length > made.effects.length || state.disruptions.size > 0;
  if (asked.size === 0) return isChanged ? { state: { ...state, disruptions: asked }, effects: before, isAwaiting: false } : undefined;
  if (isFull(state) && read === undefined) return { state: { ...state, disruptions: asked }, effects: before, isAwaiting: false };
  const found = candidates();
  const waiting = new Map<string, DisruptionCause>();
  const context = { policy, state, found, nowNs: input.nowNs };
  let choice = choiceOf(state);
  let isAwaiting = false;
  for (const [id, cause] of asked) {
    const next = isFull(choice) ? 'later' : disrupt(context, choice, id, cause);
    isAwaiting ||= next === 'awaited';
    if (typeof next === 'string') waiting.set(id, cause);
    else choice = next;
  }
  const { effects, awaiting: _, over: __, ...chosen } = choice;
  return {
    state: {
      ...withoutBegun(policy, state, effects),
      ...chosen,
      disruptions: waiting,
      disruptedBudgets: withDisrupted(context, state, effects),
      drain: afterEvictions(context, state.drain, effects, { evictions: chosen.evictions, isFull: isFull(chosen) }),
    },
    effects: [...before, ...effects],
    isAwaiting,
  };
}

/** A signal waits for no look at the workloads. Only an outcome has to be seen in its step. */
function isUrgent(effects: readonly Effect[]): boolean {
  return effects.some(({ kind }) => kind === 'evict' || kind === 'escalate') && !effects.some(({ kind }) => kind === 'outcome');
}

function isPending(policy: Policy, state: State): boolean {
  return state.disruptions.size > 0 || isUnderWay(state.drain) || followsTaints(policy, state);
}

/** Whether disruptions wait for the end of others. */
export function isFull({ evictions }: Pick<State, 'evictions'>): boolean {
  return evictions.length >= MAX_CONCURRENT;
}

/** Whether the cause still holds: the drain may be over, or the taint gone. The taints say which workloads must end for them. */
function isStillAsked(id: string, { reason }: DisruptionCause, drain: State['drain'], { found }: ReturnType<typeof stepTaints>): boolean {
  if (reason === 'drain') return isUnderWay(drain) && drain.pending.some((one) => one.id === id);
  return reason !== 'taint' || found === undefined;
}

function withRequest(before: Disruptions, { request }: StepInput): Disruptions {
  if (request?.kind !== 'evict') return before;
  return new Map([...before, ...request.workloads.map((id): [string, DisruptionCause] => [id, request.cause])]);
}

/**
 * Evicts a workload, unless it is gone, is being evicted, or may not be evicted now. 'awaited': facts about it arrive in a
 * moment. 'later': after the eviction of one of its processes.
 */
export function disrupt(context: Disrupting, choice: Choice, id: string, cause: DisruptionCause): Choice | 'awaited' | 'later' {
  const { policy, state, found, nowNs } = context;
  const workload = found.usages.find((usage) => usage.workload.id === id)?.workload;
  if (workload === undefined || isBeingEvicted(choice, workload) || refusalOf(context, workload, asksBudgets(cause)) !== undefined)
    return choice;
  const { evictions } = choice;
  const { disruptedBudgets } = state;
  if (asksBudgets(cause) && evictionFailure(context, { evictions, disruptedBudgets }, workload) !== undefined) return choice;
  if (evictions.some(({ decision }) => decision.victim.workload.id === id)) return 'later';
  if (found.awaited?.(workload, AWAITS_NS)) return 'awaited';
  found.measure?.(workload);
  const usages = found.usages.filter((usage) => usage.workload.id === id);
  const [victim] = rank('memory.available', state.layout ?? 'single', usages, policy.departures);
  if (victim === undefined) return choice;
  const unitStop = found.stop?.(workload);
  return decide(policy, choice, cause, { victim, ranking: [victim], found, unitStop }, nowNs);
}

/** Whether the workload is being evicted as a whole, not only one of its processes. */
export function isBeingEvicted({ evictions }: Pick<State, 'evictions'>, { id }: Pick<Workload, 'id'>): boolean {
  return endingIds(evictions).has(id);
}
