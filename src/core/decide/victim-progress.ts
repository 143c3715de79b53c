import type { Chosen } from '../rank/eviction-attempt.js';
import { needsAnswer } from '../kubernetes/pod-eviction-way.js';
import { isYieldOpen, nodeAfter, withYield } from '../reclaim/eviction-yield.js';
import { isMemoryOpen, judgedMemory, nodeYield, type JudgedMemory, type NodeYield } from '../reclaim/node-yield.js';
import { pauseAfter } from '../reclaim/yield-pause.js';
import type { Departures } from './departures.js';
import type { Effect } from './effect.js';
import {
  advance,
  expectedBytes,
  freedBytes,
  type Decision,
  type DyingContext,
  type EvictionInFlight,
  type Outcome,
  type VictimReading,
} from './eviction.js';
import type { StepInput } from './step-input.js';
import type { Observations } from '../signal/observation.js';
import { withEviction, withoutHold } from '../systemd/restart-storm.js';
import type { Signal } from '../signal/signal.js';
import type { Policy, State } from './state.js';
import { thresholdKind } from '../threshold/threshold.js';
import { victimId } from '../workload/process.js';

/** The times until which workloads are passed over, as in State. */
type PassedOver = Pick<State, 'failedKills' | 'refusedEvictions' | 'unansweredEvictions'>;

/** The evictions in flight after this step. */
export interface VictimsNow extends PassedOver {
  readonly evictions: readonly EvictionInFlight[];
  /** Of these: no signal is sent while the API server has not answered, and a hard threshold does not wait for that. */
  readonly awaited: readonly EvictionInFlight[];
  readonly effects: readonly Effect[];
  readonly withoutYield: ReadonlyMap<Signal, bigint>;
  readonly relievedNs: bigint | undefined;
  readonly unitEvictions: State['unitEvictions'];
  readonly held: State['held'];
  /** The kubelet waits after a failed kill; undefined: no wait. */
  readonly notBeforeNs: bigint | undefined;
}

/** How long a workload is passed over after it survived SIGKILL, … */
const SURVIVED_PAUSE_NS = 60_000_000_000n;
/** … and after it could not be signalled (out of descriptors, for example). */
const UNTOUCHED_PAUSE_NS = 1_000_000_000n;
/** The kubelet's wait after a failed kill (waitForPodsCleanup). */
const CLEANUP_NS = 30_000_000_000n;

/**
 * @param hard  resources with a met hard threshold, which ends a grace period at once (departure hard-preempts-soft)
 * @param short  resources for which another eviction is due: a threshold was met for its grace period, or owes min
 *   reclaim; undefined: not known
 */
export function advanceEvictions(
  { departures }: Policy,
  state: State,
  { nowNs, victims }: Pick<StepInput, 'nowNs' | 'victims'>,
  observations: Observations | undefined,
  hard: ReadonlySet<string>,
  short?: ReadonlySet<string>,
): VictimsNow {
  if (state.evictions.length + state.failedKills.size + state.refusedEvictions.size + state.unansweredEvictions.size === 0)
    return idle(state);
  const passedOver = passedOverStill(state, nowNs);
  const evictions: EvictionInFlight[] = [];
  const awaited: EvictionInFlight[] = [];
  const effects: Effect[] = [];
  const withoutYield = new Map(state.withoutYield);
  let { relievedNs, unitEvictions, held } = state;
  let notBeforeNs: bigint | undefined;
  for (const eviction of state.evictions) {
    const { decision } = eviction;
    const read = victims.get(decision.serial);
    if (read === undefined) {
      evictions.push(eviction);
      continue;
    }
    const judged = judgedMemory(decision, departures);
    const hardMet = isSoft(decision) && hard.has(decision.resource);
    const isAwaited = awaitsAnswer(eviction, read);
    const reading = isAwaited ? { ...read, unanswered: true as const } : read;
    const isShort = short?.has(decision.resource) ?? true;
    const node = nodeNow(judged, departures, observations);
    const now = advance(eviction, reading, { hardMet: hardMet && !isAwaited, isShort, ...node, nowNs });
    if (!('result' in now)) {
      evictions.push(now.eviction);
      if (hardMet && isAwaited) awaited.push(now.eviction);
      if (now.escalate) effects.push({ kind: 'escalate', decision, reason: now.escalate });
      continue;
    }
    const ended = yieldNow(now, judged, { reading, observations }, departures, nowNs);
    if (ended.isOpen) {
      evictions.push(ended.eviction);
    } else {
      const outcome = outcomeOf(now.result, ended.eviction, ended, departures['failed-kill'], nowNs);
      effects.push({ kind: 'outcome', outcome });
      if (isEnded(outcome)) relievedNs = nowNs;
      if (outcome.result === 'failed' && !departures['failed-kill'] && !reading.refused) notBeforeNs = nowNs + CLEANUP_NS;
      // A vanished workload should not be listed again. If it were, it would be chosen for ever.
      else if (outcome.result === 'failed' || outcome.result === 'vanished') {
        passedOver[pauseOf(reading)].set(victimId(decision.victim), nowNs + pauseNs(reading));
      }
      const { unit: named, path } = decision.victim.workload;
      const unit = decision.unit && named; // one process is not the unit
      if (unit && outcome.counted) unitEvictions = withEviction(unitEvictions, path, nowNs);
      if (unit && outcome.result === 'vanished') held = withoutHold(held, unit.name, decision.serial);
      const pause = departures['no-yield'] ? pauseAfter(outcome, judged, departures.budget) : undefined;
      if (pause) withoutYield.set(pause.signal, pause.untilAvailable);
    }
  }
  return { evictions, awaited, effects, ...passedOver, withoutYield, relievedNs, unitEvictions, held, notBeforeNs };
}

function idle({ failedKills, refusedEvictions, unansweredEvictions, withoutYield, relievedNs, unitEvictions, held }: State): VictimsNow {
  const passedOver = { failedKills, refusedEvictions, unansweredEvictions };
  return { ...passedOver, evictions: [], awaited: [], effects: [], withoutYield, relievedNs, unitEvictions, held, notBeforeNs: undefined };
}

/** Without those whose time is over. */
function passedOverStill(state: PassedOver, nowNs: bigint): Record<keyof PassedOver, Map<string, bigint>> {
  const still = (until: ReadonlyMap<string, bigint>) => new Map([...until].filter(([, untilNs]) => nowNs < untilNs));
  return {
    failedKills: still(state.failedKills),
    refusedEvictions: still(state.refusedEvictions),
    unansweredEvictions: still(state.unansweredEvictions),
  };
}

function pauseOf({ refused, unanswered }: VictimReading): keyof PassedOver {
  if (!refused) return 'failedKills';
  return unanswered ? 'unansweredEvictions' : 'refusedEvictions';
}

/** Whether the eviction waits for the answer of the API server: that of a drain or an operator gets no signal before it. */
function awaitsAnswer({ decision, phase }: EvictionInFlight, { processes, vanished, ...reading }: VictimReading): boolean {
  if (phase !== 'terminating' || processes === 0 || vanished || reading.refused) return false;
  const isAnswered = reading.signalledAtNs !== undefined && !reading.unanswered;
  return !isAnswered && decision.victim.workload.kubernetes !== undefined && needsAnswer(decision.cause);
}

/** Evictions that wait for an answer go on beside those for a hard threshold, except of the same workload. */
export function withAwaited(
  policy: Policy,
  { awaited }: VictimsNow,
  { victims, nowNs }: Pick<StepInput, 'victims' | 'nowNs'>,
  chosen: Chosen,
): Chosen {
  if (awaited.length === 0) return chosen;
  const evicted = new Set(chosen.evictions.map(({ decision }) => decision.victim.workload.id));
  const isOver = ({ decision }: EvictionInFlight): boolean => evicted.has(decision.victim.workload.id);
  const outcomes = awaited.filter(isOver).flatMap((eviction): Effect[] => {
    const reading = victims.get(eviction.decision.serial);
    return reading ? [{ kind: 'outcome', outcome: overtaken(eviction, reading, policy, nowNs) }] : [];
  });
  const evictions = [...awaited.filter((one) => !isOver(one)), ...chosen.evictions];
  return { ...chosen, evictions, effects: [...outcomes, ...chosen.effects] };
}

/** The outcome of an eviction that has waited for an answer until its workload was evicted for another reason. */
function overtaken(eviction: EvictionInFlight, reading: VictimReading, { departures }: Policy, nowNs: bigint): Outcome {
  const error = 'the API server had not answered when the workload was evicted for another reason';
  const facts = { reading: { ...reading, error }, observations: undefined, found: undefined };
  return outcomeOf('failed', eviction, facts, departures['failed-kill'], nowNs);
}

function pauseNs({ processes }: VictimReading): bigint {
  return processes === undefined ? UNTOUCHED_PAUSE_NS : SURVIVED_PAUSE_NS;
}

/** Whether it is too early to tell what an eviction without a process left has freed, and what that is so far. */
function yieldNow(
  { result, eviction }: { readonly result: Outcome['result']; readonly eviction: EvictionInFlight },
  judged: JudgedMemory | undefined,
  { reading, observations }: Omit<OutcomeFacts, 'found'>,
  departures: Departures,
  nowNs: bigint,
): OutcomeFacts & { readonly eviction: EvictionInFlight; readonly isOpen: boolean } {
  const facts = { reading, observations, found: undefined };
  if (result !== 'killed' && result !== 'ineffective') return { ...facts, eviction, isOpen: false };
  const gone = withYield(eviction, observations, nowNs, judged);
  if (judged === undefined) {
    return { ...facts, eviction: gone, isOpen: result === 'killed' && isYieldOpen(gone, observations, nowNs, departures) };
  }
  const found = nodeYield(gone, judged, observations, reading.removed);
  return { ...facts, found, eviction: gone, isOpen: isMemoryOpen(gone, found, nowNs) };
}

function nodeNow(
  judged: JudgedMemory | undefined,
  departures: Departures,
  observations: Observations | undefined,
): Pick<DyingContext, 'byNode' | 'isJudged' | 'nodeAvailable'> {
  const nodeAvailable = judged && observations?.observed.get(judged.signal)?.available;
  return { byNode: departures['node-yield'], isJudged: judged !== undefined, nodeAvailable };
}

/** Whether the eviction has no hard deadline: without the departure hard-grace a hard eviction keeps its second. */
function isSoft({ cause }: Decision): boolean {
  if (cause.kind === 'threshold') return thresholdKind(cause.threshold) === 'soft';
  return cause.kind === 'policy' || cause.kind === 'disruption';
}

interface OutcomeFacts {
  readonly reading: VictimReading;
  readonly observations: Observations | undefined;
  /** undefined: the node does not judge it, or could not be read. */
  readonly found: NodeYield | undefined;
}

function outcomeOf(
  result: Outcome['result'],
  eviction: EvictionInFlight,
  { reading, observations, found }: OutcomeFacts,
  onlyKilled: boolean,
  nowNs: bigint,
): Outcome {
  const { decision } = eviction;
  const after = nodeAfter(decision, observations);
  const judged = found === undefined ? result : found.isEnough ? 'killed' : 'ineffective';
  return {
    result: judged,
    decision,
    counted: judged === 'killed' || judged === 'ineffective' || (judged === 'failed' && !onlyKilled),
    atNs: nowNs,
    ...(eviction.exitedSinceNs !== undefined && { exitedAtNs: eviction.exitedSinceNs }),
    expectedBytes: expectedBytes(decision),
    freedBytes: result === 'vanished' || result === 'abandoned' ? 0n : freedNow(eviction, reading, after, found),
    ...(found && { nodeFreedBytes: found.gained }),
    ...(found?.notFreed && { notFreed: found.notFreed }),
    removed: reading.removed,
    processesLeft: reading.processes,
    ...(reading.later && { later: reading.later }),
    error: reading.error,
    ...(reading.abandoned === undefined ? {} : { abandoned: reading.abandoned }),
    nodeAfter: after,
    ...(reading.systemd && { systemd: reading.systemd }),
  };
}

/** A removed cgroup does not show what it freed. Then the value is what the node got back, at most what the cgroup held. */
function freedNow(
  eviction: EvictionInFlight,
  { removed }: VictimReading,
  after: Outcome['nodeAfter'],
  found: NodeYield | undefined,
): bigint {
  const freed = freedBytes(eviction, after);
  if (found === undefined || !removed || found.gained <= freed) return freed;
  return found.gained < eviction.peakUsageBytes ? found.gained : eviction.peakUsageBytes;
}

/** No process is left, whatever ended it. */
function isEnded({ result, processesLeft }: Outcome): boolean {
  return result === 'abandoned' ? processesLeft === 0 : result !== 'failed';
}
