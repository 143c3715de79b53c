import type { LoadedConfig } from '../../config/config.js';
import { initialState } from '../../core/decide/state.js';
import type { ResourceSignal } from '../../core/signal/signal.js';
import { filesystemsRead, type OpenReading } from '../../node/reading.js';
import { policyOf } from '../../node/configuration-in-force.js';
import { candidatesStatus } from './candidate-status.js';
import { momentNow } from './moment.js';
import { SignalHistory } from './signal-history.js';
import { statusOf } from './status.js';
import type { StatusDocument } from './status-document.js';
import type { UsageGrowth } from './usage-growth.js';

/** The status of a node without an evictd, as `check` and `rank` read it: nothing is remembered, and nothing decided. */
export async function nodeStatus(
  loaded: LoadedConfig,
  signal: ResourceSignal | undefined,
  growth: UsageGrowth,
  open: OpenReading,
): Promise<StatusDocument> {
  const reading = await open(loaded);
  try {
    const { node, workloads } = reading;
    node.arm(loaded.config.thresholds, () => undefined);
    await filesystemsRead(node);
    const observations = node.read();
    const layout = node.layout();
    const policy = policyOf(loaded.config, true);
    const read = { policy, state: initialState, layout: typeof layout === 'string' ? layout : ('single' as const), observations };
    const moment = momentNow();
    const candidates = candidatesStatus(signal, read, workloads.candidates(), growth, moment.nowNs);
    return statusOf(
      {
        ...read,
        node: node.identity,
        candidates,
        stalls: node.stalls?.() ?? [],
        notifiers: [],
        problems: workloads.problems(),
        pauses: [],
        history: new SignalHistory(),
        records: [],
        evictd: undefined,
      },
      moment,
    );
  } finally {
    reading.close();
  }
}
