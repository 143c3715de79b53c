import * as z from 'zod/mini';
import { parsed } from '../../config/value/scalar.js';
import { TextError } from '../../config/value/value-text.js';
import { isLiteral } from '../../core/workload/glob.js';
import { isSliceName, isTemplate, unitKind } from '../../core/systemd/unit.js';
import type { SourceKind } from './source-kind.js';

export interface SystemdSpec {
  /** 'batch.slice': every service and scope anywhere below is a workload. */
  readonly slices: readonly string[];
  /** 'web.service', wherever it is, or a pattern: 'web@*.service'. */
  readonly units: readonly string[];
  /**
   * The cgroups below units with ManagedOOMSwap=kill, ManagedOOMMemoryPressure=kill or OOMRules= are ended as
   * systemd-oomd would, and for nothing else.
   */
  readonly managedOOM?: boolean | undefined;
}

export const systemdSource: SourceKind<'systemd', SystemdSpec> = {
  kind: 'systemd',
  os: 'linux',
  schema: z.strictObject({
    slices: z._default(z.array(parsed(sliceText)), []),
    units: z._default(z.array(parsed(unitText)), []),
    managedOOM: z.optional(z.boolean()),
  }),
  descriptions: {
    '': 'Services and scopes of systemd are workloads.',
    slices: 'All units in these slices, e.g. [batch.slice].',
    units: "Units by name or pattern, e.g. ['web@*.service'].",
    managedOOM: 'Also do what ManagedOOM settings of units ask of systemd-oomd.',
  },
  example: 'units (systemd: { slices: [batch.slice] })',
  missing: { systemd: 'systemd: { slices: [batch.slice] }, or { units: [web.service] }' },
  emptiness: ({ slices, units, managedOOM }) =>
    slices.length + units.length > 0 || managedOOM ? undefined : 'names neither slices nor units, nor managedOOM',
  mapHint: (text = 'batch.slice') => `{ slices: [${text}] }`,
  entryHint: (text) => {
    if (/^\/|^unix:|\.sock$/.test(text)) return undefined;
    return `{ systemd: { ${text.endsWith('.slice') ? 'slices' : 'units'}: [${text}] } }`;
  },
  text: (spec) => `systemd ${[...spec.slices, ...spec.units, ...(spec.managedOOM ? [MANAGED] : [])].join(', ')}`,
  names: (spec) => [
    ...(['slices', 'units'] as const).flatMap((key) => spec[key].map((name, index) => ({ name, path: [key, index] }))),
    ...(spec.managedOOM ? [{ name: MANAGED, path: ['managedOOM'] }] : []),
  ],
  wholeMachine: {
    '-.slice': { what: 'unprotected service of the machine', hint: 'name a slice of your own, like batch.slice' },
    '*.service': { what: 'unprotected service of the machine', hint: 'name the units, or a slice of your own' },
    '*.scope': { what: 'scope of the machine, including logins and containers,', hint: 'name the units, or a slice of your own' },
  },
  found: { in: 'cgroups', select: ({ slices, units, managedOOM }) => ({ slices, units, ...(managedOOM && { managedOom: true }) }) },
};

/** In messages. */
const MANAGED = 'units with ManagedOOM settings';

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
