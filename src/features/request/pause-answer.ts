import { pausesIn, resumeMessage } from '../../core/budget/lifted-pauses.js';
import { pausedText } from '../../core/message/pause-message.js';
import { formatDuration, parseDuration } from '../../core/quantity/duration.js';
import type { PausedWorkload, PauseRequest } from '../../core/pause/operator-pause.js';
import type { Candidates } from '../../core/workload/workload.js';
import { UnavailableError, UsageError } from '../../errors.js';
import type { ApiAnswer, ApiRequest } from '../../http/route.js';
import type { Monitor } from '../../monitor/loop.js';
import type { Status } from '../../metrics/status.js';

/** What a running evictd needs to pause and to go on. */
export interface PauseParts {
  readonly maxNs: () => bigint;
  readonly candidates: () => Pick<Candidates, 'usages'>;
  readonly monitor: Pick<Monitor, 'ask' | 'remaining'>;
  readonly status: Pick<Status, 'pauses' | 'safeMode'>;
}

/** Ends all pauses. What was lifted; undefined: evictd is stopping. @param by  as in DisruptionCause */
export function resumed({ monitor, status: { safeMode } }: Pick<PauseParts, 'monitor' | 'status'>, by?: string): string | undefined {
  const message = resumeMessage(pausesIn(monitor.remaining), by);
  if (!monitor.ask({ source: 'resume', by })) return undefined;
  return safeMode === undefined ? message : `${message}; evictd is in safe mode all the same, and evicts nothing: ${safeMode}`;
}

/** `evictd pause`. @throws UsageError, UnavailableError */
export function pauseBy({ body, by }: Pick<ApiRequest, 'body' | 'by'>, parts: PauseParts): ApiAnswer {
  const request = { ...pauseRequestOf(body, parts.maxNs(), parts.candidates), by };
  if (!parts.monitor.ask({ source: 'pause', pause: request })) throw stopping();
  const begun = parts.status.pauses.filter(({ workload }) => workload?.path === request.workload?.path);
  return { json: { message: begun.map(pausedText).join('; '), pauses: pausesOf(parts) } };
}

/** `evictd resume`. @throws UnavailableError */
export function resumeBy({ by }: Pick<ApiRequest, 'by'>, parts: PauseParts): ApiAnswer {
  const message = resumed(parts, by);
  if (message === undefined) throw stopping();
  return { json: { message, pauses: pausesOf(parts) } };
}

function pausesOf({ status }: PauseParts): readonly object[] {
  return status.pauses.map(({ reason, workload, endsAt }) => ({ reason, workload: workload ?? null, endsAt }));
}

function stopping(): UnavailableError {
  return new UnavailableError('EVICTD_API_STOPPING', 'evictd is stopping');
}

const MOST_CHARACTERS = 500;

/**
 * Reads `{"for": "30m", "reason": "…", "workload": "web"}`.
 *
 * @throws UsageError  it is not that, too long, or names no workload
 */
export function pauseRequestOf(body: string, maxNs: bigint, candidates: PauseParts['candidates']): PauseRequest {
  const { for: length, reason, workload, ...unknown } = objectOf(body);
  const [other] = Object.keys(unknown);
  if (other !== undefined) throw wrong(`it has ${JSON.stringify(other)}`);
  if (typeof reason !== 'string' || reason.trim() === '') throw wrong('it has no reason');
  if (reason.length > MOST_CHARACTERS) throw wrong(`its reason is longer than ${String(MOST_CHARACTERS)} characters`);
  if (workload !== undefined && typeof workload !== 'string') throw wrong('its workload is not a text');
  const forNs = lengthOf(length, maxNs);
  return { forNs, reason: reason.trim(), ...(workload !== undefined && { workload: workloadOf(workload, candidates()) }) };
}

function objectOf(body: string): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    // not JSON
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw wrong('it is no JSON object');
  return json as Readonly<Record<string, unknown>>;
}

function wrong(why: string): UsageError {
  return new UsageError('EVICTD_PAUSE_REQUEST', `this is no request for a pause: ${why}`, {
    hint: 'for example {"for": "30m", "reason": "restoring the database", "workload": "db"}; workload may be left out',
  });
}

function lengthOf(text: unknown, maxNs: bigint): bigint {
  let forNs: bigint;
  try {
    forNs = parseDuration(String(text));
  } catch {
    throw new UsageError('EVICTD_PAUSE_LENGTH', `${JSON.stringify(text)} is no length of a pause`, { hint: 'for example 30m or 1h30m' });
  }
  if (maxNs === 0n) {
    const hint = 'raise pause.max in the configuration, and run evictd reload';
    throw new UsageError('EVICTD_PAUSE_LENGTH', 'pause.max is 0s: no pause is permitted', { hint });
  }
  if (forNs > 0n && forNs <= maxNs) return forNs;
  const hint = `at most ${formatDuration(maxNs)} (pause.max)`;
  throw new UsageError('EVICTD_PAUSE_LENGTH', `a pause of ${formatDuration(forNs)} is not permitted`, { hint });
}

/** By its path, or by its name if only one has it. */
function workloadOf(asked: string, { usages }: Pick<Candidates, 'usages'>): PausedWorkload {
  const all = usages.map(({ workload: { name, path } }) => ({ name, path }));
  const found = all.filter(({ path }) => path === asked);
  const [first, second] = found.length > 0 ? found : all.filter(({ name }) => name === asked);
  if (first === undefined)
    throw new UsageError('EVICTD_PAUSE_WORKLOAD', `there is no workload '${asked}'`, { hint: 'evictd rank lists the workloads' });
  if (second === undefined) return first;
  const hint = 'name one of them by its path';
  throw new UsageError('EVICTD_PAUSE_WORKLOAD', `several workloads are called '${asked}': ${first.path}, ${second.path}`, { hint });
}
