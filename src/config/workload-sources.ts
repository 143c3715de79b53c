import * as z from 'zod/mini';
import { isLiteral } from '../core/glob.js';
import { isSliceName, isTemplate, unitKind } from '../core/unit.js';
import type { LinuxSourceSpec, WindowsSourceSpec, WorkloadSourceSpec } from '../core/workload-source.js';
import type { ListItem } from './document.js';
import type { Report } from './report.js';
import { parsed, pattern, refuse } from './scalar.js';
import { cgroupText, endpointText, TextError } from './text.js';

/** The kinds of a source; messages name the first two of several. */
const KINDS = ['cgroup', 'systemd', 'cri', 'job', 'service', 'process'] as const;

/** A job object's name: exact, because Windows does not list them; a namespace ('Global\\NAME') is accepted. */
const jobText = (text: string): string => {
  if (text !== '' && /^(?:(?:Global|Local|Session\\\d+)\\)?[^\\*?\0]+$/.test(text)) return text;
  throw new TextError(
    'EVICTD_CONFIG_VALUE',
    `not the name of a job object: ${JSON.stringify(text)}`,
    'write the full name: batch, or Global\\batch',
  );
};

/** An entry of `workloads`: exactly one kind. */
export const source = z.pipe(
  z.strictObject({
    cgroup: z.optional(parsed(cgroupText)),
    systemd: z.optional(z.strictObject({ slices: z.optional(z.array(parsed(sliceText))), units: z.optional(z.array(parsed(unitText))) })),
    cri: z.optional(z.strictObject({ endpoint: parsed(endpointText) })),
    job: z.optional(parsed(jobText)),
    service: z.optional(pattern),
    process: z.optional(z.strictObject({ path: pattern })),
  }),
  z.transform((entry, payload): WorkloadSourceSpec => {
    const { cgroup, systemd, cri, job, service, process } = entry;
    const [first, second] = KINDS.filter((kind) => entry[kind] !== undefined);
    if (second !== undefined) {
      const message = `cannot be combined with ${String(first)}: an entry is one source`;
      return refuse(payload, entry[second], 'EVICTD_CONFIG_VALUE', message, 'write two entries, each with its own "- "', [second]);
    }
    const windows: WindowsSourceSpec | undefined =
      job !== undefined ? { job } : service !== undefined ? { service } : process && { process };
    const linux: LinuxSourceSpec | undefined = cri && { cri };
    const other = windows ?? linux;
    if (other !== undefined) return other;
    const { slices = [], units = [] } = systemd ?? {};
    if (systemd === undefined) {
      if (cgroup !== undefined || payload.issues.length > 0) return { cgroup: cgroup ?? '/' };
      return refuse(payload, undefined, 'EVICTD_CONFIG_MISSING', 'is missing', '', ['cgroup']);
    }
    if (slices.length + units.length > 0 || payload.issues.length > 0) return { systemd: { slices, units } };
    return refuse(payload, systemd, 'EVICTD_CONFIG_MISSING', 'names neither slices nor units', '', ['systemd']);
  }),
);

/** A name in a source, and its path in the entry. */
interface Named {
  readonly name: string;
  readonly path: readonly (string | number)[];
}

/**
 * Drops an entry if earlier ones have all its names: two files may name the same source. Warns of duplicates and of
 * sources that cover the whole machine.
 */
export function distinctSources(items: readonly ListItem<WorkloadSourceSpec>[], report: Report): readonly ListItem<WorkloadSourceSpec>[] {
  const seen = new Set<string>();
  return items.filter(({ value, layer, path }) => {
    const fresh = namesIn(value).filter((named) => {
      const position = layer.at([...path, ...named.path]);
      if (seen.has(named.name)) {
        report.notice('warn', 'EVICTD_CONFIG_WORKLOADS_TWICE', `workloads: ${named.name} is named twice`, {
          hint: 'remove one of them',
          position,
        });
        return false;
      }
      seen.add(named.name);
      const root = ROOTS.get(named.name);
      if (root !== undefined) {
        const message = `workloads: ${named.name} makes every ${root.what} a workload`;
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

/** Sources that cover the whole machine. */
const ROOTS: ReadonlyMap<string, { readonly what: string; readonly hint: string }> = new Map([
  ['/', { what: 'top-level cgroup', hint: 'name a slice, like /workload.slice' }],
  ['-.slice', { what: 'unprotected service of the machine', hint: 'name a slice of your own, like batch.slice' }],
  ['*.service', { what: 'unprotected service of the machine', hint: 'name the units, or a slice of your own' }],
  ['service *', { what: 'unprotected service of the machine', hint: 'name the services' }],
  ['process **', { what: 'unprotected process of the machine', hint: 'name programs, like C:\\Apps\\**' }],
  ['*.scope', { what: 'scope of the machine, including logins and containers,', hint: 'name the units, or a slice of your own' }],
]);

/** The characters of a unit's name, with `*` and `?` for patterns. */
const CHARACTERS = /[^A-Za-z0-9:_.\\@*?-]/;

/** 'batch.slice' */
function sliceText(text: string): string {
  if (!isLiteral(text)) throw unitError(`slices do not take patterns: ${text}`, 'name each slice; the slices below it are included');
  const example = sliceMeant(text);
  if (isSliceName(text)) return text;
  const kind = unitKind(text);
  if (kind === 'service' || kind === 'scope') throw unitError(`a ${kind} is not a slice: ${text}`, `write units: [${text}]`);
  if (kind === 'slice')
    throw unitError(
      `not the name of a slice: ${text}`,
      'no @, and no dash at the beginning, at the end or next to another dash: batch-night.slice',
    );
  throw unitError(`not the name of a slice: ${JSON.stringify(text)}`, `write the name that systemctl shows: ${example}`);
}

/** The name of a service or a scope ('web.service'), or a pattern of such names ('web@*.service'). */
function unitText(text: string): string {
  const kind = unitKind(text.replace(/[*?]/g, 'x'));
  if (kind === 'slice') throw unitError(`a slice is not a service or a scope: ${text}`, `write slices: [${text}]`);
  if (isTemplate(text)) throw unitError(`a template has no processes: ${text}`, `for its instances write ${text.replace('@.', '@*.')}`);
  if (kind === 'service' || kind === 'scope') return text;
  if (kind !== undefined) throw unitError(`a ${kind} is not a workload: ${text}`, 'name a service or a scope: web.service, run-*.scope');
  const meant = text !== '' && !CHARACTERS.test(text) ? `${text.replace(/\.\w*$/, '')}.service` : 'web.service';
  throw unitError(`not the name of a service or a scope: ${JSON.stringify(text)}`, `write the name that systemctl shows: ${meant}`);
}

/** '/sys/fs/cgroup/batch.slice' → 'batch.slice', 'batch' → 'batch.slice'. */
function sliceMeant(text: string): string {
  const name = text
    .replace(/\/+$/, '')
    .replace(/^.*\//, '')
    .replace(/\.slice$/, '');
  return name !== '' && isSliceName(`${name}.slice`) ? `${name}.slice` : 'batch.slice';
}

function unitError(message: string, hint: string): TextError {
  return new TextError('EVICTD_CONFIG_UNIT', message, hint);
}
