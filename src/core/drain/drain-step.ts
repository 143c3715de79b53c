import { API_SERVER } from '../kubernetes/kubernetes-part.js';
import { outcomesOf, type Effect } from '../decide/effect.js';
import type { Decision, Outcome } from '../decide/eviction.js';
import type { Policy, State } from '../decide/state.js';
import type { StepInput } from '../decide/step-input.js';
import type { Candidates, Protection, Workload } from '../workload/workload.js';
import { disruptable, isOfBudget, isPresent, remembered, statusNow, type AskedOnce } from '../disruption/disruption-budget.js';
import type { DisruptionCause } from '../disruption/disruption-cause.js';
import { drained, relistDrained } from './brief-drain.js';
import { drainDueNs, isUnderWay, type Drain, type DrainedWorkload, type DrainEffect } from './drain.js';
import { haltOf, isUnlisted, ownRefusal, refusalOf, refusalText, type Disrupting } from '../disruption/refusal.js';
import { evictionFailure, failureText } from './workload-eviction.js';

export interface DrainStep {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** The causes of evictions, by workload id, the least important workload first. */
  readonly causes: ReadonlyMap<string, DisruptionCause>;
}

type Made = Pick<DrainStep, 'state' | 'effects'>;

/** The drain's part of a step, before the evictions: an operator begins or ends it, it is over, or it goes on. */
export function stepDrain(policy: Policy, made: Made, input: StepInput, candidates: () => AskedOnce): DrainStep {
  const { state, effects } = withRequest(made, input);
  const none = { state, effects, causes: new Map<string, DisruptionCause>() };
  const { drain } = state;
  if (!isUnderWay(drain)) return none;
  const { nowNs } = input;
  const outcomes = outcomesOf(made.effects);
  const isDue = nowNs >= (drainDueNs(drain) ?? nowNs) || drain !== made.state.drain;
  if (!isDue && outcomes.length === 0) return none;
  const found = candidates();
  const { added, awaited } = answered(drain, { policy, state, found, nowNs });
  const { pending: known, unnamed } = relistDrained(drain, found, state.evictions);
  const workloads = byId(found);
  const pending = [...known.flatMap((one) => stillPending(one, { state, outcomes, found, workloads, isDue })), ...added];
  const isDone = pending.length === 0 && awaited.length === 0 && unnamed.length === 0;
  const isChanged = pending.length !== drain.pending.length || outcomes.length > 0;
  const because = isDone ? 'drained' : nowNs >= (drain.endsNs ?? nowNs + 1n) ? 'timeout' : undefined;
  const next: Drain = {
    ...drain,
    pending,
    awaited,
    unnamed,
    total: drain.total + added.length,
    lookedNs: nowNs,
    ...(isChanged && { changedNs: nowNs }),
    ...(because && { over: because }),
  };
  const budgets = [...remembered(state.disruptedBudgets, nowNs)].map(([name, { expected }]) => [name, { expected, atNs: nowNs }] as const);
  const looked = { ...state, drain: next, disruptedBudgets: new Map(budgets) };
  if (because !== undefined) return { ...none, state: looked, effects: [...effects, effectOf({ event: 'end', because }, next)] };
  const grace = drain.graceNs === undefined ? {} : { graceNs: drain.graceNs };
  const cause: DisruptionCause = { kind: 'disruption', reason: 'drain', message: 'the node is drained', by: drain.by, ...grace };
  const undecided = pending.filter(({ decision }) => decision === undefined);
  return { state: looked, effects, causes: new Map(undecided.map(({ id }) => [id, cause])) };
}

function withRequest({ state, effects }: Made, { request, nowNs }: StepInput): Made {
  const { drain: before } = state;
  const changed = (drain: Drain | undefined, event: 'cordon' | 'begin' | 'uncordon'): Made => {
    const by = request !== undefined && 'by' in request ? request.by : undefined;
    return { state: { ...state, drain }, effects: [...effects, effectOf({ event }, drain ?? before, by)] };
  };
  switch (request?.kind) {
    case 'cordon':
      return before ? { state, effects } : changed({ beganNs: nowNs, pending: [], total: 0, lookedNs: nowNs, over: 'cordoned' }, 'cordon');
    case 'uncordon':
      return before ? changed(undefined, 'uncordon') : { state, effects };
    case 'drain': {
      if (isUnderWay(before)) return { state, effects };
      const { timeoutNs, graceNs, by, ends: pending, awaited } = request;
      const limits = { ...(timeoutNs !== undefined && { endsNs: nowNs + timeoutNs }), ...(graceNs !== undefined && { graceNs }) };
      return changed({ beganNs: nowNs, by, ...limits, awaited, pending, total: pending.length, lookedNs: nowNs }, 'begin');
    }
    default:
      return { state, effects };
  }
}

/** The workloads of container runtimes that have answered by now. */
function answered(
  { awaited: before = [], pending }: Drain,
  context: Disrupting,
): { readonly added: readonly DrainedWorkload[]; readonly awaited: readonly string[] } {
  const awaited = before.filter((endpoint) => context.found.awaitedRuntimes?.includes(endpoint));
  if (awaited.length === before.length) return { added: [], awaited };
  const known = new Set(pending.map(({ id }) => id));
  const isLate = ({ id, runtime, kubernetes }: Workload): boolean => {
    const endpoint = kubernetes ? API_SERVER : runtime?.endpoint;
    return endpoint !== undefined && !known.has(id) && before.includes(endpoint) && !awaited.includes(endpoint);
  };
  return { added: drainPlan(context).ends.filter(isLate).map(drained), awaited };
}

/** What a drain ends, the least important first, what stays, with the reason, and why it waits before it has ended all. */
export function drainPlan(context: Disrupting): {
  readonly ends: readonly Workload[];
  readonly stays: readonly { readonly workload: Workload; readonly why: string }[];
  readonly waits: readonly string[];
} {
  const { found, state } = context;
  const judged = found.usages.map(({ workload }) => ({ workload, why: permanentRefusal(context, state, workload) }));
  const ends = judged.flatMap(({ workload, why }) => (why === undefined ? [workload] : []));
  const stays = judged.flatMap(({ workload, why }) => (why === undefined || why === 'absent' ? [] : [{ workload, why }]));
  const halt = haltOf(context);
  const runtimes = (found.awaitedRuntimes ?? []).map((endpoint) => `${endpoint} has not answered: the drain waits for its containers`);
  const waits = [...(halt === undefined ? [] : [refusalText(halt)]), ...runtimes, ...budgetWaits(context, ends)];
  return { ends: ends.sort((a, b) => a.priority - b.priority || (a.path < b.path ? -1 : 1)), stays, waits };
}

function budgetWaits({ policy: { disruptionBudgets = [] }, state, found, nowNs }: Disrupting, ends: readonly Workload[]): string[] {
  const among = disruptable(found, state, nowNs);
  return disruptionBudgets.flatMap((budget) => {
    const own = ends.filter((workload) => isOfBudget(budget, workload)).length;
    const { disruptionsAllowed: allowed } = statusNow(budget, among);
    if (own <= allowed) return [];
    const text = `the disruption budget ${budget.name} permits ${String(allowed)} of ${String(own)} evictions now`;
    return [`${text}: the drain waits until workloads of it are up again`];
  });
}

/** They end, or say only that the workload is to be read again. */
const PASSING: ReadonlySet<Protection['kind']> = new Set(['paused', 'kill-failed', 'changed']);

/** Why it stays for good. A budget that permits nothing now may permit it later. */
function permanentRefusal(context: Disrupting, state: Disrupting['state'], workload: Workload): string | undefined {
  if (!isPresent(workload, context.found)) return 'absent';
  const refusal = ownRefusal(context, workload);
  if (refusal !== undefined && !PASSING.has(refusal.kind)) return refusalText(refusal);
  const { owner } = workload.kubernetes ?? {};
  // As kubectl drain --ignore-daemonsets.
  if (owner?.kind === 'DaemonSet') return `the DaemonSet ${owner.name} would start it again on this node`;
  const failure = evictionFailure(context, state, workload);
  return failure?.code === 500 ? failureText(failure) : undefined;
}

function byId({ usages }: Candidates): ReadonlyMap<string, Workload> {
  return new Map(usages.map(({ workload }) => [workload.id, workload]));
}

interface Look {
  readonly state: State;
  readonly outcomes: readonly Outcome[];
  readonly found: Candidates;
  readonly workloads: ReadonlyMap<string, Workload>;
  /** false: a look after an outcome, which does not ask whether the other workloads have a process. The next look asks. */
  readonly isDue: boolean;
}

function stillPending(one: DrainedWorkload, { state: { evictions }, outcomes, found, workloads, isDue }: Look): readonly DrainedWorkload[] {
  const { id, name, path, decision } = one;
  const isOf = ({ serial, victim }: Decision): boolean =>
    serial === decision || (victim.workload.id === id && victim.process === undefined);
  const underWay = evictions.find((eviction) => isOf(eviction.decision));
  if (underWay) return [{ id, name, path, decision: underWay.decision.serial }];
  const outcome = outcomes.find((over) => isOf(over.decision));
  const hasFailed = outcome?.result === 'failed' || outcome?.result === 'abandoned';
  if ((outcome !== undefined || decision !== undefined) && !hasFailed) return [];
  if (!isDue) return [decision === undefined ? one : { id, name, path }];
  const workload = workloads.get(id);
  if (workload === undefined) return isUnlisted(path, found) ? [{ id, name, path }] : [];
  return isPresent(workload, found) ? [{ id, name, path }] : [];
}

/** The drain after the evictions of its step: which are decided, and why others wait. `isFull`: they wait for an eviction to end. */
export function afterEvictions(
  context: Disrupting,
  drain: Drain | undefined,
  decided: readonly Effect[],
  { evictions, isFull }: { readonly evictions: State['evictions']; readonly isFull: boolean },
): Drain | undefined {
  if (!isUnderWay(drain) || drain.lookedNs !== context.nowNs) return drain;
  const { found, state } = context;
  const workloads = byId(found);
  const serials = new Map(
    decided.flatMap((effect) => (effect.kind === 'evict' ? [[effect.decision.victim.workload.id, effect.decision.serial] as const] : [])),
  );
  const pending = drain.pending.map((one): DrainedWorkload => {
    const serial = serials.get(one.id);
    if (serial !== undefined) return { ...one, decision: serial };
    const workload = workloads.get(one.id);
    if (one.decision !== undefined || one.waits !== undefined || workload === undefined || isFull) return one;
    const refusal = refusalOf(context, workload);
    const failure = refusal === undefined ? evictionFailure(context, { ...state, evictions }, workload) : undefined;
    const waits = refusal === undefined ? failure && failureText(failure) : refusalText(refusal);
    return { ...one, ...(waits !== undefined && { waits }) };
  });
  return { ...drain, pending, ...(serials.size > 0 && { changedNs: context.nowNs }) };
}

function effectOf(
  event: { readonly event: 'cordon' | 'begin' | 'uncordon' } | { readonly event: 'end'; readonly because: 'drained' | 'timeout' },
  drain: Drain | undefined,
  by?: string,
): DrainEffect {
  return { kind: 'drain', ...event, by, left: drain?.pending.map(({ name }) => name) ?? [], total: drain?.total ?? 0 };
}
