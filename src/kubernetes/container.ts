import type { Container } from '../core/workload.js';
import { items, member, resourceListOf, textOf, type Field } from './document.js';

/** The containers of a pod: regular ones, then init containers and sidecars in the order in which they start. Ephemeral ones do not count. */
export function containersOf(spec: Field): Container[] {
  return [
    ...items(member(spec, 'containers')).map((container) => containerOf(container, 'regular')),
    // On a regular container restartPolicy means nothing here.
    ...items(member(spec, 'initContainers')).map((container) =>
      containerOf(container, textOf(member(container, 'restartPolicy')) === 'Always' ? 'sidecar' : 'init'),
    ),
  ];
}

function containerOf(container: Field, kind: Container['kind']): Container {
  const resources = member(container, 'resources');
  return {
    name: textOf(member(container, 'name')),
    kind,
    requests: resourceListOf(member(resources, 'requests')),
    limits: resourceListOf(member(resources, 'limits')),
  };
}
