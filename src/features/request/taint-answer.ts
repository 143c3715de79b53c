import * as z from 'zod/mini';
import { ownTaint } from '../../core/disruption/node-taints.js';
import type { TaintRequest } from '../../core/disruption/operator-request.js';
import { isSameTaint, parseTaintChange, TaintError, taintText, type Taint, type TaintChange } from '../../core/disruption/taint.js';
import { jsonBytes } from '../../core/name/json-text.js';
import { DRY_RUN } from '../../core/message/drain-message.js';
import { UnavailableError, UsageError } from '../../errors.js';
import { bodyAs } from '../../http/json-body.js';
import type { ApiAnswer, ApiRequest } from '../../http/route.js';
import type { Status } from '../../metrics/status.js';
import type { Monitor } from '../../monitor/loop.js';

/** What a running evictd needs to change its taints. */
export interface TaintParts {
  /** The taints of the configuration in force. */
  readonly configured: () => readonly Taint[];
  readonly dryRun: boolean;
  readonly monitor: Pick<Monitor, 'ask' | 'remaining'>;
  readonly status: Pick<Status, 'taints' | 'taintEvictions'>;
}

/** They are in the saved state, whose size is limited. */
const MAX_TAINTS = 64;
const MAX_BYTES = 8 * 1024;
const HINT = 'for example {"taints": ["maintenance=yes:NoExecute", "gpu-"]}';

/** `evictd taint`. All changes, or none. @throws UsageError, UnavailableError */
export function postTaint({ body, by }: Pick<ApiRequest, 'body' | 'by'>, { configured, dryRun, monitor, status }: TaintParts): ApiAnswer {
  const request = { ...taintRequestOf(textsOf(body), configured(), monitor.remaining.taints), by };
  if (!monitor.ask({ source: 'request', request })) throw new UnavailableError('EVICTD_API_STOPPING', 'evictd is stopping');
  const { set, remove } = request;
  const changed = [...set.map((taint) => `set ${taintText(taint)}`), ...remove.map((taint) => `removed ${taintText(taint)}`)];
  const message = [...changed, ...(dryRun ? [DRY_RUN] : [])].join('; ');
  return { json: { message, taints: status.taints, taintEvictions: status.taintEvictions } };
}

/**
 * Checks what an operator asks for.
 *
 * @param texts  'KEY=VALUE:EFFECT', 'KEY:EFFECT-', 'KEY-'
 * @param known  set at run time before
 * @throws UsageError  not one of these, several for one taint, no such taint, or not an operator's at run time
 */
function taintRequestOf(
  texts: readonly string[],
  configured: readonly Taint[],
  known: readonly Taint[],
): Omit<TaintRequest, 'remove' | 'by'> & { readonly remove: readonly Taint[] } {
  const changes = texts.map(changeOf);
  const set = changes.flatMap((change) => ('set' in change ? [change.set] : []));
  const remove = changes.flatMap((change) => ('remove' in change ? removed(change.remove, configured, known) : []));
  for (const taint of set) refuseOwn(taint);
  const fixed = set.find((taint) => configured.some((other) => isSameTaint(other, taint)));
  if (fixed) throw ofConfiguration(fixed);
  const all = [...set, ...remove];
  const twice = all.find((taint, index) => all.slice(0, index).some((other) => isSameTaint(other, taint)));
  if (twice) throw wrong(`${twice.key}:${twice.effect} is named twice`, 'name each taint once');
  if (known.length + set.length > MAX_TAINTS) throw wrong(`there are more than ${String(MAX_TAINTS)} taints`, 'remove some first');
  if (jsonBytes([...known, ...set]) > MAX_BYTES)
    throw wrong('the saved state has no room for so long taints', 'remove some first, or use shorter keys and values');
  return { kind: 'taint', set, remove };
}

function removed(
  { key, effect }: Extract<TaintChange, { remove: unknown }>['remove'],
  configured: readonly Taint[],
  known: readonly Taint[],
) {
  const isMeant = (taint: Taint): boolean => taint.key === key && (effect === undefined || taint.effect === effect);
  const found = known.filter(isMeant);
  if (found.length > 0) return found;
  const fixed = configured.find(isMeant);
  if (fixed) throw ofConfiguration(fixed);
  refuseOwn({ key, value: '', effect: effect ?? 'NoSchedule' });
  const text = effect === undefined ? key : `${key}:${effect}`;
  throw new UsageError('EVICTD_TAINT_ABSENT', `there is no taint ${text}`, { hint: 'evictd taint lists the taints' });
}

function changeOf(text: string): TaintChange {
  try {
    return parseTaintChange(text);
  } catch (error) {
    throw error instanceof TaintError ? wrong(error.message, error.hint) : error;
  }
}

function ofConfiguration(taint: Taint): UsageError {
  const hint = 'change it there, and run evictd reload';
  return new UsageError('EVICTD_TAINT_CONFIGURED', `the taint ${taintText(taint)} is set in the configuration`, { hint });
}

function refuseOwn(taint: Taint): void {
  const own = ownTaint(taint);
  if (own) throw new UsageError('EVICTD_TAINT_CONDITION', `the taint ${taintText(taint)} stands for ${own.of}`, { hint: own.ends });
}

function wrong(message: string, hint: string): UsageError {
  return new UsageError('EVICTD_TAINT_REQUEST', message, { hint });
}

function textsOf(body: string): readonly string[] {
  const { data, wrong: why } = bodyAs(body, z.strictObject({ taints: z.array(z.string()).check(z.minLength(1)) }));
  if (data !== undefined) return data.taints;
  throw wrong(`this is not a request to change taints: ${why}`, HINT);
}
