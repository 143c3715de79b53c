import * as z from 'zod/mini';
import { parsed } from '../../config/value/scalar.js';
import { endpointText } from '../../config/value/value-text.js';
import type { SourceKind } from './source-kind.js';

export interface CriSpec {
  /** 'unix:///run/containerd/containerd.sock'. */
  readonly endpoint: string;
}

const EXAMPLE = 'unix:///run/containerd/containerd.sock';

/** Every pod with a cgroup of its own is a workload; of other pods every container. */
export const criSource: SourceKind<'cri', CriSpec> = {
  kind: 'cri',
  os: 'linux',
  schema: z.strictObject({ endpoint: parsed(endpointText) }),
  descriptions: {
    '': 'Pods of a container runtime are workloads.',
    endpoint: 'Socket of the runtime, e.g. unix:///run/containerd/containerd.sock.',
  },
  example: 'a runtime (cri: { endpoint: … })',
  missing: { endpoint: `endpoint: ${EXAMPLE}` },
  mapHint: (text = EXAMPLE) => `{ endpoint: ${text} }`,
  entryHint: (text) => (/^unix:|\.sock$/.test(text) ? `{ cri: { endpoint: ${text} } }` : undefined),
  text: ({ endpoint }) => `cri ${endpoint}`,
  names: ({ endpoint }) => [{ name: endpoint, path: ['endpoint'] }],
  found: { in: 'cgroups', select: ({ endpoint }) => ({ endpoints: [endpoint] }) },
};
