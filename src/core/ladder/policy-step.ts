import type { Effect } from '../decide/effect.js';
import type { Outcome } from '../decide/eviction.js';
import type { StepInput } from '../decide/step-input.js';
import type { Policy, State } from '../decide/state.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { LadderEnd, PolicyResult } from '../policy/policy-action.js';
import { latest, remember, rememberPass, type ScopeHistory } from '../policy/scope-history.js';
import { fullPause } from '../pause/operator-pause.js';
import type { PolicyReadings, ScopeReading } from '../policy/scope-reading.js';
import { choiceOf } from '../rank/eviction-decision.js';
import { victimName } from '../workload/process.js';
import type { Candidates } from '../workload/workload.js';
import { isPaused, isRelated, isStuck } from './restraint-lift.js';
import { fingerprintOf, withoutOldLadder } from './changed-policy.js';
import { conditionRecheck, rememberNamed, type SharedReadings } from './condition-recheck.js';
import { afterEviction, answered, type Ladder } from './ladder.js';
import { initialPolicyState, type PolicyScope, type PolicyState, type Restrained } from './policy-state.js';
import { nodeReading, windowsOf } from './policy-truth.js';
import { endLadder, takeTurn, targetOf, withLifted, type TurnResult, type TurnContext } from './policy-turn.js';
import { isToRemember, turnsOf, unreadTurn, type JudgedTurn } from './scope-turns.js';
import { workloadsOf } from './scope-workloads.js';
import { comparedPaths, type ComparedHistories } from './victim-order.js';

/** What a step has made of the thresholds, and then of the policies. */
export interface PolicyStepResult {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** How far back the rates go that workloads are compared by. */
const COMPARED_NS = 10_000_000_000n;

/**
 * The policies' part of a step, after that of the thresholds, which never wait for a ladder: judges the conditions, goes
 * on with the ladders, and lifts restraints that no step holds any more. undefined: there is nothing to do.
 */
export function stepPolicies(
  policy: Policy,
  made: PolicyStepResult,
  input: StepInput,
): (PolicyStepResult & { readonly isAwaiting: boolean }) | undefined {
  const configured = policy.shuttingDown ? [] : (policy.policies ?? []);
  const { policies: before } = made.state;
  const results = input.policyResults ?? [];
  if (configured.length === 0 && before.scopes.size === 0 && before.restraints.length === 0 && results.length === 0)
    return withoutReadings(made);
  const { nowNs } = input;
  const answers = { results, outcomes: made.effects.flatMap((effect) => (effect.kind === 'outcome' ? [effect.outcome] : [])) };
  if (made.effects.some((effect) => effect.kind === 'escalate' || (effect.kind === 'evict' && !effect.decision.dryRun)))
    return postponed(policy, made, answers, nowNs);
  const observations = input.observe();
  const readings = configured.length === 0 ? undefined : input.policyReadings?.();
  const shared = rememberShared(configured, before, readings, nodeReading(readings?.node, observations, nowNs));
  const remembered = new Set([...before.scopes.values()].map(({ policy: name }) => name));
  const { read, passes } = rememberScopes(configured, before, readings);
  const turns = configured.flatMap((one) => turnsOf(one, { ...before, passes }, readings, shared, remembered));
  const compared = compare(turns, before, input, swapOf(shared.node));
  const context: TurnContext = {
    policy,
    state: made.state,
    layout: made.state.layout ?? 'single',
    candidates: compared.candidates,
    recheck: conditionRecheck(input, shared, passes),
    processes: (workloads) => input.policyProcesses?.(workloads) ?? [],
    histories: compared.histories,
    pause: fullPause(made.state.pauses),
    memory: observations?.observed.get('memory.available'),
    swapBytes: swapOf(shared.node),
    nowNs,
  };
  let turned = beginTurns(policy, made, before, answers, compared.histories);
  const present = new Set(turns.map(({ key }) => key));
  const scopes = new Map<string, PolicyScope>();
  for (const [key, scope] of before.scopes) {
    if (present.has(key)) continue;
    const gone = { key, scope, configured: goneOf(configured, scope) };
    ({ turned } = endLadder(context, gone, turned, goneReason(policy, configured, scope)));
  }
  for (const judged of turns) {
    const { turn, turned: freed } = withoutOldLadder(context, judged, turned);
    const next = takeTurn(context, withAnswers(turn, policy, answers, freed.restraints, nowNs), freed);
    ({ turned } = next);
    const { key, configured: one } = turn;
    if (isToRemember(next.scope, nowNs)) scopes.set(key, { ...next.scope, fingerprint: fingerprintOf(one) });
  }
  const { effects, awaiting, over: _, restraints, hasChosen: __, ...choice } = turned;
  return {
    state: {
      ...made.state,
      ...choice,
      policies: { node: undefined, ...shared, scopes, read, passes, restraints, compared: compared.histories },
    },
    effects,
    isAwaiting: awaiting,
  };
}

/** Without policies none is kept: a later policy must not look back over the time between. undefined: there is none. */
function withoutReadings(made: PolicyStepResult): (PolicyStepResult & { readonly isAwaiting: boolean }) | undefined {
  if (made.state.policies === initialPolicyState) return undefined;
  return { state: { ...made.state, policies: initialPolicyState }, effects: made.effects, isAwaiting: false };
}

/** No signal waits for the readings of policies: they are judged in the next step, which follows at once. */
function postponed(
  policy: Policy,
  made: PolicyStepResult,
  answers: Answers,
  nowNs: bigint,
): PolicyStepResult & { readonly isAwaiting: boolean } {
  const { policies: before } = made.state;
  const { effects, awaiting: _, over: __, restraints, hasChosen: ___, ...choice } = beginTurns(policy, made, before, answers, NONE);
  const scopes = [...before.scopes].map(([key, scope]): [string, PolicyScope] => {
    const configured = policy.policies?.find(({ name }) => name === scope.policy);
    const turn = configured && withAnswers(unreadTurn(configured, key, scope), policy, answers, restraints, nowNs);
    return [key, turn?.scope ?? scope];
  });
  return { state: { ...made.state, ...choice, policies: { ...before, scopes: new Map(scopes), restraints } }, effects, isAwaiting: true };
}

function goneOf(configured: readonly ConfiguredPolicy[], { policy }: PolicyScope): Pick<ConfiguredPolicy, 'cooldownNs'> {
  return configured.find(({ name }) => name === policy) ?? { cooldownNs: 0n };
}

function goneReason({ shuttingDown }: Policy, configured: readonly ConfiguredPolicy[], { policy }: PolicyScope): LadderEnd {
  if (shuttingDown) return 'shutdown';
  return configured.some(({ name }) => name === policy) ? 'scope-gone' : 'policy-removed';
}

/** The readings of the node and of named cgroups, which are those of every policy. */
function rememberShared(
  configured: readonly ConfiguredPolicy[],
  { node, named }: PolicyState,
  readings: PolicyReadings | undefined,
  ofNode: ScopeReading | undefined,
): SharedReadings {
  const longestNs = configured.map((one) => windowsOf(one).longestNs).reduce((most, ns) => (ns > most ? ns : most), 0n);
  return {
    ...(ofNode && { node: remember(node, ofNode, longestNs) }),
    ...(readings?.named && { named: rememberNamed(named, readings.named, longestNs) }),
  };
}

/** What was read of the cgroups of scopes, and the passes for the policies whose conditions look back. */
function rememberScopes(
  configured: readonly ConfiguredPolicy[],
  { passes }: PolicyState,
  readings: PolicyReadings | undefined,
): Pick<PolicyState, 'read' | 'passes'> {
  if (readings === undefined) return { read: new Map(), passes };
  const { scopes: read } = readings;
  const looking = configured.filter((one) => one.scope !== undefined && windowsOf(one).longestNs > 0n);
  const longestNs = looking.reduce((most, one) => (windowsOf(one).longestNs > most ? windowsOf(one).longestNs : most), 0n);
  const found = looking.flatMap(({ name }) => {
    const one = read.get(name);
    return one === undefined ? [] : [one];
  });
  return { read, passes: rememberPass(passes, found, longestNs) };
}

/** The workloads that a step may have to compare are read while a condition holds, so that their rates are known. */
function compare(
  turns: readonly JudgedTurn[],
  { compared, restraints }: PolicyState,
  input: StepInput,
  swapBytes: bigint | undefined,
): { readonly histories: ComparedHistories; readonly candidates: () => Candidates } {
  let found: Candidates | undefined;
  const candidates = (): Candidates => (found ??= input.candidates());
  const holding = turns.filter(
    ({ truth, scope, configured: { then } }) => (truth === true || scope.ladder) && then.some(({ kind }) => COMPARING.has(kind)),
  );
  if (holding.length === 0 && restraints.length === 0) return { histories: NONE, candidates };
  const paths = new Set(restraints.map(({ target }) => target.path));
  for (const { configured, scope } of holding) {
    const recursive = configured.then.some((step) => step.kind === 'kill' && step.recursive);
    const { managed, within } = configured;
    const inScope = workloadsOf({ managed, within, scope: scope.scope, swapBytes }, candidates()).map(({ workload }) => workload.path);
    for (const path of comparedPaths(inScope, scope.scope, recursive)) paths.add(path);
  }
  const readings = paths.size === 0 ? [] : (input.policyWorkloads?.([...paths]) ?? []);
  return {
    histories: new Map(readings.map((reading) => [reading.path, remember(compared.get(reading.path), reading, COMPARED_NS)])),
    candidates,
  };
}

function swapOf(node: ScopeHistory | undefined): bigint | undefined {
  const bytes = node && latest(node)?.values.get('swap.available.capacity');
  return bytes === undefined ? undefined : BigInt(Math.round(bytes));
}

const COMPARING: ReadonlySet<string> = new Set(['throttle', 'freeze', 'stop', 'kill']);
const NONE: ComparedHistories = new Map();

/** Lifts the restraints of a workload before a threshold evicts it. */
function beginTurns(
  policy: Policy,
  { state, effects }: PolicyStepResult,
  { restraints }: PolicyState,
  { results, outcomes }: Answers,
  histories: ComparedHistories,
): TurnResult {
  const ending = effects.flatMap((effect) =>
    effect.kind === 'evict' || effect.kind === 'escalate' ? [effect.decision.victim.workload] : [],
  );
  const failed = (one: Restrained): boolean =>
    results.some(
      ({ policy: name, scope, action, result, target }) =>
        name === one.policy &&
        scope === one.scope &&
        action === one.action &&
        result === 'failed' &&
        (target === undefined || target.id === one.target.id),
    );
  const hasChosen = policy.dryRun && effects.some(({ kind }) => kind === 'evict');
  const freed = withLifted({ ...choiceOf(state), effects: [], restraints: restraints.filter((one) => !failed(one)), hasChosen }, (one) => {
    if (ending.some((workload) => isRelated(one.target, workload))) return 'evicted';
    return isPaused(one, state.pauses) ? 'paused' : isStuck(one, histories) ? 'no-progress' : undefined;
  });
  const reported = results.map((result): Effect => ({ kind: 'policy-result', ...result }));
  return {
    ...freed,
    effects: [...freed.effects, ...effects, ...reported, ...evictionResults(outcomes)],
  };
}

interface Answers {
  readonly results: readonly PolicyResult[];
  readonly outcomes: readonly Outcome[];
}

/** A turn with what has become of its ladder's step since. */
function withAnswers(
  turn: JudgedTurn,
  policy: Policy,
  { results, outcomes }: Answers,
  restraints: readonly Restrained[],
  nowNs: bigint,
): JudgedTurn {
  const { scope, configured, key } = turn;
  const step = scope.ladder && configured.then[scope.ladder.step];
  if (scope.ladder === undefined || step === undefined) return turn;
  const own = results.filter((result) => result.policy === scope.policy && result.scope === scope.scope);
  let ladder = own.reduce((before: Ladder, result) => answered(before, step, result, nowNs), scope.ladder);
  const outcome = outcomes.find(({ decision }) => decision.serial === ladder.eviction);
  if (outcome !== undefined) ladder = afterEviction(ladder, freedIn(outcome, policy), nowNs);
  const isMild = step.kind === 'throttle' || step.kind === 'freeze';
  const isHeld = restraints.some((one) => one.key === key && one.step === ladder.step);
  // Its workload was released before its time: it is evicted, makes no progress, or could not be throttled.
  if (isMild && !isHeld && ladder.endsAtNs !== undefined && !policy.dryRun) ladder = { ...ladder, endsAtNs: nowNs };
  return { ...turn, scope: { ...scope, ladder } };
}

/** undefined: it could not be ended. One that ended before has freed its memory, too. */
function freedIn({ result }: Outcome, { departures }: Policy): 'enough' | 'little' | undefined {
  if (result === 'failed') return undefined;
  return result === 'ineffective' && departures['no-yield'] ? 'little' : 'enough';
}

function evictionResults(outcomes: readonly Outcome[]): readonly Effect[] {
  return outcomes.flatMap(({ decision, result, freedBytes, error }): Effect[] => {
    const { cause, victim } = decision;
    if (cause.kind !== 'policy') return [];
    const isEnded = result === 'killed' || result === 'ineffective';
    const { policy, scope } = cause;
    const action = cause.graceNs > 0n ? 'stop' : 'kill';
    const why = error ?? `${victimName(victim)} is ${result}`;
    return [
      {
        kind: 'policy-result',
        ...{ policy, scope, action, target: targetOf(victim) },
        ...(isEnded ? { result: 'done', freedBytes } : { result: 'failed', error: why }),
      },
    ];
  });
}
