import type { LabelSelector } from '../../../src/core/scheduling/label-selector.js';
import { Cluster } from '../../../src/core/scheduling/cluster/cluster.js';
import { DEFAULT_SCHEDULER } from '../../../src/core/scheduling/scheduler-profile.js';
import type { SchedulerNode } from '../../../src/core/scheduling/scheduler-node.js';
import type { PodAffinityTerm, SchedulerPod, SpreadConstraint } from '../../../src/core/scheduling/scheduler-pod.js';
import { fc } from '../../support/property.js';

export const ZONE = 'topology.kubernetes.io/zone';
export const HOST = 'kubernetes.io/hostname';

export const NO_AFFINITY = { required: [], preferred: [] };

export function podOf(name: string, changes: Partial<SchedulerPod> = {}): SchedulerPod {
  const requests = changes.requests ?? new Map([['cpu', 100n]]);
  return {
    ...{ name, namespace: 'shop', uid: name, labels: new Map(), nodeName: '', nominatedNodeName: '', priority: 0 },
    schedulerName: DEFAULT_SCHEDULER,
    ...{ preemptionPolicy: 'PreemptLowerPriority', schedulingGates: [], terminating: false, preempted: false, startNs: 0n },
    ...{ controller: undefined, tolerations: [], requiredNodeAffinity: { labels: new Map(), terms: undefined }, preferredNodeTerms: [] },
    ...{
      podAffinity: NO_AFFINITY,
      podAntiAffinity: NO_AFFINITY,
      spreadConstraints: [],
      hostPorts: [],
      requiredFeatures: [],
      images: ['web:1'],
    },
    ...{ requests, nonZeroRequests: requests, scoredRequests: requests, resourceClaims: [], volumes: [] },
    ...changes,
  };
}

export function nodeOf(name: string, changes: Partial<SchedulerNode> = {}): SchedulerNode {
  return {
    ...{ name, labels: new Map([[HOST, name]]), taints: [], unschedulable: false, declaredFeatures: new Set(), images: new Map() },
    allocatable: new Map([
      ['cpu', 1000n],
      ['pods', 110n],
    ]),
    ...changes,
  };
}

export function selectorOf(key: string, operator: string, ...values: readonly string[]): LabelSelector {
  return { requirements: [{ key, operator, values }] };
}

const someSelector = fc.constantFrom<LabelSelector | undefined>(
  undefined,
  { requirements: [] },
  selectorOf('app', 'In', 'web'),
  selectorOf('app', 'NotIn', 'web'),
  selectorOf('app', 'Exists'),
);

const someTerm: fc.Arbitrary<PodAffinityTerm> = fc.record({
  selector: someSelector,
  namespaces: fc.subarray(['shop', 'bank']),
  namespaceSelector: fc.constantFrom<LabelSelector | undefined>(undefined, { requirements: [] }, selectorOf('team', 'In', 'blue')),
  topologyKey: fc.constantFrom(ZONE, HOST),
});

const someAffinity = fc.record({
  required: fc.array(someTerm, { maxLength: 2 }),
  preferred: fc.array(
    fc.tuple(someTerm, fc.integer({ min: 1, max: 100 })).map(([term, weight]) => ({ ...term, weight })),
    { maxLength: 2 },
  ),
});

const someConstraint: fc.Arbitrary<SpreadConstraint> = fc.record({
  topologyKey: fc.constantFrom(ZONE, HOST),
  maxSkew: fc.integer({ min: 1, max: 2 }),
  whenUnsatisfiable: fc.constantFrom('DoNotSchedule', 'ScheduleAnyway'),
  minDomains: fc.integer({ min: 1, max: 3 }),
  selector: someSelector,
  honorsAffinity: fc.boolean(),
  honorsTaints: fc.boolean(),
});

/** @param related  how many of the pods have affinity, of five */
export function somePod(related = 2): fc.Arbitrary<SchedulerPod> {
  const seldom = <T>(value: fc.Arbitrary<T>, otherwise: T): fc.Arbitrary<T> =>
    fc.oneof({ arbitrary: value, weight: related }, { arbitrary: fc.constant(otherwise), weight: 5 - related });
  return fc
    .record({
      namespace: fc.constantFrom('shop', 'bank'),
      labels: fc.constantFrom(new Map<string, string>(), new Map([['app', 'web']]), new Map([['app', 'db']])),
      nodeName: fc.constantFrom('n0', 'n1', 'n2', 'n3'),
      priority: fc.integer({ min: 0, max: 3 }),
      terminating: fc.boolean(),
      podAffinity: seldom(someAffinity, NO_AFFINITY),
      podAntiAffinity: seldom(someAffinity, NO_AFFINITY),
      spreadConstraints: seldom(fc.array(someConstraint, { maxLength: 2 }), []),
      requests: fc.constantFrom(new Map([['cpu', 100n]]), new Map([['cpu', 300n]]), new Map<string, bigint>()),
      requiredNodeAffinity: fc.constantFrom(
        { labels: new Map<string, string>(), terms: undefined },
        { labels: new Map([[ZONE, 'a']]), terms: undefined },
      ),
    })
    .map((changes) => podOf('pod', changes));
}

const NODES: readonly SchedulerNode[] = [
  ...['a', 'a', 'b'].map((zone, index) => {
    const name = `n${String(index)}`;
    return nodeOf(name, {
      labels: new Map([
        [HOST, name],
        [ZONE, zone],
      ]),
    });
  }),
  nodeOf('n3', { taints: [{ key: 'dedicated', value: '', effect: 'NoSchedule' }] }),
];

/** Four nodes in two zones, one in none and with a taint. */
export function clusterOf(pods: readonly SchedulerPod[], nodes: readonly SchedulerNode[] = NODES): Cluster {
  const namespaces = new Map([
    ['shop', new Map([['team', 'blue']])],
    ['bank', new Map<string, string>()],
  ]);
  return new Cluster({ nodes, pods, namespaces });
}
