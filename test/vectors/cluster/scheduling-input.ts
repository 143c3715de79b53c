// What a scheduler vector gives, as the program's types.
import { Cluster } from '../../../src/core/scheduling/cluster/cluster.js';
import { Placement } from '../../../src/core/scheduling/placement.js';
import { items, member, type Field } from '../../../src/kubernetes/document.js';
import { namespaceAt, ownerAt, serviceAt } from '../../../src/kubernetes/scheduling/cluster-objects.js';
import { schedulerNodeAt } from '../../../src/kubernetes/scheduling/scheduler-node.js';
import { schedulerPodAt } from '../../../src/kubernetes/scheduling/scheduler-pod.js';
import { schedulerProfileAt } from '../../../src/kubernetes/scheduling/scheduler-profile.js';

export function placementAt(input: Field): Placement {
  const list = (name: string): readonly Field[] => items(member(input, name));
  const cluster = new Cluster({
    nodes: list('nodes').map(schedulerNodeAt),
    pods: list('pods').map(schedulerPodAt),
    namespaces: new Map(list('namespaces').map(namespaceAt)),
    services: list('services').map(serviceAt),
    owners: [
      ...list('replicationControllers').map((owner) => ownerAt(owner, 'ReplicationController')),
      ...list('replicaSets').map((owner) => ownerAt(owner, 'ReplicaSet')),
      ...list('statefulSets').map((owner) => ownerAt(owner, 'StatefulSet')),
    ],
  });
  return new Placement(schedulerPodAt(member(input, 'pod')), cluster, schedulerProfileAt(input));
}
