import type { Policy, State } from '../core/decide/state.js';
import { policiesDueNs } from '../core/ladder/policy-deadline.js';
import { lookAtPolicies, restOfPolicies, type LeadBounds } from '../core/ladder/policy-look.js';
import type { PolicyReadings } from '../core/policy/scope-reading.js';
import type { Observations } from '../core/signal/observation.js';
import { operandsOf, thresholdsMet } from '../core/threshold/threshold.js';
import type { Heartbeat, Node, NotifierState, SourceProblem, StepListener, WorkloadSource } from './ports/ports.js';
import type { PolicyPort } from './ports/policy-port.js';
import type { Reporter } from './reporter.js';

/** One of this many ticks looks at the node, because its limits and its cgroups may have changed, … */
const LOOK_EVERY = 6;
/** … and one for which the last one is so long ago. */
const LOOK_NS = 60_000_000_000n;
/** A pass is made instead of one of this many looks. It retries what has failed, and finds what no notifier reports. */
const PASS_EVERY = 5;

interface QuietTicksParts {
  readonly node: Pick<Node, 'steady' | 'read' | 'requestFilesystems'>;
  readonly policies?: Pick<PolicyPort, 'read' | 'bytesPerSecond' | 'watchedPressure'>;
  readonly workloads: Pick<WorkloadSource, 'refresh'>;
  readonly reporter: Pick<Reporter, 'skipped' | 'sampled'>;
  readonly heartbeat: Pick<Heartbeat, 'beat'>;
  readonly listeners: readonly StepListener[];
}

/** Ticks and looks at policies without a pass, while nothing is near to happen: a notifier wakes if that changes. */
export class QuietTicks {
  /** Ticks since the last look, … */
  #ticks = 0;
  /** … the time of the look or of a pass instead, … */
  #lookedNs = 0n;
  /** … and looks since the last tick with a pass. */
  #looks = 0;
  #isWatched = false;
  #policiesAtNs: bigint | undefined;

  constructor(
    private readonly parts: QuietTicksParts,
    private readonly notify: (call: (listener: StepListener) => void) => void,
  ) {}

  armed({ thresholds }: Pick<Policy, 'thresholds'>, notifiers: readonly NotifierState[], problems: readonly SourceProblem[]): void {
    const live = new Set(notifiers.filter((notifier) => notifier.live).map(({ signal }) => signal));
    const isEachLive = notifiers.every((notifier) => notifier.live || !notifier.essential);
    this.#isWatched = isEachLive && problems.length === 0 && thresholds.flatMap(operandsOf).every(({ signal }) => live.has(signal));
  }

  /** A tick makes a pass. */
  passes(nowNs: bigint): void {
    this.#ticks = 0;
    this.#looks = 0;
    this.#lookedNs = nowNs;
  }

  /** Does what a tick without a pass does. Returns false if it needs a pass. */
  tickWithoutPass(policy: Pick<Policy, 'localStorageCapacityIsolation'>, state: State, nowNs: bigint): boolean {
    const { node, reporter, heartbeat } = this.parts;
    if (!this.#isWatched || node.steady === undefined || policy.localStorageCapacityIsolation || !isCalm(state)) return false;
    let observations: Observations | undefined;
    if (this.#ticks + 1 >= LOOK_EVERY || nowNs - this.#lookedNs >= LOOK_NS) {
      observations = this.#looks + 1 < PASS_EVERY ? node.steady() : undefined;
      if (observations === undefined) return false;
      this.#look(nowNs);
    } else {
      this.#ticks += 1;
    }
    if (!this.#listenersAgree(nowNs, observations)) return false;
    reporter.skipped();
    heartbeat.beat(nowNs);
    return true;
  }

  #look(nowNs: bigint): void {
    const { node, workloads } = this.parts;
    this.#ticks = 0;
    this.#looks += 1;
    this.#lookedNs = nowNs;
    node.requestFilesystems(); // for policies and clients; a threshold has a sampler
    workloads.refresh();
  }

  /** Whether a pass now would find nothing else than the last one. Reads the node. */
  isSteady({ thresholds }: Pick<Policy, 'thresholds'>, state: State): boolean {
    const observations = this.#isWatched && isCalm(state) ? this.parts.node.steady?.() : undefined;
    return observations?.missing.size === 0 && thresholdsMet(thresholds, observations, false).length === 0;
  }

  /** When policies have to be judged; undefined: there are none. */
  get policiesAtNs(): bigint | undefined {
    return this.#policiesAtNs;
  }

  /** The pressure of the node has risen: policies are due now. */
  hurry(nowNs: bigint): void {
    this.#policiesAtNs &&= nowNs;
  }

  /**
   * A pass has judged the policies.
   *
   * @param readings  what it has read of the scopes; undefined: nothing
   */
  passed(policy: Policy, state: State, readings: PolicyReadings | undefined, nowNs: bigint): void {
    const leadNs = this.parts.policies && restOfPolicies(policy, state, readings, this.#boundsOf(this.parts.policies));
    this.#policiesAtNs = policiesDueNs(policy, state.policies, nowNs, leadNs);
  }

  #boundsOf({ bytesPerSecond, watchedPressure }: Pick<PolicyPort, 'bytesPerSecond' | 'watchedPressure'>): LeadBounds {
    return { bytesPerSecond, watchedPressure, isWatched: this.#isWatched };
  }

  /**
   * Judges the policies without a pass.
   *
   * @param dueAtNs  when anything else needs a pass
   * @returns the state that remembers the readings; undefined: a pass is needed
   */
  policiesWithoutPass(policy: Policy, state: State, dueAtNs: bigint | undefined, nowNs: bigint): State | undefined {
    const { node, policies, listeners } = this.parts;
    const isDue = dueAtNs !== undefined && dueAtNs <= nowNs;
    if (policies === undefined || isDue || !isCalm(state) || listeners.some((listener) => !('skipped' in listener))) return undefined;
    const observations = node.read();
    const readings = policies.read();
    const input = { nowNs, observe: () => observations, policyReadings: () => readings };
    const looked = lookAtPolicies(policy, state, input, this.#boundsOf(policies));
    if (looked === undefined) return undefined;
    this.#policiesAtNs = policiesDueNs(policy, looked.state.policies, nowNs, looked.leadNs);
    return looked.state;
  }

  /** No pass may be made yet. evictd is alive, though it waits. */
  tickWhileWaiting({ thresholds }: Pick<Policy, 'thresholds'>, observations: Observations, nowNs: bigint): void {
    this.parts.reporter.sampled(observations, thresholds);
    this.#listenersAgree(nowNs, observations);
    this.parts.heartbeat.beat(nowNs);
  }

  /** Tells every listener that a tick makes no pass. Returns whether each can do without. */
  #listenersAgree(nowNs: bigint, observations: Observations | undefined): boolean {
    let agreeing = 0;
    this.notify((listener) => {
      if (listener.skipped?.(nowNs, observations) === true) agreeing += 1;
    });
    return agreeing === this.parts.listeners.length;
  }
}

/** Whether the next step would only repeat the last one. */
function isCalm({ episodes, conditions, reclaiming, evictions, held, pauses, withoutYield, lastObservations }: State): boolean {
  const lasting = [episodes.size, conditions.length, evictions.length, held.size, pauses.size, withoutYield.size];
  return lasting.every((count) => count === 0) && reclaiming === undefined && lastObservations.missing.size === 0;
}
