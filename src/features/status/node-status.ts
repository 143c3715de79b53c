import type { LoadedConfig } from '../../config/config.js';
import { initialState } from '../../core/decide/state.js';
import { askedOnce, budgetStatuses, disruptable } from '../../core/disruption/disruption-budget.js';
import { filesystemsRead, type OpenReading } from '../../node/reading.js';
import { policyOf } from '../../node/configuration-in-force.js';
import type { AskedRanking } from './candidate-order.js';
import { candidatesStatus } from './candidate-status.js';
import { momentNow } from './moment.js';
import { SignalHistory } from './signal-history.js';
import { statusOf } from './status.js';
import type { StatusDocument } from './status-document.js';
import { UsageGrowth } from './usage-growth.js';

/** The status of a node without an evictd, as `check` and `rank` read it. Only growth and history are remembered. */
export class NodeStatus {
  readonly #growth = new UsageGrowth();
  readonly #history = new SignalHistory();

  constructor(
    private readonly loaded: LoadedConfig,
    private readonly open: OpenReading,
  ) {}

  async read(asked: AskedRanking): Promise<StatusDocument> {
    const reading = await this.open(this.loaded);
    try {
      const { node, workloads } = reading;
      const { config } = this.loaded;
      node.arm(config.thresholds, () => undefined);
      await filesystemsRead(node);
      const observations = node.read();
      const layout = node.layout();
      const policy = policyOf(config, true);
      const read = { policy, state: initialState, layout: typeof layout === 'string' ? layout : ('single' as const), observations };
      const moment = momentNow();
      const found = askedOnce(workloads.candidates());
      this.#history.add(moment.nowNs, observations);
      return statusOf(
        {
          ...read,
          node: node.identity,
          candidates: candidatesStatus(asked, read, found, this.#growth, moment.nowNs),
          disruptionBudgets: budgetStatuses(policy.disruptionBudgets ?? [], disruptable(found, initialState, moment.nowNs)),
          stalls: node.stalls?.() ?? [],
          notifiers: [],
          problems: workloads.problems(),
          pauses: [],
          taintEvictions: [],
          kubernetes: undefined,
          history: this.#history,
          records: [],
          evictd: undefined,
        },
        moment,
      );
    } finally {
      reading.close();
    }
  }
}
