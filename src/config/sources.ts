import type { WorkloadSourceSpec } from '../core/workload-source.js';
import type { ListItem } from './layered.js';
import type { Report } from './report.js';

/** A name in a source, and where it stands in its entry. */
interface Named {
  readonly name: string;
  readonly path: readonly (string | number)[];
}

/** Two files may well name the same source; its workloads are still there once. An entry of which every name was there before is dropped. */
export function distinctSources(items: readonly ListItem<WorkloadSourceSpec>[], report: Report): readonly ListItem<WorkloadSourceSpec>[] {
  const seen = new Set<string>();
  return items.filter(({ value, layer, path }) => {
    const fresh = namesIn(value).filter((named) => {
      const position = layer.at([...path, ...named.path]);
      if (seen.has(named.name)) {
        report.notice('warn', 'EVICTD_CONFIG_WORKLOADS_TWICE', `workloads: ${named.name} is named twice`, { position });
        return false;
      }
      seen.add(named.name);
      const root = ROOTS.get(named.name);
      if (root !== undefined) {
        const message = `workloads: ${named.name} makes every ${root.what} a candidate`;
        report.notice('warn', 'EVICTD_CONFIG_WORKLOADS_ROOT', message, { hint: root.hint, position });
      }
      return true;
    });
    return fresh.length > 0;
  });
}

function namesIn(source: WorkloadSourceSpec): readonly Named[] {
  if ('cgroup' in source) return [{ name: source.cgroup, path: ['cgroup'] }];
  if ('cri' in source) return [{ name: source.cri.endpoint, path: ['cri', 'endpoint'] }];
  if ('job' in source) return [{ name: `job ${source.job}`, path: ['job'] }];
  if ('service' in source) return [{ name: `service ${source.service}`, path: ['service'] }];
  if ('process' in source) return [{ name: `process ${source.process.path}`, path: ['process', 'path'] }];
  return (['slices', 'units'] as const).flatMap((key) =>
    source.systemd[key].map((name, index) => ({ name, path: ['systemd', key, index] })),
  );
}

/** What takes in the whole machine. */
const ROOTS: ReadonlyMap<string, { readonly what: string; readonly hint: string }> = new Map([
  ['/', { what: 'top-level cgroup', hint: 'name a slice, like /workload.slice' }],
  ['-.slice', { what: 'service of the machine that is not protected', hint: 'name a slice of your own, like batch.slice' }],
  ['*.service', { what: 'service of the machine that is not protected', hint: 'name them, or a slice of your own' }],
  ['service *', { what: 'service of the machine that is not protected', hint: 'name them' }],
  ['process **', { what: 'process of the machine that is not protected', hint: 'name programs, like C:\\Apps\\**' }],
  ['*.scope', { what: 'scope of the machine, logins and containers too,', hint: 'name them, or a slice of your own' }],
]);
