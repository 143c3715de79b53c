/** A resource that the server has. */
export interface Resource {
  readonly name: string;
  readonly kind: string;
  /** '': the core group. */
  readonly group: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
}

export const RESOURCES: readonly Resource[] = [
  { name: 'pods', kind: 'Pod', group: '', namespaced: true, shortNames: ['po'] },
  { name: 'secrets', kind: 'Secret', group: '', namespaced: true },
  { name: 'nodes', kind: 'Node', group: '', namespaced: false, shortNames: ['no'] },
  { name: 'namespaces', kind: 'Namespace', group: '', namespaced: false, shortNames: ['ns'] },
  { name: 'poddisruptionbudgets', kind: 'PodDisruptionBudget', group: 'policy', namespaced: true, shortNames: ['pdb'] },
  { name: 'events', kind: 'Event', group: '', namespaced: true, shortNames: ['ev'] },
  { name: 'events', kind: 'Event', group: 'events.k8s.io', namespaced: true, shortNames: ['ev'] },
  { name: 'leases', kind: 'Lease', group: 'coordination.k8s.io', namespaced: true },
  { name: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview', group: 'authorization.k8s.io', namespaced: false },
];

const SUBRESOURCES: Readonly<Record<string, readonly { name: string; kind: string; group?: string; version?: string }[]>> = {
  pods: [
    { name: 'pods/status', kind: 'Pod' },
    { name: 'pods/eviction', kind: 'Eviction', group: 'policy', version: 'v1' },
  ],
  nodes: [{ name: 'nodes/status', kind: 'Node' }],
};

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

export function apiVersionOf({ group }: Resource): string {
  return group === '' ? 'v1' : `${group}/v1`;
}

/** What kubectl asks first: /version, /api, /apis, /api/v1, /apis/GROUP/v1. */
export function discovery(path: string): unknown {
  const groups = [...new Set(RESOURCES.map(({ group }) => group))];
  if (path === '/version') return { major: '1', minor: '36', gitVersion: 'v1.36.2', platform: 'linux/amd64' };
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  if (path === '/apis') {
    const versionOf = (group: string) => ({ groupVersion: `${group}/v1`, version: 'v1' });
    const listed = groups.filter((group) => group !== '');
    return {
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: listed.map((name) => ({ name, versions: [versionOf(name)], preferredVersion: versionOf(name) })),
    };
  }
  const group = groups.find((each) => path === (each === '' ? '/api/v1' : `/apis/${each}/v1`));
  if (group === undefined) return undefined;
  const own = RESOURCES.filter((resource) => resource.group === group);
  const resources = own.flatMap(({ name, kind, namespaced, shortNames }) => [
    { name, singularName: '', namespaced, kind, verbs: VERBS, ...(shortNames && { shortNames }) },
    ...(SUBRESOURCES[name] ?? []).map((below) => ({ singularName: '', namespaced, verbs: VERBS, ...below })),
  ]);
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: group === '' ? 'v1' : `${group}/v1`, resources };
}
