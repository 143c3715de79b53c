import type { Departures } from '../decide/departures.js';
import { quantityValue } from '../quantity/quantity.js';
import { thresholdKind, valueText, type Threshold, type ThresholdValue } from '../threshold/threshold.js';
import type { Amount, Condition, MetricReference } from '../policy/condition.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { MetricName } from '../policy/metric.js';

/** A workload that a cpuset keeps off some memory nodes of a NUMA machine. */
export interface BoundWorkload {
  readonly path: string;
  /** The only nodes that it may use, ascending. */
  readonly nodes: readonly number[];
  /** The uppermost cgroup above it, or itself, that is known to be bound to the same nodes with all that is in it. */
  readonly boundAt: string;
}

/** Cgroups that a condition reads. */
const MAX_READ = 32;
/** A quarter of the memory in use. If other workloads have filled the nodes, the end of a bound workload does not help for long. */
const QUARTER: Pick<Extract<Amount, { kind: 'share' }>, 'kind' | 'ratio' | 'text'> = { kind: 'share', ratio: 0.25, text: '25%' };

/**
 * Departure memory-nodes: a policy for each set of nodes that workloads are bound to. It holds where the available memory
 * of the nodes is below a hard threshold of memory.available (the same amount, or the share of what the nodes have), and a
 * bound cgroup has at least a quarter of what is in use there. The victim is the first, in the order of evictions for memory,
 * of the workloads that may use no other nodes: what it holds is there.
 */
export function boundPolicies(
  bound: readonly BoundWorkload[],
  departures: Departures,
  thresholds: readonly Threshold[],
): readonly ConfiguredPolicy[] {
  if (!coversMemoryNodes(departures, thresholds)) return [];
  const amounts = amountsIn(thresholds);
  const sets = new Map(bound.map(({ nodes }) => [nodes.join('-'), nodes]));
  return [...sets].map(([name, nodes]): ConfiguredPolicy => {
    const same = bound.filter((workload) => workload.nodes.join('-') === name);
    const read = [...new Set(same.map(({ boundAt }) => boundAt))].sort().slice(0, MAX_READ);
    const within = bound.filter((workload) => workload.nodes.every((node) => nodes.includes(node))).map(({ boundAt }) => boundAt);
    return {
      name: `memory-node-${name}`,
      within: [...new Set(within)].sort(),
      when: anyOf(read.flatMap((path) => amounts.map((amount) => isShort(path, amount)))),
      forNs: 0n,
      cooldownNs: 0n,
      then: [{ kind: 'kill', by: [], unit: 'workload', recursive: false }],
    };
  });
}

/** Whether there would be a policy for each bound workload. */
export function coversMemoryNodes(departures: Departures, thresholds: readonly Threshold[]): boolean {
  return departures['memory-nodes'] && amountsIn(thresholds).length > 0;
}

function amountsIn(thresholds: readonly Threshold[]): readonly Amount[] {
  return thresholds.flatMap((threshold) => {
    const isHard = thresholdKind(threshold) === 'hard' && threshold.also === undefined;
    return isHard && threshold.signal === 'memory.available' ? [amountOf(threshold.value)] : [];
  });
}

function isShort(path: string, amount: Amount): Condition {
  const of = (name: MetricName): MetricReference => ({ name, of: 'cgroup', path });
  const part = { ...QUARTER, of: of('memory.boundNodes.used') };
  return {
    kind: 'and',
    conditions: [
      { kind: 'comparison', metric: of('memory.boundNodes.available'), comparison: '<', amount },
      { kind: 'comparison', metric: of('memory.current'), comparison: '>=', amount: part },
    ],
  };
}

function anyOf(conditions: readonly Condition[]): Condition {
  const [first] = conditions;
  return first !== undefined && conditions.length === 1 ? first : { kind: 'or', conditions };
}

function amountOf(value: ThresholdValue): Amount {
  const text = valueText(value);
  return value.kind === 'quantity'
    ? { kind: 'quantity', value: Number(quantityValue(value.quantity)), text }
    : { kind: 'share', ratio: value.fraction, text };
}
