import type { PodAmounts, ReportedResources } from '../../core/scheduling/pod-requests.js';
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
    statuses: new Map(
      ['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
        items(member(status, list)).flatMap((container) => {
          const reported = reportedAt(container);
          return reported === undefined ? [] : [[textOf(member(container, 'name')), reported] as const];
        }),
      ),
    ),
    podStatus: reportedAt(status),
    resizeInfeasible: pending !== undefined && textOf(member(pending, 'reason')) === 'Infeasible',
  };
}

function containerAt(container: Field, kind: PodResources['containers'][number]['kind']): PodResources['containers'][number] {
  return { name: textOf(member(container, 'name')), kind, ...resourcesAt(member(container, 'resources')) };
}

function resourcesAt(resources: Field): { readonly requests: ResourceList; readonly limits: ResourceList } {
  return { requests: resourceListOf(member(resources, 'requests')), limits: resourceListOf(member(resources, 'limits')) };
}

/** @param status  of a container or the pod */
function reportedAt(status: Field): ReportedResources | undefined {
  const resources = member(status, 'resources');
  if (isAbsent(resources)) return undefined;
  return { allocated: resourceListOf(member(status, 'allocatedResources')), actual: resourceListOf(member(resources, 'requests')) };
}
