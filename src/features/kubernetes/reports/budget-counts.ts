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

  /** @param pods  of one namespace. Never rejects. */
  async count(namespace: string, pods: readonly Pod[]): Promise<void> {
    const answer = await this.ask({ method: 'GET', path: budgetsPath(namespace), withinMs: WITHIN_MS }).catch(() => undefined);
    const isAway = answer === undefined || answer.status === TOO_MANY || answer.status >= ERRORS;
    if (isAway) for (const pod of pods.slice(0, MAX_OWED - this.#owed.size)) this.#owed.add(pod);
    if (answer?.status !== OK) return;
    try {
      for (const { labels } of pods) for (const budget of violatedBudgets(answer.body, labels)) this.metrics.budgetViolated(budget);
    } catch {
      // an answer that cannot be read: nothing is counted
    }
  }

  /**
   * Resolves when what is owed is counted, or after WITHIN_MS.
   *
   * @param isPending  the pod is still to be deleted, which will change its budgets. Others are not counted any more
   */
  async serverIsBack(isPending: (uid: string) => boolean): Promise<void> {
    const owed = [...this.#owed].filter(({ uid }) => isPending(uid));
    this.#owed.clear();
    const namespaces = new Set(owed.map(({ namespace }) => namespace));
    await Promise.all(
      [...namespaces].map((name) =>
        this.count(
          name,
          owed.filter(({ namespace }) => namespace === name),
        ),
      ),
    );
  }

  close(): void {
    this.#owed.clear();
  }
}

const OK = 200;
const TOO_MANY = 429;
const ERRORS = 500;
