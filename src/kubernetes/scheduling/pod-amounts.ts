import type { ContainerResources, PodAmounts } from '../../core/scheduling/pod-requests.js';
import { isPodLevelSet, type PodResources } from '../../core/workload/pod-resources.js';
import type { ResourceList } from '../../core/workload/workload.js';
import { isAbsent, items, member, resourceListOf, textOf, type Field } from '../document.js';

export function podAmountsAt(pod: Field): PodAmounts {
  const spec = member(pod, 'spec');
  const status = member(pod, 'status');
  const own = resourcesAt(member(spec, 'resources'));
  const pending = items(member(status, 'conditions')).find((condition) => textOf(member(condition, 'type')) === 'PodResizePending');
  return {
    containers: [
      ...items(member(spec, 'containers')).map((container) => containerAt(container, 'regular')),
      ...items(member(spec, 'initContainers')).map((container) =>
        containerAt(container, textOf(member(container, 'restartPolicy')) === 'Always' ? 'sidecar' : 'init'),
      ),
    ],
    podLevel: isPodLevelSet(own.requests) || isPodLevelSet(own.limits) ? own : undefined,
    overhead: resourceListOf(member(spec, 'overhead')),
    statuses: new Map(['containerStatuses', 'initContainerStatuses'].flatMap((list) => items(member(status, list)).flatMap(reportedAt))),
    resizeInfeasible: pending !== undefined && textOf(member(pending, 'reason')) === 'Infeasible',
  };
}

function containerAt(container: Field, kind: PodResources['containers'][number]['kind']): PodResources['containers'][number] {
  return { name: textOf(member(container, 'name')), kind, ...resourcesAt(member(container, 'resources')) };
}

function resourcesAt(resources: Field): { readonly requests: ResourceList; readonly limits: ResourceList } {
  return { requests: resourceListOf(member(resources, 'requests')), limits: resourceListOf(member(resources, 'limits')) };
}

function reportedAt(container: Field): readonly (readonly [string, ContainerResources])[] {
  const resources = member(container, 'resources');
  if (isAbsent(resources)) return [];
  const allocated = resourceListOf(member(container, 'allocatedResources'));
  return [[textOf(member(container, 'name')), { allocated, actual: resourceListOf(member(resources, 'requests')) }]];
}
