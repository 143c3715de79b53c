import type { Effect } from '../decide/effect.js';
import type { Policy, State } from '../decide/state.js';
import type { StepInput } from '../decide/step-input.js';
import { formatDuration } from '../quantity/duration.js';
import type { Candidates, Workload } from '../workload/workload.js';
import type { DisruptionCause } from './disruption-cause.js';
import { UNSCHEDULABLE_TAINT } from './node-taints.js';
import { isUnlisted } from './refusal.js';
import { isSameTaint, taintText, type Taint } from './taint.js';
import { endingIds } from './disruption-budget.js';
import { minTolerationSeconds, taintEviction, type TaintedWorkload, type TaintEvictions } from './taint-eviction.js';
import { findMatchingUntoleratedTaint, toleratesTaint, type Toleration } from './toleration.js';

interface TaintStep {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** The causes of evictions, by workload id. */
  readonly causes: ReadonlyMap<string, DisruptionCause>;
  /** Left out: the workloads were not compared in this step. */
  readonly found?: Candidates;
}

/** The taints of the configuration, of operators and of a cordoned node. Taints that stand for pressure are left out. */
export function taintsInForce({ taints = [] }: Pick<Policy, 'taints'>, state: Pick<State, 'taints' | 'drain'>): readonly Taint[] {
  const cordon = state.drain === undefined ? [] : [UNSCHEDULABLE_TAINT];
  return [...taints, ...[...state.taints, ...cordon].filter((taint) => !taints.some((other) => isSameTaint(other, taint)))];
}

/** Whether a step needs CLOCK_BOOTTIME. */
export function followsTaints(policy: Policy, state: State): boolean {
  return state.taintsJudged !== undefined || state.taintEvictions.size > 0 || noExecute(policy, state).length > 0;
}

/** The taints' part of a step: an operator changes them, and evictions for NoExecute begin, are due, or are cancelled. */
export function stepTaints(policy: Policy, before: State, input: StepInput): TaintStep {
  const { state, effects } = withRequest(before, input);
  const none = { state, effects, causes: new Map<string, DisruptionCause>() };
  const { nowNs, bootNs } = input;
  if (bootNs === undefined || !policy.hasWorkloadSource || !followsTaints(policy, state)) return none;
  const taints = noExecute(policy, state);
  const of = [...taints.map(taintText), ...state.pauses.keys()].join('\n');
  const { taintsJudged: judged } = state;
  const dueNs = judged?.of === of ? taintsDueNs(policy, state, input) : undefined;
  if (dueNs !== undefined && dueNs > nowNs) return none;
  const found = input.candidates();
  const compared = compare(policy, state, taints, found, bootNs);
  return {
    state: { ...state, ...compared.changed, taintsJudged: taints.length > 0 ? { atNs: nowNs, bootNs, of } : undefined },
    effects: [...effects, ...compared.effects],
    causes: compared.causes,
    found,
  };
}

/** When workloads are compared with the taints again if the machine does not sleep before. undefined: there is no need. */
export function taintsDueNs(policy: Policy, state: State, { nowNs, bootNs }: Pick<StepInput, 'nowNs' | 'bootNs'>): bigint | undefined {
  const { taintsJudged: judged, taintEvictions } = state;
  if (judged === undefined || bootNs === undefined || !policy.hasWorkloadSource || !followsTaints(policy, state)) return undefined;
  let due = judged.atNs + policy.monitoringIntervalNs;
  for (const { dueNs } of taintEvictions.values()) {
    // What was due then and still runs is protected, or could not be ended.
    if (dueNs > judged.bootNs && nowNs + dueNs - bootNs < due) due = nowNs + dueNs - bootNs;
  }
  return due;
}

function noExecute(policy: Policy, state: State): readonly Taint[] {
  return taintsInForce(policy, state).filter(({ effect }) => effect === 'NoExecute');
}

function withRequest(state: State, { request }: StepInput): Pick<TaintStep, 'state' | 'effects'> {
  if (request?.kind !== 'taint') return { state, effects: [] };
  const { set, remove, by } = request;
  const removed = state.taints.filter((taint) => remove.some((one) => isSameTaint(one, taint)));
  const added = set.filter((taint) => !state.taints.some((other) => taintText(other) === taintText(taint)));
  const kept = state.taints.filter((taint) => ![...removed, ...added].some((one) => isSameTaint(one, taint)));
  return {
    state: { ...state, taints: [...kept, ...added] },
    effects: [
      ...removed.map((taint): Effect => ({ kind: 'taint', event: 'removed', taint: taintText(taint), by })),
      ...added.map((taint): Effect => ({ kind: 'taint', event: 'set', taint: taintText(taint), by })),
    ],
  };
}

interface Compared extends Pick<TaintStep, 'effects' | 'causes'> {
  readonly changed: Pick<State, 'taintEvictions' | 'settled'>;
}

function compare(policy: Policy, state: State, taints: readonly Taint[], found: Candidates, bootNs: bigint): Compared {
  const effects: Effect[] = [];
  const causes = new Map<string, DisruptionCause>();
  const waiting = new Map(remaining(state.taintEvictions, found));
  const ending = endingIds(state.evictions);
  for (const { workload } of found.usages) {
    const { id, name, path, kubernetes: { owner } = {} } = workload;
    const tolerations = workload.pod?.tolerations ?? workload.tolerations ?? [];
    const before = state.taintEvictions.get(id);
    // The DaemonSet controller does not know the taint and would make the pod again, as long as the taint lasts.
    const next = owner?.kind === 'DaemonSet' ? 'never' : taintEviction(taints, tolerations, before, bootNs);
    if (next === 'never' && before && !ending.has(id))
      effects.push({ kind: 'taint', event: 'cancelled', workload: { name, path }, taint: before.taint });
    waiting.delete(id);
    if (next === 'never' || (before === undefined && ending.has(id))) continue;
    const isDue = next === 'now' || next.dueNs <= bootNs;
    // The processes of each are read now: once at the beginning, and when it is due.
    const protection = workload.protection ?? (isDue || before === undefined ? found.veto?.(workload) : undefined);
    if (protection && (before === undefined || next === 'now' || protection.kind === 'vacant')) continue;
    if (next === 'now') {
      causes.set(id, causeOf(notTolerated(taints, tolerations)));
      continue;
    }
    const one = before === next ? before : { ...next, name, path, taint: shortest(taints, tolerations) };
    waiting.set(id, one);
    const forNs = one.dueNs - one.createdNs;
    if (one !== before) effects.push({ kind: 'taint', event: 'waits', workload: { name, path }, taint: one.taint, forNs });
    if (isDue && !protection) causes.set(id, causeOf(`it tolerated the taint ${one.taint} for ${formatDuration(forNs)}`));
  }
  return { effects, ...asOnce(policy, state, causes), changed: { taintEvictions: waiting, settled: settledIn(policy, state, causes) } };
}

/** Workloads that are or were evicted wait no more: one that is started again has its whole time. A dry run evicts none. */
export function withoutBegun({ dryRun }: Policy, state: State, effects: readonly Effect[]): State {
  const decisions = effects.flatMap((effect) =>
    effect.kind === 'evict' ? [effect.decision] : effect.kind === 'outcome' ? [effect.outcome.decision] : [],
  );
  const begun = new Set(decisions.flatMap(({ victim }) => (victim.process === undefined ? [victim.workload.id] : [])));
  if (dryRun || ![...begun].some((id) => state.taintEvictions.has(id))) return state;
  return { ...state, taintEvictions: new Map([...state.taintEvictions].filter(([id]) => !begun.has(id))) };
}

/** Evictions of workloads that cannot be read now. Those of workloads that have ended are dropped. */
function remaining(evictions: TaintEvictions, found: Candidates): readonly (readonly [string, TaintedWorkload])[] {
  return [...evictions].filter(([, { path }]) => isUnlisted(path, found));
}

/** A dry run ends nothing, and decides each eviction once. */
function asOnce({ dryRun }: Policy, { settled }: State, causes: TaintStep['causes']): Pick<Compared, 'causes'> {
  return { causes: dryRun ? new Map([...causes].filter(([id]) => !settled.has(keyOf(id)))) : causes };
}

function settledIn({ dryRun }: Policy, { settled }: State, causes: TaintStep['causes']): State['settled'] {
  if (!dryRun) return settled;
  const others = [...settled].filter(([key]) => !key.startsWith(keyOf('')));
  return new Map([...others, ...[...causes.keys()].map((id) => [keyOf(id), keyOf(id)] as const)]);
}

function keyOf(id: Workload['id']): string {
  return `taint ${id}`;
}

function causeOf(message: string): DisruptionCause {
  return { kind: 'disruption', reason: 'taint', message };
}

function notTolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): string {
  const taint = findMatchingUntoleratedTaint(taints, tolerations, ['NoExecute']);
  return taint === undefined
    ? `it tolerates the taint ${shortest(taints, tolerations)} for 0s`
    : `it does not tolerate the taint ${taintText(taint)}`;
}

/** The taint that is tolerated for the shortest time. */
function shortest(taints: readonly Taint[], tolerations: readonly Toleration[]): string {
  let found: { readonly taint: Taint; readonly seconds: bigint } | undefined;
  for (const taint of taints) {
    const seconds = minTolerationSeconds(tolerations.filter((toleration) => toleratesTaint(toleration, taint)).slice(0, 1));
    if (seconds !== 'infinite' && (found === undefined || seconds < found.seconds)) found = { taint, seconds };
  }
  return found === undefined ? '' : taintText(found.taint);
}
