import * as z from 'zod/mini';
import type { LinuxSourceSpec, WindowsSourceSpec, WorkloadSourceSpec } from '../core/workload-source.js';
import { parsed, pattern, refuse } from './scalar.js';
import { cgroupText, endpointText, TextError } from './text.js';
import { sliceText, unitText } from './unit-text.js';

/** What a source may be, in the order in which messages name the first of several. */
const SOURCES = ['cgroup', 'systemd', 'cri', 'job', 'service', 'process'] as const;

const ONE_EACH = 'write two entries, each with its own "- "';

/** A job object's name: exact, because the system lists no names, perhaps with its namespace ('Global\\NAME'). */
const jobText = (text: string): string => {
  if (text !== '' && /^(?:(?:Global|Local|Session\\\d+)\\)?[^\\*?\0]+$/.test(text)) return text;
  throw new TextError(
    'EVICTD_CONFIG_VALUE',
    `not the name of one job object: ${JSON.stringify(text)}`,
    'write it whole: batch, or Global\\batch',
  );
};

/** One of them; an empty entry is one whose cgroup is missing. */
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
    const [first, second] = SOURCES.filter((kind) => entry[kind] !== undefined);
    if (second !== undefined) {
      return refuse(payload, entry[second], 'EVICTD_CONFIG_VALUE', `stands beside ${String(first)}: an entry is one source`, ONE_EACH, [
        second,
      ]);
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
    // What else is wrong with it is said, and enough.
    if (slices.length + units.length > 0 || payload.issues.length > 0) return { systemd: { slices, units } };
    return refuse(payload, systemd, 'EVICTD_CONFIG_MISSING', 'names neither slices nor units', '', ['systemd']);
  }),
);

export const SOURCE_KEYS: Readonly<Record<string, readonly string[]>> = {
  'workloads[]': SOURCES,
  'workloads[].systemd': ['slices', 'units'],
  'workloads[].cri': ['endpoint'],
  'workloads[].process': ['path'],
};
