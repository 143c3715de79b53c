import * as z from 'zod/mini';
import { isWorkloadSource, kindOf, type WorkloadSourceSpec } from '../../workloads/kinds/source-spec.js';
import { SOURCES } from '../../workloads/kinds/sources.js';
import type { ListItem } from '../value/document.js';
import type { Report } from '../value/report.js';
import { refuse } from '../value/scalar.js';

const schemas = Object.fromEntries(
  SOURCES.flatMap(({ kind, schema }) => (schema ? [[kind, z.optional(schema as z.ZodMiniType)] as const] : [])),
);

/** An entry of `workloads`: exactly one kind. */
export const source = z.pipe(
  z.strictObject(schemas),
  z.transform((entry, payload): WorkloadSourceSpec => {
    const [first, second] = SOURCES.filter(({ kind }) => entry[kind] !== undefined);
    if (second !== undefined) {
      const message = `cannot be combined with ${String(first?.kind)}: an entry is one source`;
      return refuse(payload, entry[second.kind], 'EVICTD_CONFIG_VALUE', message, 'write two entries, each with its own "- "', [
        second.kind,
      ]);
    }
    const spec = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
    if (!isWorkloadSource(spec)) {
      if (payload.issues.length > 0) return { cgroup: '/' };
      return refuse(payload, undefined, 'EVICTD_CONFIG_MISSING', 'is missing', '', ['cgroup']);
    }
    const { kind, value } = kindOf(spec);
    const problem = payload.issues.length > 0 ? undefined : kind.emptiness?.(value);
    return problem === undefined ? spec : refuse(payload, value, 'EVICTD_CONFIG_MISSING', problem, '', [kind.kind]);
  }),
);

/**
 * Drops an entry if earlier ones have all its names: two files may name the same source. Warns of duplicates and of
 * sources that cover the whole machine.
 */
export function distinctSources(items: readonly ListItem<WorkloadSourceSpec>[], report: Report): readonly ListItem<WorkloadSourceSpec>[] {
  const seen = new Set<string>();
  return items.filter(({ value: entry, layer, path }) => {
    const { kind, value } = kindOf(entry);
    const fresh = kind.names(value).filter((named) => {
      const position = layer.at([...path, kind.kind, ...named.path]);
      if (seen.has(named.name)) {
        report.notice('warn', 'EVICTD_CONFIG_WORKLOADS_TWICE', `workloads: ${named.name} is named twice`, {
          hint: 'remove one of them',
          position,
        });
        return false;
      }
      seen.add(named.name);
      const whole = kind.wholeMachine?.[named.name];
      if (whole !== undefined) {
        const message = `workloads: ${named.name} makes every ${whole.what} a workload`;
        report.notice('warn', 'EVICTD_CONFIG_WORKLOADS_ROOT', message, { hint: whole.hint, position });
      }
      return true;
    });
    return fresh.length > 0;
  });
}
