import * as z from 'zod/mini';
import { askedOnce } from '../../core/disruption/disruption-budget.js';
import { isUnderWay, type CordonRequest, type Drain } from '../../core/drain/drain.js';
import { drainPlan } from '../../core/drain/drain-step.js';
import { drained } from '../../core/drain/brief-drain.js';
import { drainStatus, type DrainStatus } from '../../core/drain/drain-status.js';
import { DRY_RUN } from '../../core/message/drain-message.js';
import { withPausedWorkloads } from '../../core/pause/paused-workloads.js';
import { UnavailableError, UsageError } from '../../errors.js';
import { bodyAs } from '../../http/json-body.js';
import type { ApiAnswer, ApiRequest } from '../../http/route.js';
import type { Monitor } from '../../monitor/loop.js';
import type { EvictionParts } from './eviction-answer.js';
import { NS_PER_SECOND } from '../../core/quantity/duration.js';

export interface DrainParts extends Omit<EvictionParts, 'monitor'> {
  readonly monitor: Pick<Monitor, 'ask' | 'remaining'>;
}

/** GET /api/v1/drain. null: the node is not cordoned. */
export interface DrainDocument {
  readonly drain: DrainStatus | null;
}

/** POST /api/v1/drain. */
export interface DrainPlanDocument extends DrainDocument {
  /** Nothing ends: the request is a dry run, or evictd makes one. */
  readonly dryRun: boolean;
  readonly ends: readonly string[];
  readonly stays: readonly { readonly name: string; readonly why: string }[];
  /** Why the drain waits before it has ended all of them. */
  readonly waits: readonly string[];
}

export function drainOf({ monitor }: Pick<DrainParts, 'monitor'>): ApiAnswer {
  return { json: documentOf(monitor.remaining.drain) };
}

/** `evictd drain`. @throws UsageError, UnavailableError */
export function postDrain({ body, by }: Pick<ApiRequest, 'body' | 'by'>, parts: DrainParts): ApiAnswer {
  const { timeoutSeconds, graceSeconds, ...asked } = drainRequestOf(body);
  const { policy, state } = parts.standing();
  const dryRun = asked.dryRun || policy.dryRun;
  const { drain } = parts.monitor.remaining;
  if (isUnderWay(drain)) {
    const message = `a drain is under way: ${String(drain.pending.length)} of ${String(drain.total)} workloads have not ended`;
    throw new UnavailableError('EVICTD_DRAIN_UNDER_WAY', message, { hint: 'evictd uncordon ends it' });
  }
  const found = askedOnce(withPausedWorkloads({ candidates: parts.candidates }, state.pauses).candidates());
  const { ends, stays, waits } = drainPlan({ policy, state, found, nowNs: process.hrtime.bigint() });
  if (!dryRun) {
    const limits = {
      ...(timeoutSeconds !== undefined && { timeoutNs: BigInt(timeoutSeconds) * NS_PER_SECOND }),
      ...(graceSeconds !== undefined && { graceNs: BigInt(graceSeconds) * NS_PER_SECOND }),
    };
    const { awaitedRuntimes: awaited = [] } = found;
    ask(parts, { kind: 'drain', by, ...limits, ends: ends.map(drained), awaited });
  }
  const plan: DrainPlanDocument = {
    ...documentOf(parts.monitor.remaining.drain),
    dryRun,
    ends: ends.map(({ name }) => name),
    stays: stays.map(({ workload: { name }, why }) => ({ name, why })),
    waits,
  };
  return { json: plan };
}

/** `evictd cordon` and `evictd uncordon`. @throws UnavailableError */
export function postCordon(kind: CordonRequest['kind'], { by }: Pick<ApiRequest, 'by'>, parts: DrainParts): ApiAnswer {
  ask(parts, { kind, by });
  const isCordoned = kind === 'cordon' ? 'the node is cordoned' : 'the node is not cordoned';
  const message = parts.standing().policy.dryRun ? `${isCordoned}; ${DRY_RUN}` : isCordoned;
  return { json: { ...documentOf(parts.monitor.remaining.drain), message } };
}

function ask({ monitor }: Pick<DrainParts, 'monitor'>, request: NonNullable<Parameters<Monitor['ask']>[0]['request']>): void {
  if (!monitor.ask({ source: 'request', request })) throw new UnavailableError('EVICTD_API_STOPPING', 'evictd is stopping');
}

function documentOf(drain: Drain | undefined): DrainDocument {
  return { drain: drain === undefined ? null : drainStatus(drain) };
}

function drainRequestOf(body: string) {
  const seconds = z.optional(z.int().check(z.nonnegative(), z.lte(2 ** 31 - 1)));
  const schema = z.strictObject({ timeoutSeconds: seconds, graceSeconds: seconds, dryRun: z._default(z.boolean(), false) });
  const { data, wrong } = bodyAs(body, schema);
  if (data !== undefined) return data;
  const hint = 'for example {"timeoutSeconds": 600, "graceSeconds": 30, "dryRun": true}; each may be left out';
  throw new UsageError('EVICTD_DRAIN_REQUEST', `this is not a request for a drain: ${wrong}`, { hint });
}
