import * as z from 'zod/mini';
import { CONDITION_TYPES, type ConditionType } from '../../core/signal/signal.js';
import { TAINT_EFFECTS, type Taint } from '../../core/disruption/taint.js';
import { attempt, EvictdError } from '../../errors.js';
import { jsonText } from '../../core/name/json-text.js';

/** The node conditions that a running evictd publishes in a file of the runtime directory (docs/admission.md). */
export interface PublishedConditions {
  readonly node: string;
  readonly pid: number;
  /** The boot that `updatedNs` belongs to. '': could not be read. */
  readonly bootId: string;
  /** The last update, monotonic clock: it cannot be set, and stops while the machine sleeps, as evictd does. */
  readonly updatedNs: bigint;
  /** The time of the update as RFC 3339, for people. */
  readonly updated: string;
  readonly monitoringIntervalNs: bigint;
  /** The conditions that are true; `since`: RFC 3339, wall clock. */
  readonly conditions: readonly PublishedCondition[];
  /** Taints without those that stand for a condition. Left out: none. */
  readonly taints?: readonly Taint[];
  /** A shutdown of the machine has begun, `since`: RFC 3339. Left out: there is none. */
  readonly shutdown?: { readonly since: string };
}

export interface PublishedCondition {
  readonly type: ConditionType;
  readonly since: string;
}

export interface NodeQuery {
  readonly node: string;
  readonly bootId: string;
  /** The monotonic clock, read after the file was. */
  readonly nowNs: bigint;
}

const FORMAT = 1;
/** Decimal digits of 2^63. */
const DIGITS = 19;
/** The number of intervals without an update after which the conditions are unknown. */
const INTERVALS = 3n;

/** As long as before if only the time of the update has changed. */
export function conditionsText(published: PublishedConditions): string {
  const { updatedNs, monitoringIntervalNs } = published;
  return `${jsonText({
    format: FORMAT,
    ...published,
    updatedNs: String(updatedNs).padStart(DIGITS, '0'), // more than a double holds after 104 days
    monitoringIntervalNs: String(monitoringIntervalNs),
  })}\n`;
}

/**
 * The conditions in such a file, if they are current.
 *
 * @throws EvictdError  not such a file, of another node, or older than three monitoring intervals (exactly three are
 * not)
 */
export function presentConditions(text: string, { node, bootId, nowNs }: NodeQuery): PublishedConditions {
  const published = parse(text);
  if (published === undefined) throw malformed('its format is not that of this version of evictd');
  if (published.node !== node) throw malformed(`it is about the node ${published.node}, not ${node}`);
  const { updatedNs, monitoringIntervalNs, updated, pid } = published;
  const lastUpdate = `the last update by evictd (process ${String(pid)}) is from ${updated}`;
  if (bootId === '' || published.bootId !== bootId) throw stale(`${lastUpdate}, before the machine was booted`);
  const ageNs = nowNs - updatedNs;
  if (ageNs < 0n) throw stale(`${lastUpdate}, by a clock that is ahead of this one (another time namespace)`);
  if (ageNs > INTERVALS * monitoringIntervalNs) {
    throw stale(`${lastUpdate}: ${seconds(ageNs)} ago, and evictd reads the node every ${seconds(monitoringIntervalNs)}`);
  }
  return published;
}

function malformed(what: string): EvictdError {
  return new EvictdError('EVICTD_CONDITIONS_MALFORMED', `the node conditions cannot be used: ${what}`, {
    hint: 'restart evictd: it replaces the file. Use the same version for run and admit',
  });
}

function stale(what: string): EvictdError {
  return new EvictdError('EVICTD_CONDITIONS_STALE', `the node conditions are not known: ${what}`, {
    hint: 'check whether evictd runs: systemctl status evictd',
  });
}

/** The time in tenths of a second, rounded down: '30.0s'. */
function seconds(ns: bigint): string {
  const tenths = ns / 100_000_000n;
  return `${String(tenths / 10n)}.${String(tenths % 10n)}s`;
}

/** undefined: it is not as {@link conditionsText} writes it. */
function parse(text: string): PublishedConditions | undefined {
  const { data } = publishedSchema().safeParse(attempt(() => JSON.parse(text) as unknown));
  if (data === undefined) return undefined;
  const { node, pid, bootId, updatedNs, updated, monitoringIntervalNs, conditions, taints, shutdown } = data;
  const known = { node, pid, bootId, updatedNs, updated, monitoringIntervalNs, conditions };
  return { ...known, ...(taints && { taints }), ...(shutdown && { shutdown }) };
}

/** Built when a file is read: zod takes a moment for it. */
function publishedSchema() {
  const nanoseconds = z.pipe(
    z.string().check(z.regex(/^\d{1,19}$/)),
    z.transform((text: string) => BigInt(text)),
  );
  return z.object({
    format: z.literal(FORMAT),
    node: z.string(),
    pid: z.number(),
    bootId: z.string(),
    updatedNs: nanoseconds,
    updated: z.string(),
    monitoringIntervalNs: nanoseconds,
    conditions: z.array(z.object({ type: z.enum(CONDITION_TYPES), since: z.string() })),
    taints: z.optional(z.array(z.object({ key: z.string(), value: z.string(), effect: z.enum(TAINT_EFFECTS) }))),
    shutdown: z.optional(z.object({ since: z.string() })),
  });
}
