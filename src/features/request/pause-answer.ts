import * as z from 'zod/mini';
import { pausesIn, resumeMessage } from '../../core/budget/lifted-pauses.js';
import { pausedText } from '../../core/message/pause-message.js';
import { formatDuration, parseDuration } from '../../core/quantity/duration.js';
import { hasRoomFor, type PausedWorkload, type PauseRequest } from '../../core/pause/operator-pause.js';
import type { Candidates } from '../../core/workload/workload.js';
import { UnavailableError, UsageError } from '../../errors.js';
import { bodyAs } from '../../http/json-body.js';
import type { ApiAnswer, ApiRequest } from '../../http/route.js';
import type { Monitor } from '../../monitor/loop.js';
import type { Status } from '../../metrics/status.js';

/** What a running evictd needs to pause and to go on. */
export interface PauseParts {
  readonly maxNs: () => bigint;
  readonly candidates: () => Pick<Candidates, 'usages'>;
  readonly monitor: Pick<Monitor, 'ask' | 'remaining'>;
  /** Whether there was one. */
  readonly endSafeMode: () => boolean;
  readonly status: Pick<Status, 'pauses'>;
}

/** Ends all pauses. What was lifted; undefined: evictd is stopping. @param by  as in DisruptionCause */
export function resumed({ monitor, endSafeMode }: Pick<PauseParts, 'monitor' | 'endSafeMode'>, by?: string): string | undefined {
  const message = resumeMessage(pausesIn(monitor.remaining), by);
  if (!monitor.ask({ source: 'resume', by })) return undefined;
  return endSafeMode() ? `${message}; the safe mode is over` : message;
}

/** `evictd pause`. @throws UsageError, UnavailableError */
export function postPause({ body, by }: Pick<ApiRequest, 'body' | 'by'>, parts: PauseParts): ApiAnswer {
  const request = { ...pauseRequestOf(body, parts.maxNs(), parts.candidates), by };
  if (!hasRoomFor(parts.monitor.remaining.pauses, request)) {
    const hint = 'pause everything (without a workload), give a shorter reason, or end all pauses: evictd resume';
    throw new UnavailableError('EVICTD_PAUSE_ROOM', 'the saved state has no room for another pause of a workload', { hint });
  }
  if (!parts.monitor.ask({ source: 'pause', pause: request })) throw stopping();
  const begun = parts.status.pauses.filter(({ workload }) => workload?.path === request.workload?.path);
  return { json: { message: begun.map(pausedText).join('; '), pauses: pausesOf(parts) } };
}

/** `evictd resume`. @throws UnavailableError */
export function postResume({ by }: Pick<ApiRequest, 'by'>, parts: PauseParts): ApiAnswer {
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

const MAX_CHARACTERS = 500;

/**
 * Reads `{"for": "30m", "reason": "…", "workload": "web"}`.
 *
 * @throws UsageError  it is not that, too long, or names no workload
 */
export function pauseRequestOf(body: string, maxNs: bigint, candidates: PauseParts['candidates']): PauseRequest {
  const reasonSchema = z.string().check(z.trim(), z.minLength(1), z.maxLength(MAX_CHARACTERS));
  const schema = z.strictObject({ for: z.string(), reason: reasonSchema, workload: z.optional(z.string()) });
  const { data, wrong } = bodyAs(body, schema);
  if (data === undefined) {
    throw new UsageError('EVICTD_PAUSE_REQUEST', `this is not a request for a pause: ${wrong}`, {
      hint: `for example {"for": "30m", "reason": "restoring the database", "workload": "db"}; workload may be left out, and the reason has at most ${String(MAX_CHARACTERS)} characters`,
    });
  }
  const { for: length, reason, workload } = data;
  const forNs = lengthOf(length, maxNs);
  return { forNs, reason, ...(workload !== undefined && { workload: workloadOf(workload, candidates()) }) };
}

function lengthOf(text: string, maxNs: bigint): bigint {
  let forNs: bigint;
  try {
    forNs = parseDuration(text);
  } catch {
    throw new UsageError('EVICTD_PAUSE_LENGTH', `invalid pause duration ${JSON.stringify(text)}`, {
      hint: 'write hours, minutes and seconds: 30m, 1h30m',
    });
  }
  if (maxNs === 0n) {
    const hint = 'raise pause.max in the configuration, and run evictd reload';
    throw new UsageError('EVICTD_PAUSE_LENGTH', 'pause.max is 0s: no pause is permitted', { hint });
  }
  if (forNs > 0n && forNs <= maxNs) return forNs;
  const hint = `more than 0s, and at most pause.max: ${formatDuration(maxNs)}`;
  throw new UsageError('EVICTD_PAUSE_LENGTH', `a pause of ${formatDuration(forNs)} is not permitted`, { hint });
}

/** The workload with this path, or with this name if only one has it. */
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
