import type { KeyPath } from '../value/report.js';
import { STEP_KINDS } from './ladder-steps.js';

const MISSING: Readonly<Record<string, string>> = {
  name: 'name: protect-interactive',
  when: 'when: memory.available < 10%',
  then: 'then: [notify, kill]',
  cgroup: 'cgroup: /user.slice/**',
  command: 'command: [/usr/local/bin/drop-caches, --all]',
  memory: 'memory: 200Mi',
  by: 'by: [size], or leave by out: the order of evictions decides',
};

/** What to write for a key that is missing in an entry of `policies`; undefined: the path is elsewhere. */
export function missingInPolicy(path: KeyPath): string | undefined {
  if (path[0] !== 'policies') return undefined;
  const key = path.at(-1);
  return typeof key === 'string' ? MISSING[key] : `write one of ${STEP_KINDS.join(', ')}`;
}

/** What to write where an entry of `policies` needs a map; undefined: the path is elsewhere. */
export function mapInPolicy(name: string): string | undefined {
  const [, below = ''] = /^policies\[\d+\](.*)$/.exec(name) ?? [];
  if (/\.then\[\d+\]\.run$/.test(below)) return 'write a list: run: [/usr/local/bin/drop-caches, --all]';
  if (/\.then\[\d+\]$/.test(below)) return 'write a step: notify, or reclaim: {memory: 200Mi}';
  if (below === '.hooks') return 'write {preEvict: [/usr/local/bin/save-heap, --all]}';
  if (below === '.scope') return 'write {cgroup: /user.slice/**}';
  return name.startsWith('policies[') && below === ''
    ? `write {${MISSING.name ?? ''}, ${MISSING.when ?? ''}, ${MISSING.then ?? ''}}`
    : undefined;
}
