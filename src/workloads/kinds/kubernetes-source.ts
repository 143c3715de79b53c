import type { SourceKind } from './source-kind.js';

const PODS = 'pods of the API server';

/** The pods of this node that an API server has reported. The key `kubernetes` of the configuration implies it. */
export const kubernetesSource: SourceKind<'kubernetes', true> = {
  kind: 'kubernetes',
  os: 'linux',
  schema: undefined,
  descriptions: {},
  example: 'pods of a cluster (the key kubernetes)',
  text: () => PODS,
  names: () => [{ name: PODS, path: [] }],
  found: { in: 'cgroups', select: () => ({ apiServer: true }) },
};
