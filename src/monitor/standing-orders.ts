import {
  availableAt,
  carriedOut,
  hasFallen,
  hasForbidden,
  isNear,
  ORDER_LIFE_NS,
  orderedThreshold,
  renewalNs,
  standingDecisions,
  type OrderedThreshold,
} from '../core/decide/standing-order.js';
import { inFlight, type Decision } from '../core/decide/eviction.js';
import type { StepInput } from '../core/decide/step-input.js';
import type { Observation, Observations } from '../core/signal/observation.js';
import { initialState, type Policy, type State } from '../core/decide/state.js';
import { standingOrderMessage } from '../core/message/message.js';
import type { Candidates } from '../core/workload/workload.js';
import type { Journal } from '../journal/journal.js';
import type { OrderFile } from '../journal/order-file.js';
import { orderFailedRecord } from '../journal/records/record.js';
import type { StateKeeper } from '../state/state-keeper.js';
import { decisionRecord } from '../journal/records/decision-record.js';
import type { Node } from './ports/ports.js';
import { orderedSignals } from './ports/sent-signals.js';
import type { OrderPlan, OrderResult, StandingOrder } from './ports/standing-order.js';
import type { ProcessRecords } from './ports/process-records.js';
import type { Reporter } from './reporter.js';
import { NANO, maxBigInt, minBigInt } from '../core/quantity/integer.js';

/** Orders take on average at most this fraction (1/n) of a processor, however many workloads there are. */
const PART_OF_TIME = 50n;
/** Orders that are not delayed after a quiet time: on a slow machine memory may be full before the second one is paid for. */
const AT_ONCE = 8n;

/** The time after which memory.stat is up to date in any case: the kernel flushes it every 2 s. */
const SETTLES_NS = 2_500_000_000n;

/**
 * If something else than the workloads of an order has grown, the main thread, which sees all workloads, decides unless
 * it is stalled. So the order waits at least this many times as long, and this many times as long as it took to make.
 */
const UNEXPLAINED = 10n;
const UNEXPLAINED_DECISIONS = 2n;
/** Not longer: it may have been made while all processors were busy, and memory can fill by 1 GB/s. */
const MAX_DECISIONS_NS = 50_000_000n;

/** The kernel's statistics are this inexact. */
const SLACK = 8 * 1024 * 1024;

export interface StandingOrderParts {
  readonly order: StandingOrder;
  readonly file: Pick<OrderFile, 'bytesOf' | 'clear' | 'found'>;
  /** The decision of an order that was carried out as the previous evictd ended, and that continues. undefined: none. */
  readonly found: Decision | undefined;
  readonly journal: Pick<Journal, 'line' | 'record'>;
  readonly keeper: Pick<StateKeeper, 'text'>;
  readonly node: Pick<Node, 'crossing'>;
  /** Left out: processes cannot be read here. */
  readonly processes?: Pick<ProcessRecords, 'expect'> | undefined;
  readonly reporter: Pick<Reporter, 'orderFailed' | 'prepared'>;
}

/** What a pass knows at its end. */
export interface OrderedPass {
  readonly observations: Observations;
  readonly layout: StepInput['layout'];
  readonly candidates: () => Candidates;
  /** When it began. */
  readonly passNs: bigint;
  /** Whether something happened that may make the order wrong. */
  readonly hasChanged: boolean;
}

/** An order as placed: its decisions, and by which numbers the node's value means an amount. */
interface Placed {
  readonly decisions: readonly Decision[];
  readonly atLeast: number;
  readonly limit: bigint;
}

/**
 * Prepares the decision that would be taken now, while the hard threshold of memory is near, and gives it to the native
 * layer as a standing order. It is carried out there if this thread does not react to a crossing in time.
 */
export class StandingOrders {
  /** undefined: none stands. */
  #placed: Placed | undefined;
  #ordered: Decision | undefined;
  /** The reading that the last order was made from. */
  #before: Observation | undefined;
  #renewNs: bigint | undefined;
  /** When the orders so far are paid for, and for how long the most expensive of them is. */
  #paidAtNs = 0n;
  #longestNs = 0n;
  /** No other order before: they would take too much time. */
  #restsUntilNs = 0n;
  /** Why no order can stand, as reported last. */
  #impossible: string | undefined;
  /** The file has an order of the previous evictd that does not continue, until the state is saved. */
  #hasLeftover: boolean;

  /** @param afterNs  0: none is ever placed */
  constructor(
    private readonly parts: StandingOrderParts,
    public afterNs: bigint,
  ) {
    this.#ordered = parts.found;
    this.#hasLeftover = parts.found === undefined && parts.file.found !== undefined;
  }

  /** An order was carried out: `take` has the decision. */
  set onCarriedOut(call: (atNs: bigint) => void) {
    this.parts.order.onCarriedOut = call;
  }

  get stands(): boolean {
    return this.#placed !== undefined;
  }

  /** When `follow` has to be called with a new reading; undefined: no threshold is near. */
  get dueNs(): bigint | undefined {
    return this.#renewNs;
  }

  /** Withdraws the order. false: it was carried out, and `take` has the decision. */
  withdraw(): boolean {
    this.#renewNs = undefined;
    if (this.#placed === undefined) return this.#ordered === undefined;
    if (this.parts.order.withdraw()) {
      this.#placed = undefined;
      return this.#ordered === undefined;
    }
    return this.take() === undefined;
  }

  /** The decision that was carried out and that no step knows of yet. It stays until `adopted`. */
  take(): Decision | undefined {
    const result = this.#placed && this.parts.order.take();
    if (result && this.#placed) this.#ordered = this.#resultOf(result, this.#placed);
    if (result) this.#placed = undefined;
    return this.#ordered;
  }

  /** The journal and the saved state have the decision. */
  adopted(): void {
    if (this.#ordered === undefined) return;
    this.#ordered = undefined;
    this.#clear();
  }

  /** The loop looks at a wake later, on purpose. */
  postpone(untilNs: bigint): void {
    if (this.#placed) this.parts.order.postpone(untilNs + this.afterNs);
  }

  /** Called after a pass: renews, keeps or withdraws the order. */
  follow(policy: Policy, state: State, pass: OrderedPass): void {
    if (this.#hasLeftover) this.#clear();
    this.#hasLeftover = false;
    const { observations, passNs, hasChanged } = pass;
    const ordered = this.afterNs > 0n && !policy.dryRun && policy.hasWorkloadSource ? orderedThreshold(policy, observations) : undefined;
    if (ordered === undefined || !isNear(ordered) || this.#ordered !== undefined) {
      this.withdraw();
      return;
    }
    const nowNs = process.hrtime.bigint();
    const isDue = hasChanged || this.#renewNs === undefined || nowNs >= this.#renewNs || hasFallen(ordered, this.#before);
    if (!isDue || nowNs < this.#restsUntilNs) {
      if (hasChanged) this.withdraw();
      else if (this.#placed) this.parts.order.seen(passNs);
      if (isDue) this.#renewNs = this.#restsUntilNs;
      return;
    }
    const before = process.cpuUsage();
    const isSettled = this.#renew(policy, state, ordered, pass, nowNs);
    this.#pay(process.cpuUsage(before));
    // The wait for a renewal has to end within the life of the order, however long a renewal takes.
    this.#renewNs = maxBigInt(isSettled ? renewalNs(ordered, this.#before, nowNs) : nowNs + NANO, this.#restsUntilNs);
    this.#before = ordered.observation;
  }

  #pay({ user, system }: NodeJS.CpuUsage): void {
    const nowNs = process.hrtime.bigint();
    const costNs = BigInt(user + system) * 1000n * PART_OF_TIME;
    this.#longestNs = maxBigInt(costNs, this.#paidAtNs > nowNs ? this.#longestNs : 0n);
    this.#paidAtNs = maxBigInt(this.#paidAtNs, nowNs) + costNs;
    this.#restsUntilNs = this.#paidAtNs - (AT_ONCE - 1n) * this.#longestNs;
  }

  close(): void {
    this.withdraw();
    this.parts.order.close();
  }

  /** false: soon once more. No workload is known yet, for some seconds after a start, or one has just become protected. */
  #renew(policy: Policy, state: State, ordered: OrderedThreshold, pass: OrderedPass, nowNs: bigint): boolean {
    const { observations, layout, passNs } = pass;
    const candidates = pass.candidates();
    const hasWorkloads = candidates.usages.length > 0;
    const conditions = this.parts.node.crossing(ordered.threshold);
    const [first] = conditions ?? [];
    const decisions =
      first === undefined || typeof layout === 'object' || state.reclaiming
        ? []
        : standingDecisions(policy, state, ordered, { nowNs, layout, observations, candidates });
    if (decisions.length > 0) this.parts.processes?.expect(decisions.map(({ victim }) => victim.workload));
    if (decisions[0]) this.parts.reporter.prepared(decisions[0]);
    const plan = conditions && first && this.#planOf(ordered, decisions, { conditions, afterNs: this.afterNs, nowNs });
    if (plan === undefined || first === undefined) {
      this.withdraw();
      return hasWorkloads;
    }
    const place = () => this.parts.order.place(plan, passNs);
    let placed = place();
    if (placed === 'carried out' && this.take() === undefined) placed = place(); // the previous one was out of date or refused
    if (placed === 'placed') this.#placed = { decisions, atLeast: first.atLeast, limit: ordered.limit };
    else if (placed !== 'carried out') this.#placed = undefined;
    this.#report(typeof placed === 'object' ? placed.impossible : undefined);
    if (placed === 'placed' && hasForbidden(decisions, candidates)) {
      this.withdraw();
      return false;
    }
    return hasWorkloads; // if one was carried out, the native layer wakes the loop
  }

  #report(impossible: string | undefined): void {
    if (impossible !== undefined && impossible !== this.#impossible) this.parts.reporter.orderFailed('impossible', impossible);
    this.#impossible = impossible;
  }

  /** undefined: there is no decision, or a record is too long. */
  #planOf(
    { limit, observation }: OrderedThreshold,
    decisions: readonly Decision[],
    { conditions, afterNs, nowNs }: Pick<OrderPlan, 'conditions' | 'afterNs'> & { readonly nowNs: bigint },
  ): OrderPlan | undefined {
    const atLeast = conditions[0]?.atLeast ?? 0;
    const candidates = decisions.flatMap((decision) => {
      const { workload, requestNano, stays = 0n } = decision.victim;
      const compared = { atLeast, limit: String(limit), ...(stays > 0n && { stays: Number(stays) }) };
      const record = this.parts.file.bytesOf({ ...this.#recordOf(decision), ...compared });
      return record === undefined ? [] : [{ workload, offset: Number(-(requestNano / NANO) - stays), record }];
    });
    if (candidates.length === 0 || candidates.length < decisions.length) return undefined;
    // At least what the statistics may be wrong by: else any growth would explain a crossing near the threshold.
    const missing = Math.max(Number(observation.available - limit) - SLACK, SLACK);
    const decisionsNs = minBigInt((process.hrtime.bigint() - nowNs) * UNEXPLAINED_DECISIONS, MAX_DECISIONS_NS);
    const unexplainedNs = afterNs * UNEXPLAINED + decisionsNs;
    const times = { settlesNs: SETTLES_NS, afterNs, unexplainedNs, expiresNs: nowNs + ORDER_LIFE_NS };
    return { conditions, missing, slack: SLACK, candidates, ...times };
  }

  #recordOf(decision: Decision): { readonly line: string; readonly state: string } {
    const { serial, decidedAtNs } = decision;
    const prepared: Decision = {
      ...decision,
      standingOrder: { preparedAtNs: decidedAtNs, crossedAtNs: decidedAtNs, signalledAtNs: decidedAtNs },
    };
    const state = { ...initialState, decisions: serial, evictions: [inFlight(prepared)] };
    const record = decisionRecord(prepared, { source: 'standing_order', atNs: decidedAtNs });
    return {
      line: this.parts.journal.line({ ...record, message: standingOrderMessage(prepared) }),
      state: this.parts.keeper.text(state, new Map([[serial, orderedSignals(decidedAtNs, decidedAtNs)]])),
    };
  }

  /** The decision that was carried out; undefined: no process got a signal, which is reported. */
  #resultOf(result: OrderResult, { decisions, atLeast, limit }: Placed): Decision | undefined {
    const { candidate, error, unrecorded, node, value, crossedAtNs, atNs } = result;
    const prepared = candidate === undefined ? undefined : decisions[candidate];
    if (unrecorded !== undefined) this.parts.reporter.orderFailed('unrecorded', unrecorded);
    if (prepared !== undefined && error === undefined) {
      return carriedOut(prepared, {
        available: availableAt(node, atLeast, limit),
        usage: BigInt(Math.round(value)),
        crossedAtNs,
        signalledAtNs: atNs,
      });
    }
    const outcome = prepared === undefined ? 'outdated' : 'refused';
    const record = orderFailedRecord(outcome, prepared, error);
    this.parts.journal.record(record);
    this.parts.reporter.orderFailed(outcome, record.message);
    this.#clear();
    return undefined;
  }

  #clear(): void {
    try {
      this.parts.file.clear();
    } catch (error) {
      this.parts.reporter.orderFailed('unrecorded', String(error));
    }
  }
}
