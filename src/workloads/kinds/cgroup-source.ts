import { parsed } from '../../config/value/scalar.js';
import { cgroupText } from '../../config/value/value-text.js';
import { normalCgroupPath } from '../../core/workload/cgroup.js';
import type { SourceKind } from './source-kind.js';

/** A path below the mount of the memory controller ('/workload.slice'); every child is a workload. */
export const cgroupSource: SourceKind<'cgroup', string> = {
  kind: 'cgroup',
  os: 'linux',
  schema: parsed(cgroupText),
  descriptions: { '': 'Each child of this cgroup is a workload.' },
  example: 'a cgroup (cgroup: /workload.slice)',
  entryHint: (text) => (text.startsWith('/') && !text.endsWith('.sock') ? `{ cgroup: ${text} }` : undefined),
  text: (path) => path,
  names: (path) => [{ name: path, path: [] }],
  wholeMachine: { '/': { what: 'top-level cgroup', hint: 'name a slice, like /workload.slice' } },
  found: { in: 'cgroups', select: (path) => ({ parents: [normalCgroupPath(path)] }) },
};
