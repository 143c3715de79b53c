import { CONDITION_TYPES, type ConditionType } from '../core/signal.js';
import { EvictdError } from '../errors.js';

/** The node conditions that a running evictd publishes in a file of the runtime directory (docs/admission.md). */
export interface PublishedConditions {
  /** 'machine', or the path of the node cgroup. */
  readonly node: string;
  readonly pid: number;
  /** The boot that `updatedNs` belongs to. '': could not be read. */
  readonly bootId: string;
  /** The last update, monotonic clock: it cannot be set, and stops while the machine sleeps, as evictd does. */
  readonly updatedNs: bigint;
  /** The same as RFC 3339, for people. */
  readonly updated: string;
  readonly monitoringIntervalNs: bigint;
  /** The conditions that are true; `since`: RFC 3339, wall clock. */
  readonly conditions: readonly PublishedCondition[];
  /** A shutdown of the machine has begun, `since`: RFC 3339. Left out: there is none. */
  readonly shutdown?: { readonly since: string };
}

export interface PublishedCondition {
  readonly type: ConditionType;
  readonly since: string;
}

/** Which conditions are asked for, and when. */
export interface Asked {
  readonly node: string;
  readonly bootId: string;
  /** The monotonic clock, read after the file was. */
  readonly nowNs: bigint;
}

const FORMAT = 1;
/** After so many intervals without an update the conditions are unknown. */
const INTERVALS = 3n;

export function conditionsText(published: PublishedConditions): string {
  const { updatedNs, monitoringIntervalNs } = published;
  return `${JSON.stringify({
    format: FORMAT,
    ...published,
    updatedNs: String(updatedNs), // more than a double holds after 104 days
    monitoringIntervalNs: String(monitoringIntervalNs),
  })}\n`;
}

/**
 * The conditions in such a file, if they are current.
 *
 * @throws EvictdError  not such a file, of another node, or older than three monitoring intervals (exactly three are
 * not)
 */
export function presentConditions(text: string, { node, bootId, nowNs }: Asked): PublishedConditions {
  const published = parse(text);
  if (published === undefined) throw malformed('its format is not that of this version of evictd');
  if (published.node !== node) throw malformed(`it is about the node ${published.node}, not ${node}`);
  const { updatedNs, monitoringIntervalNs, updated, pid } = published;
  const said = `the last update by evictd (process ${String(pid)}) is from ${updated}`;
  if (bootId === '' || published.bootId !== bootId) throw stale(`${said}, before the machine was booted`);
  const ageNs = nowNs - updatedNs;
  if (ageNs < 0n) throw stale(`${said}, by a clock that is ahead of this one (another time namespace)`);
  if (ageNs > INTERVALS * monitoringIntervalNs) {
    throw stale(`${said}: ${seconds(ageNs)} ago, and evictd reads the node every ${seconds(monitoringIntervalNs)}`);
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

/** In tenths, rounded down: '30.0s'. */
function seconds(ns: bigint): string {
  const tenths = ns / 100_000_000n;
  return `${String(tenths / 10n)}.${String(tenths % 10n)}s`;
}

/** undefined: it is not as {@link conditionsText} writes it. */
function parse(text: string): PublishedConditions | undefined {
  const file = parseObject(text);
  if (file === undefined) return undefined;
  const { node, pid, bootId, updated, shutdown } = file;
  const updatedNs = nanoseconds(file.updatedNs);
  const monitoringIntervalNs = nanoseconds(file.monitoringIntervalNs);
  if (file.format !== FORMAT || typeof node !== 'string' || typeof pid !== 'number' || typeof bootId !== 'string') return undefined;
  if (typeof updated !== 'string' || updatedNs === undefined || monitoringIntervalNs === undefined) return undefined;
  if (!Array.isArray(file.conditions) || !file.conditions.every(isCondition)) return undefined;
  if (shutdown !== undefined && !isShutdown(shutdown)) return undefined;
  const known = { node, pid, bootId, updatedNs, updated, monitoringIntervalNs, conditions: file.conditions };
  return shutdown === undefined ? known : { ...known, shutdown };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCondition(value: unknown): value is PublishedCondition {
  return isObject(value) && typeof value.since === 'string' && CONDITION_TYPES.some((type) => type === value.type);
}

function isShutdown(value: unknown): value is { readonly since: string } {
  return isObject(value) && typeof value.since === 'string';
}

function nanoseconds(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^\d{1,19}$/.test(value) ? BigInt(value) : undefined;
}
