import type { Policy, State } from '../../core/decide/state.js';
import { askedOnce, budgetStatuses, disruptable, type NamedBudgetStatus } from '../../core/disruption/disruption-budget.js';
import { rankedSignal, type RankingState } from '../../core/rank/current-ranking.js';
import type { Observations } from '../../core/signal/observation.js';
import { UnavailableError, UsageError } from '../../errors.js';
import type { ApiAnswer, ApiRequest } from '../../http/route.js';
import { signalParameter } from '../../http/signal-parameter.js';
import type { LinuxNode } from '../../host/select.js';
import type { Status } from '../../metrics/status.js';
import type { StepListener, StepReport, WorkloadSource } from '../../monitor/ports/ports.js';
import type { Journal } from '../../journal/journal.js';
import { momentNow } from './moment.js';
import { SignalHistory } from './signal-history.js';
import * as deferred from './status.js';
import * as ranking from './candidate-status.js';
import type { CandidatesStatus, DecisionsDocument, EvictdStatus, JournalRecord, RankingDocument } from './status-document.js';
import { CANDIDATE_ORDERS, type CandidateOrder } from './candidate-order.js';
import { UsageGrowth } from './usage-growth.js';

/** Follows the steps, so that a client can see the state of evictd. At rest it keeps a reference and some numbers a tick. */
export class StepView implements StepListener {
  readonly history = new SignalHistory();
  #last: Pick<StepReport, 'policy' | 'state'> | undefined;

  stepped({ policy, state, observations, input: { nowNs } }: StepReport): void {
    this.#last = { policy, state };
    if (observations !== undefined) this.history.add(nowNs, observations);
  }

  skipped(nowNs: bigint, observations: Observations | undefined): boolean {
    if (observations !== undefined) this.history.add(nowNs, observations);
    return true;
  }

  /** undefined: there was no step yet. */
  get last(): { readonly policy: Policy; readonly state: State } | undefined {
    return this.#last;
  }

  close(): void {
    this.#last = undefined;
  }
}

export interface RunningParts {
  readonly view: StepView;
  readonly node: LinuxNode;
  readonly status: Status;
  readonly workloads: WorkloadSource;
  readonly journal: Pick<Journal, 'recent'>;
  readonly evictd: () => EvictdStatus;
}

/** A ranking, and a count of healthy workloads, is given again for this long, … */
const FRESH_NS = 200_000_000n;
/** … and for this many times the time that it took, so that clients never take more than a twentieth of a processor. */
const PAUSE_FACTOR = 20n;

/** What a running evictd sees and does, for the API. */
export class RunningStatus {
  readonly #growth = new UsageGrowth();
  /** The growth of all workloads, for the other orders. */
  readonly #growthOfAll = new UsageGrowth();
  #budgets: { readonly statuses: readonly NamedBudgetStatus[]; readonly untilNs: bigint } | undefined;
  /** Ranked candidates by signal and order. */
  readonly #ranked = new Map<string, { readonly candidates: CandidatesStatus; readonly untilNs: bigint }>();

  constructor(private readonly parts: RunningParts) {}

  /** GET /api/v1/status */
  readonly answer = ({ query }: Pick<ApiRequest, 'query'>): ApiAnswer => {
    const { view, node, status, journal, evictd } = this.parts;
    const read = this.standing();
    const parts = {
      ...read,
      node: node.identity,
      candidates: this.#candidates(query, read),
      stalls: status.stalls,
      notifiers: status.notifierStates,
      problems: status.sourceProblems,
      pauses: status.pauses,
      taintEvictions: status.taintEvictions,
      disruptionBudgets: this.budgets(),
      kubernetes: status.kubernetes(),
      history: view.history,
      records: journal.recent,
      evictd: evictd(),
    };
    return { json: deferred.statusOf(parts, momentNow()) };
  };

  /** GET /api/v1/ranking */
  readonly ranking = ({ query }: Pick<ApiRequest, 'query'>): ApiAnswer => ({
    json: {
      apiVersion: 'v1',
      time: new Date().toISOString(),
      candidates: this.#candidates(query, this.standing()),
    } satisfies RankingDocument,
  });

  /** GET /api/v1/decisions */
  readonly decisions = (): ApiAnswer => {
    const records = this.parts.journal.recent.map((line) => JSON.parse(line) as JournalRecord).reverse();
    return { json: { apiVersion: 'v1', time: new Date().toISOString(), records } satisfies DecisionsDocument };
  };

  /** What the last step left, and the newest reading. @throws UnavailableError  there was no step yet */
  standing(): RankingState {
    const { view, node, status } = this.parts;
    if (view.last === undefined) throw new UnavailableError('EVICTD_API_STARTING', 'evictd has not read the node yet');
    status.renew();
    const { policy, state } = view.last;
    const layout = node.layout();
    return { policy, state, layout: typeof layout === 'string' ? layout : (state.layout ?? 'single'), observations: status.observations };
  }

  /** What each disruption budget permits. Empty before the first step. */
  readonly budgets = (): readonly NamedBudgetStatus[] => {
    const { policy: { disruptionBudgets = [] } = {}, state } = this.parts.view.last ?? {};
    if (state === undefined || disruptionBudgets.length === 0) return [];
    const beganNs = process.hrtime.bigint();
    if (this.#budgets && beganNs < this.#budgets.untilNs) return this.#budgets.statuses;
    const found = askedOnce(this.parts.workloads.candidates('bounds'));
    const statuses = budgetStatuses(disruptionBudgets, disruptable(found, state, beganNs));
    this.#budgets = { statuses, untilNs: freshUntilNs(beganNs) };
    return statuses;
  };

  #candidates(query: URLSearchParams, read: RankingState): CandidatesStatus {
    const asked = { signal: signalParameter(query), order: orderParameter(query) };
    const beganNs = process.hrtime.bigint();
    const key = `${rankedSignal(read.state, asked.signal)} ${asked.order ?? ''}`;
    for (const [each, { untilNs }] of this.#ranked) if (untilNs <= beganNs) this.#ranked.delete(each);
    const last = this.#ranked.get(key);
    if (last !== undefined) return last.candidates;
    const found = this.parts.workloads.candidates(asked.order === undefined ? 'bounds' : undefined);
    const candidates = ranking.candidatesStatus(asked, read, found, asked.order === undefined ? this.#growth : this.#growthOfAll, beganNs);
    this.#ranked.set(key, { candidates, untilNs: freshUntilNs(beganNs, this.#ranked.size + 1) });
    return candidates;
  }
}

/** @param answers  that clients ask for in turn */
function freshUntilNs(beganNs: bigint, answers = 1): bigint {
  const endedNs = process.hrtime.bigint();
  const pauseNs = (endedNs - beganNs) * PAUSE_FACTOR * BigInt(answers);
  return endedNs + (pauseNs > FRESH_NS ? pauseNs : FRESH_NS);
}

/** `?order=`; undefined: none is given. @throws UsageError  there is no such order */
export function orderParameter(query: URLSearchParams): CandidateOrder | undefined {
  const text = query.get('order') ?? '';
  const order = CANDIDATE_ORDERS.find((each) => each === text);
  if (text === '' || order !== undefined) return order;
  throw new UsageError('EVICTD_API_ORDER', `candidates cannot be sorted by ${text}`, { hint: `use one of ${CANDIDATE_ORDERS.join(', ')}` });
}
