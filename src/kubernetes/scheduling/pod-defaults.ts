// What the API server adds to a new pod (pkg/apis/core/v1/defaults.go, SetDefaults_Pod, v1.36), as far as it decides where the pod runs.
import { podRequests } from '../../core/scheduling/pod-requests.js';
import { isPodLevelResource } from '../../core/workload/pod-resources.js';
import { documentOf, isAbsent, items, member, members, type Field } from '../document.js';
import { podAmountsAt } from './pod-amounts.js';

/**
 * A new pod as the API server stores it, without a status.
 *
 * @throws DocumentError  with the path of the problem
 */
export function podWithDefaults(pod: Field): Field {
  const [metadata, spec] = [member(pod, 'metadata'), member(pod, 'spec')];
  const usesHostNetwork = member(spec, 'hostNetwork').value === true;
  const containers = (list: string): Record<string, unknown> =>
    isAbsent(member(spec, list)) ? {} : { [list]: items(member(spec, list)).map((each) => containerWithDefaults(each, usesHostNetwork)) };
  const { status: _status, ...rest } = entriesOf(pod);
  const { deletionTimestamp: _deleted, ...own } = entriesOf(metadata);
  const known = { ...rest, metadata: own, spec: { ...entriesOf(spec), ...containers('containers'), ...containers('initContainers') } };
  return documentOf({ ...known, spec: { ...known.spec, ...podLevel(documentOf(known)) } });
}

/** Requests that are not given are the limits; with the host's network a port of a container is one of the node. */
function containerWithDefaults(container: Field, usesHostNetwork: boolean): Readonly<Record<string, unknown>> {
  const [resources, ports] = [member(container, 'resources'), member(container, 'ports')];
  const limits = entriesOf(member(resources, 'limits'));
  return {
    ...entriesOf(container),
    ...(Object.keys(limits).length > 0 && {
      resources: { ...entriesOf(resources), requests: { ...limits, ...entriesOf(member(resources, 'requests')) } },
    }),
    ...(usesHostNetwork && {
      ports: items(ports).map((port) => ({ hostPort: member(port, 'containerPort').value, ...givenOf(port) })),
    }),
  };
}

/** The defaults at pod level: if the pod has limits, its requests are those of its containers, or else the limits. */
function podLevel(pod: Field): Readonly<Record<string, unknown>> {
  const resources = member(member(pod, 'spec'), 'resources');
  const limits = Object.fromEntries(Object.entries(entriesOf(member(resources, 'limits'))).filter(([name]) => isPodLevelResource(name)));
  if (Object.keys(limits).length === 0) return {};
  const ofContainers = [...podRequests(podAmountsAt(pod), { containersOnly: true, withoutOverhead: true })]
    .filter(([name]) => isPodLevelResource(name) && !name.startsWith('hugepages-'))
    .map(([name, { text }]) => [name, text] as const);
  const requests = { ...limits, ...Object.fromEntries(ofContainers), ...entriesOf(member(resources, 'requests')) };
  return { resources: { ...entriesOf(resources), requests } };
}

/** The entries of a map; keys without a value are left out. */
function entriesOf(field: Field): Record<string, unknown> {
  return Object.fromEntries(members(field).flatMap(([name, value]) => (isAbsent(value) ? [] : [[name, value.value]])));
}

/** A port of 0 is none. */
function givenOf(port: Field): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entriesOf(port)).filter(([name, value]) => name !== 'hostPort' || value !== 0));
}
