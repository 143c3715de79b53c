import { exhaustedBudget } from '../budget/eviction-budget.js';
import { memoryBase } from '../budget/growth-base.js';
import type { Effect } from '../decide/effect.js';
import { passedOverUntil, type Policy, type State } from '../decide/state.js';
import { awaitsMemory } from '../reclaim/pending-release.js';
import { pauseFor } from '../reclaim/yield-pause.js';
import { relieved } from '../reclaim/eviction-yield.js';
import { decide, type Choice } from '../rank/eviction-decision.js';
import type { RankedWorkload } from '../rank/rank.js';
import type { ConfiguredPolicy, LadderStep } from '../policy/configured-policy.js';
import type { LiftReason, LadderEnd, PolicyActionName, PolicyResult, PolicyTarget } from '../policy/policy-action.js';
import { judgedBy } from '../rank/eviction-cause.js';
import type { PolicyReason } from '../policy/policy-reason.js';
import type { Truth } from '../policy/condition.js';
import type { OperatorPause } from '../pause/operator-pause.js';
import type { Layout } from '../signal/layout.js';
import type { Observation } from '../signal/observation.js';
import { namedProcess, type WorkloadProcess } from '../workload/process.js';
import type { Candidates, Workload } from '../workload/workload.js';
import { liftRestraints, isRelated } from './restraint-lift.js';
import type { ConditionRecheck } from './condition-recheck.js';
import { atStep, ended, judged, nextMove, pastSteps, restAfterVictimNs, stepTimeNs, type Ladder, type ScopeState } from './ladder.js';
import type { Restrained, PolicyScope } from './policy-state.js';
import { scopeProcess } from './process-victim.js';
import { restrainable, scopeVictim, type ScopeOrder } from './policy-victim.js';
import { awaitsRates, comparatorsOf, isInScope, type ComparedHistories } from './victim-order.js';
import { NANO } from '../quantity/integer.js';

/** What the turns of all scopes share in one step. */
export interface TurnContext {
  readonly policy: Policy;
  readonly state: Pick<State, 'failedKills' | 'refusedEvictions' | 'withoutYield' | 'relievedNs' | 'baselines'>;
  readonly layout: Layout;
  readonly candidates: () => Candidates;
  readonly recheck: ConditionRecheck;
  readonly processes: (workloads: readonly Workload[]) => readonly WorkloadProcess[];
  readonly histories: ComparedHistories;
  /** An operator has paused evictions. undefined: not so. */
  readonly pause: OperatorPause | undefined;
  /** The node's memory.available. undefined: not known. */
  readonly memory: Observation | undefined;
  /** The swap capacity of the node, in bytes; undefined: not known. */
  readonly swapBytes: bigint | undefined;
  readonly nowNs: bigint;
}

/** What the turns have decided so far. */
export interface TurnResult extends Choice {
  readonly restraints: readonly Restrained[];
  /** A dry run has chosen a workload in this step. */
  readonly hasChosen: boolean;
}

/** The scope of a policy that this turn is for. */
export interface Turn {
  readonly configured: ConfiguredPolicy;
  readonly key: string;
  readonly scope: PolicyScope;
  readonly truth: Truth;
  readonly reason: PolicyReason;
}

interface Stepped {
  readonly ladder: Ladder;
  readonly turned: TurnResult;
}

/** Goes on with the ladder of one scope as far as it gets in this step. */
export function takeTurn(
  context: TurnContext,
  turn: Turn,
  before: TurnResult,
): { readonly scope: PolicyScope; readonly turned: TurnResult } {
  const { configured, truth } = turn;
  const { nowNs, pause } = context;
  if (pause && (turn.scope.ladder?.beganAtNs ?? pause.atNs) < pause.atNs) return endLadder(context, turn, before, 'paused');
  let scope = withState(turn.scope, judged(turn.scope, truth, nowNs));
  let turned = before;
  for (;;) {
    const move = nextMove(scope, configured, truth, nowNs);
    if (move.kind === 'wait') return { scope, turned };
    if (move.kind === 'end') return endLadder(context, { ...turn, scope }, turned, move.reason);
    const step = configured.then[move.step];
    if (step === undefined) return endLadder(context, { ...turn, scope }, turned, 'exhausted');
    turned = withLifted(turned, ({ key, step: at }) => (key === turn.key && at !== move.step ? 'time' : undefined));
    const ladder = atStep(scope.ladder, [move.step, step.kind], context.memory?.available, nowNs);
    const act = pause && step.kind !== 'notify' ? waitingStep : STEPS[step.kind];
    const stepped = act(context, { ...turn, scope }, ladder, turned, step as never);
    scope = { ...scope, ladder: stepped.ladder };
    ({ turned } = stepped);
    if (stepped.ladder.endsAtNs === undefined) return { scope, turned };
  }
}

/** Ends a ladder, and lifts its restraints. */
export function endLadder(
  { memory, nowNs }: Pick<TurnContext, 'memory' | 'nowNs'>,
  { configured, key, scope }: Pick<Turn, 'key' | 'scope'> & { readonly configured: Pick<ConfiguredPolicy, 'cooldownNs'> },
  before: TurnResult,
  reason: LadderEnd,
): { readonly scope: PolicyScope; readonly turned: TurnResult } {
  const { ladder } = scope;
  if (ladder === undefined) return { scope, turned: before };
  const turned = withLifted(before, (one) => (one.key === key ? (reason === 'exhausted' ? 'time' : reason) : undefined));
  const gained = memory && ladder.availableBefore !== undefined ? memory.available - ladder.availableBefore : undefined;
  const effect: Effect = {
    kind: 'policy-end',
    policy: scope.policy,
    scope: scope.scope,
    reason,
    steps: pastSteps(ladder, memory?.available, nowNs),
    tookNs: nowNs - ladder.beganAtNs,
    ...(gained !== undefined && { gainedBytes: gained }),
  };
  return {
    scope: withState(scope, ended(scope, configured.cooldownNs, reason, nowNs)),
    turned: { ...turned, effects: [...turned.effects, effect] },
  };
}

function withState({ policy, scope }: PolicyScope, state: ScopeState): PolicyScope {
  return { policy, scope, ...state };
}

/** Gives back what there is a reason for. */
export function withLifted(before: TurnResult, reasonOf: (one: Restrained) => LiftReason | undefined): TurnResult {
  const { restraints, effects } = liftRestraints(before.restraints, reasonOf);
  return effects.length === 0 ? before : { ...before, restraints, effects: [...before.effects, ...effects] };
}

type TakeStep<K extends LadderStep['kind']> = (
  context: TurnContext,
  turn: Turn,
  ladder: Ladder,
  before: TurnResult,
  step: Extract<LadderStep, { kind: K }>,
) => Stepped;

const STEPS: { readonly [K in LadderStep['kind']]: TakeStep<K> } = {
  notify: (context, turn, ladder, before, step) => {
    const { dryRun } = context.policy;
    const turned = withEffect(before, { kind: 'policy', ...turn.reason, dryRun, action: 'notify' });
    return { ladder: { ...acted(context, ladder, step), isRepeatable: ladder.isRepeatable }, turned };
  },
  run: (context, turn, ladder, before, { kind, ...command }) => {
    const { dryRun } = context.policy;
    const turned = withEffect(before, { kind: 'policy', ...turn.reason, dryRun, action: kind, ...command, steps: ladder.past });
    return { ladder: acted(context, ladder, { kind, ...command }), turned };
  },
  reclaim: (context, turn, ladder, before, { kind, ...step }) => {
    const { dryRun, hasWorkloadSource } = context.policy;
    if (!hasWorkloadSource) return skipped(context, turn, ladder, before, kind, noSource(context.policy));
    const found = restrainable(orderOf(context, turn, ladder.step), context.candidates());
    const targets = aboveRequest(found);
    if (targets.length === 0) return skipped(context, turn, ladder, before, kind, found.length === 0 ? NOTHING : NONE_ABOVE_REQUEST);
    const turned = withEffect(before, { kind: 'policy', ...turn.reason, dryRun, action: kind, ...step, targets });
    return { ladder: acted(context, ladder, { kind, ...step }), turned };
  },
  throttle: (context, turn, ladder, before, step) => {
    const { memoryHigh, forNs } = step;
    return restrainingStep(context, turn, ladder, before, step, (target) => ({ action: 'throttle', target, memoryHigh, forNs }));
  },
  freeze: (context, turn, ladder, before, step) =>
    restrainingStep(context, turn, ladder, before, step, (target) => ({ action: 'freeze', target, forNs: step.forNs })),
  stop: evictingStep,
  kill: evictingStep,
};

/** An operator has paused evictions: the ladder goes on with this step when the pause is over. */
const waitingStep: TakeStep<LadderStep['kind']> = ({ pause }, turn, ladder, before, { kind }) =>
  refused(turn, ladder, before, kind, `an operator has paused evictions: ${pause?.reason ?? ''}`);

function withEffect(before: TurnResult, effect: Effect): TurnResult {
  return { ...before, effects: [...before.effects, effect] };
}

function acted({ policy: { dryRun }, nowNs }: TurnContext, ladder: Ladder, step: LadderStep): Ladder {
  const timeNs = stepTimeNs(step, dryRun);
  return { ...ladder, endsAtNs: timeNs === undefined ? undefined : nowNs + timeNs, isRepeatable: !dryRun };
}

/** The step is over, because there is nothing that it could act on. */
function skipped(context: TurnContext, turn: Turn, ladder: Ladder, before: TurnResult, action: PolicyActionName, error: string): Stepped {
  return { ladder: { ...ladder, endsAtNs: context.nowNs }, turned: withResult(turn, before, { action, result: 'refused', error }) };
}

function withResult({ scope: { policy, scope } }: Turn, before: TurnResult, result: Omit<PolicyResult, 'policy' | 'scope'>): TurnResult {
  return withEffect(before, { kind: 'policy-result', policy, scope, ...result });
}

/** Workloads that use more than they request, the largest excess first. */
function aboveRequest(items: readonly RankedWorkload[]): readonly (PolicyTarget & { readonly excessBytes: bigint })[] {
  return items
    .flatMap((item) => (item.exceedsRequest ? { ...targetOf(item), excessBytes: item.aboveRequestNano / NANO } : []))
    .sort((a, b) => (a.excessBytes === b.excessBytes ? 0 : a.excessBytes > b.excessBytes ? -1 : 1));
}

function orderOf({ policy, layout, histories, swapBytes }: TurnContext, { configured, scope: { scope } }: Turn, index: number): ScopeOrder {
  const { then: steps, managed, within } = configured;
  const step = steps[index];
  const recursive = step?.kind === 'kill' && step.recursive;
  return { policy, layout, histories, scope, managed, within, swapBytes, by: comparatorsOf(steps, index), recursive };
}

export function targetOf({ workload: { id, name, path }, process: only }: RankedWorkload): PolicyTarget {
  return { id, name, path, ...(only && { process: namedProcess(only) }) };
}

type RestrainingAct = { readonly target: PolicyTarget; readonly forNs: bigint } & (
  | { readonly action: 'freeze' }
  | { readonly action: 'throttle'; readonly memoryHigh: Extract<LadderStep, { kind: 'throttle' }>['memoryHigh'] }
);

/** Throttles or freezes the workload that comes first, unless it is throttled, frozen or evicted already. */
function restrainingStep(
  context: TurnContext,
  turn: Turn,
  ladder: Ladder,
  before: TurnResult,
  step: Extract<LadderStep, { kind: 'throttle' | 'freeze' }>,
  act: (target: PolicyTarget) => RestrainingAct,
): Stepped {
  const { dryRun, hasWorkloadSource } = context.policy;
  if (!hasWorkloadSource) return skipped(context, turn, ladder, before, step.kind, noSource(context.policy));
  const order = orderOf(context, turn, ladder.step);
  const busy = [...before.restraints.map(({ target }) => target), ...before.evictions.map(({ decision }) => decision.victim.workload)];
  const first = restrainable(order, context.candidates()).find(({ workload }) => !busy.some((other) => isRelated(other, workload)));
  if (first === undefined) return skipped(context, turn, ladder, before, step.kind, NOTHING);
  const target = targetOf(first);
  const turned = withEffect(before, { kind: 'policy', ...turn.reason, dryRun, ...act(target) });
  const { policy, scope, condition } = turn.reason;
  const one: Restrained = { action: step.kind, target, policy, scope, condition, key: turn.key, step: ladder.step, atNs: context.nowNs };
  return { ladder: acted(context, ladder, step), turned: dryRun ? turned : { ...turned, restraints: [...turned.restraints, one] } };
}

const NOTHING = 'no workload of the scope may be acted on';
const NONE_ABOVE_REQUEST = 'no workload of the scope is above its request';
const NO_PROCESS = 'no process of the scope may be ended';

function noSource({ safeMode }: Policy): string {
  return safeMode ? 'evictd is in safe mode after several crashes' : 'no workload source is configured';
}

/** Evicts a workload of the scope, or one process. The step waits while an eviction that may help is under way, or none is permitted. */
function evictingStep(
  context: TurnContext,
  turn: Turn,
  before: Ladder,
  given: TurnResult,
  step: Extract<LadderStep, { kind: 'stop' | 'kill' }>,
): Stepped {
  const { policy, state, nowNs, memory } = context;
  const isUnderWay = given.evictions.some(
    ({ decision }) => relieved(decision).includes('memory') || isInScope(decision.victim.workload.path, turn.scope.scope),
  );
  const isAwaited = policy.departures['node-yield'] && awaitsMemory(given.evictions, nowNs);
  if (isUnderWay || isAwaited || given.hasChosen || !isSettled(context, turn)) return { ladder: before, turned: given };
  const refusal = refusalOf(context, given);
  if (refusal !== undefined) return refused(turn, before, given, step.kind, refusal);
  const order = orderOf(context, turn, before.step);
  if (awaitsRates(order, nowNs - before.stepBeganAtNs)) return { ladder: before, turned: given };
  const past = { failedKills: passedOverUntil(state, step.kind === 'stop'), evictionTimes: given.evictionTimes };
  const victim =
    step.unit === 'process'
      ? scopeProcess(order, context.candidates(), past, context.processes, nowNs)
      : scopeVictim(order, context.candidates(), past, nowNs);
  if (victim === 'awaited') return { ladder: before, turned: { ...given, awaiting: true } };
  if (victim === undefined) return refused(turn, before, given, step.kind, step.unit === 'process' ? NO_PROCESS : NOTHING);
  if (policy.departures.recheck && !context.recheck(turn.configured, turn.key))
    return { ladder: before, turned: { ...given, awaiting: true } };
  const free = withLifted(given, ({ target }) => (isRelated(target, victim.victim.workload) ? 'evicted' : undefined));
  const graceNs = step.kind === 'stop' ? step.graceNs : 0n;
  const cause = { ...turn.reason, ...judgedBy(turn.reason, victim.victim), kind: 'policy', graceNs, ...(memory && { memory }) } as const;
  const turned = { ...free, ...decide(policy, free, cause, victim, nowNs), hasChosen: policy.dryRun };
  const { refusedBecause: _, ...ladder } = acted(context, before, step);
  if (policy.dryRun)
    return { ladder, turned: withResult(turn, turned, { action: step.kind, result: 'dry-run', target: targetOf(victim.victim) }) };
  return { ladder: { ...ladder, eviction: turned.decisions }, turned };
}

/** Averages of pressure and other readings show only after a while what the last victim of any cause has freed. */
function isSettled({ state: { relievedNs }, nowNs }: TurnContext, { configured: { cooldownNs } }: Turn): boolean {
  return relievedNs === undefined || nowNs - relievedNs >= restAfterVictimNs(cooldownNs);
}

/** Why no workload at all may be evicted now; undefined: nothing is against it. */
function refusalOf({ policy, state, nowNs }: TurnContext, { evictionTimes }: TurnResult): string | undefined {
  if (!policy.hasWorkloadSource) return noSource(policy);
  if (exhaustedBudget(policy, evictionTimes, 'memory', nowNs) !== undefined) return 'the eviction budget is used up';
  if (memoryBase(state.baselines)?.base.since.kind === 'leak') return 'what has grown since the last eviction may not be evicted';
  return pauseFor('memory.available', state.withoutYield) ? 'the last eviction freed too little' : undefined;
}

/** The step waits. The reason is reported once. */
function refused(turn: Turn, ladder: Ladder, before: TurnResult, action: PolicyActionName, error: string): Stepped {
  if (ladder.refusedBecause === error) return { ladder, turned: before };
  return { ladder: { ...ladder, refusedBecause: error }, turned: withResult(turn, before, { action, result: 'refused', error }) };
}
