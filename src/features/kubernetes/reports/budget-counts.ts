import { budgetsPath, violatedBudgets } from '../../../core/kubernetes/violated-budgets.js';
import type { Workload } from '../../../core/workload/workload.js';
import type { Metrics } from '../../../monitor/ports/metrics.js';
import { WITHIN_MS, type Ask } from './report-ports.js';

type Pod = NonNullable<Workload['kubernetes']>;

/** As many as there may be pending deletions. */
const MAX_OWED = 256;

/**
 * Counts the budgets that evictions by node pressure violate. They are listed right after the signal, because the end of the pod
 * changes them. While the API server is away its budgets stay as they were, and are counted when it is back. A restart forgets that.
 */
export class BudgetCounts {
  readonly #owed = new Set<Pod>();

  constructor(
    private readonly ask: Ask,
    private readonly metrics: Pick<Metrics, 'budgetViolated'>,
  ) {}

  /** Never rejects. */
  async count(pod: Pod): Promise<void> {
    const answer = await this.ask({ method: 'GET', path: budgetsPath(pod.namespace), withinMs: WITHIN_MS }).catch(() => undefined);
    const isAway = answer === undefined || answer.status === TOO_MANY || answer.status >= ERRORS;
    if (isAway && this.#owed.size < MAX_OWED) this.#owed.add(pod);
    if (answer?.status !== OK) return;
    try {
      for (const budget of violatedBudgets(answer.body, pod.labels)) this.metrics.budgetViolated(budget);
    } catch {
      // an answer that cannot be read: nothing is counted
    }
  }

  /** @param isPending  the pod is still to be deleted, which will change its budgets. Others are not counted any more */
  serverIsBack(isPending: (uid: string) => boolean): void {
    const owed = [...this.#owed].filter(({ uid }) => isPending(uid));
    this.#owed.clear();
    for (const pod of owed) void this.count(pod);
  }

  close(): void {
    this.#owed.clear();
  }
}

const OK = 200;
const TOO_MANY = 429;
const ERRORS = 500;
