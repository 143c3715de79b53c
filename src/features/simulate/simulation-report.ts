import type { ExplainedNode } from '../../core/simulation/explanation.js';
import type { NodeUse, Outcome } from '../../core/simulation/outcome.js';
import type { TimelineEvent } from '../../core/simulation/timeline-event.js';
import type { DumpedCluster } from '../kubernetes/cluster/cluster-dump.js';
import type { SimulateOptions } from './written-command.js';

/** All that the outputs show. */
export interface SimulationReport {
  readonly cluster: DumpedCluster;
  readonly options: Pick<SimulateOptions, 'scores' | 'startTime'>;
  /** The use of the nodes, in their order. */
  readonly before: readonly NodeUse[];
  readonly after: readonly NodeUse[];
  readonly events: readonly TimelineEvent[];
  readonly outcome: Outcome;
  /** Left out: not asked for. */
  readonly explained?: { readonly pod: string; readonly nodes: readonly ExplainedNode[] };
}
