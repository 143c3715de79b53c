import { loadKubelet } from '../../../src/config/load.js';
import type { PodOwner } from '../../../src/core/scheduling/cluster/default-selector.js';
import { DEFAULT_PROFILES } from '../../../src/core/scheduling/scheduler-profile.js';
import { Simulation } from '../../../src/core/simulation/simulation.js';
import type { TimelineEvent } from '../../../src/core/simulation/timeline-event.js';
import { ClusterDump, type DumpedCluster } from '../../../src/features/kubernetes/cluster/cluster-dump.js';
import { documentOf } from '../../../src/kubernetes/document.js';
import type { ApiObject } from '../../support/cluster/generated-cluster.js';

const NS_PER_SECOND = 1_000_000_000n;

export function node(name: string, { cpu = '4', memory = '8Gi', ...labels }: Readonly<Record<string, string>> = {}): ApiObject {
  const amounts = { cpu, memory, pods: '10' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    status: { capacity: amounts, allocatable: amounts },
  };
}

/** A pod that runs, with a ReplicaSet of the name before the last dash. `owner` '': none. */
export function pod(
  name: string,
  nodeName: string,
  { cpu = '1', memory = '1Gi', owner = 'ReplicaSet', ...spec }: Readonly<Record<string, unknown>> = {},
): ApiObject {
  const app = name.replace(/-[^-]*$/, '');
  const ownerReferences = owner === '' ? [] : [{ apiVersion: 'apps/v1', kind: owner, name: app, controller: true }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', uid: name, labels: { app }, ownerReferences },
    spec: { nodeName, containers: [{ name: 'app', resources: { requests: { cpu, memory } } }], ...spec },
    status: nodeName === '' ? { phase: 'Pending' } : { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

export function budget(app: string, currentHealthy: number, desiredHealthy: number): ApiObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: 'shop' },
    spec: { selector: { matchLabels: { app } } },
    status: { currentHealthy, desiredHealthy, disruptionsAllowed: Math.max(0, currentHealthy - desiredHealthy) },
  };
}

export function dumped(objects: Iterable<ApiObject>): DumpedCluster {
  const dump = new ClusterDump();
  let line = 0;
  for (const object of objects) {
    line += 1;
    const { kind, apiVersion } = object as { readonly kind: string; readonly apiVersion: string };
    dump.take({ kind, apiVersion, object: documentOf(object), at: { file: 'dump', line, column: 1 } });
  }
  return dump.cluster();
}

export function simulationOf(objects: Iterable<ApiObject>, kubeletFile?: string, owners: readonly PodOwner[] = []): Simulation {
  const { content } = dumped(objects);
  return new Simulation({
    content: { ...content, owners: [...(content.owners ?? []), ...owners] },
    settings: { startTimeNs: 20n * NS_PER_SECOND, nowNs: 0n },
    profiles: DEFAULT_PROFILES,
    kubelet: loadKubelet({ file: kubeletFile }).config,
    horizonNs: 3600n * NS_PER_SECOND,
  });
}

/** '0 evicted shop/a-1 node-1': what happened, a line each, without what says only that something goes on. */
export function told(events: readonly TimelineEvent[]): readonly string[] {
  return events.flatMap((event) => {
    const at = String(event.atNs / NS_PER_SECOND);
    switch (event.kind) {
      case 'action':
      case 'ready':
        return [];
      case 'node':
        return [`${at} ${event.node}: ${event.what}`];
      case 'refused': {
        const until = event.untilNs === undefined ? 'for good' : `until ${String(event.untilNs / NS_PER_SECOND)}`;
        return [`${at} refused ${event.pod} ${until}`];
      }
      case 'pending':
        return [`${at} pending ${event.pod}${event.nominated === undefined ? '' : ` for ${event.nominated}`}: ${event.message}`];
      case 'lost':
        return [`${at} lost ${event.pod}`];
      case 'stays':
        return [`${at} stays ${event.pod}`];
      case 'evicted':
      case 'scheduled':
        return [`${at} ${event.kind} ${event.pod} ${event.node}`];
    }
  });
}
