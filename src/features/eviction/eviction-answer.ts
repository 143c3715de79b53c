import * as z from 'zod/mini';
import type { Policy, State } from '../../core/decide/state.js';
import { askedOnce, isPresent } from '../../core/disruption/disruption-budget.js';
import { isBeingEvicted, isFull } from '../../core/disruption/disruption-step.js';
import { refusalOf, refusalText } from '../../core/disruption/refusal.js';
import type { EvictionFailure } from '../../core/drain/pod-eviction.js';
import { evictionFailure } from '../../core/drain/workload-eviction.js';
import { jsonBytes } from '../../core/name/json-text.js';
import { withPausedWorkloads } from '../../core/pause/paused-workloads.js';
import type { Candidates, Workload } from '../../core/workload/workload.js';
import { UnavailableError } from '../../errors.js';
import { bodyAs } from '../../http/json-body.js';
import type { ApiAnswer, ApiRequest } from '../../http/route.js';
import type { Monitor } from '../../monitor/loop.js';
import { NS_PER_SECOND } from '../../core/quantity/duration.js';

/** What a running evictd needs to evict a workload for an operator. */
export interface EvictionParts {
  readonly candidates: () => Candidates;
  /** @throws UnavailableError  there was no step yet */
  readonly standing: () => { readonly policy: Policy; readonly state: State };
  readonly monitor: Pick<Monitor, 'ask'>;
}

/** When a budget may permit what it does not permit now: kubectl drain asks as often. */
const RETRY_AFTER_SECONDS = 5;
/** Evictions that wait are in the saved state, whose size is limited. */
const MAX_BYTES = 8 * 1024;

/** POST /v1/evictions: an Eviction of policy/v1, and what Kubernetes' API server answers. @throws UnavailableError */
export function postEviction({ body, query, by }: Pick<ApiRequest, 'body' | 'query' | 'by'>, parts: EvictionParts): ApiAnswer {
  const asked = evictionOf(body);
  if ('code' in asked) return failed(asked);
  const { policy, state } = parts.standing();
  const found = askedOnce(withPausedWorkloads({ candidates: parts.candidates }, state.pauses).candidates());
  const workload = named(asked.name, found);
  if ('code' in workload) return failed(workload);
  const nowNs = process.hrtime.bigint();
  const context = { policy, state, found, nowNs };
  const { gracePeriodSeconds: grace, preconditions, dryRun: optionsDryRun = [] } = asked.deleteOptions ?? {};
  const queryDryRun = query.getAll('dryRun');
  const unknown = queryDryRun.find((value) => value !== 'All');
  if (unknown !== undefined) return failed(badRequest(`dryRun: unsupported value ${JSON.stringify(unknown)}: the only one is "All"`));
  const options = { queryDryRun, optionsDryRun, uid: preconditions?.uid, resourceVersion: undefined };
  const failure =
    refused(refusalOf(context, workload), workload) ?? evictionFailure(context, state, workload, options) ?? atMost(state, workload);
  if (failure !== undefined) return failed(failure);
  if (queryDryRun.length === 0 && optionsDryRun.length === 0) {
    const graceNs = grace === undefined ? {} : { graceNs: BigInt(grace) * NS_PER_SECOND };
    const cause = { kind: 'disruption', reason: 'eviction', message: `${by ?? 'an operator'} asked for it`, by, ...graceNs } as const;
    const isMade = parts.monitor.ask({ source: 'request', request: { kind: 'evict', workloads: [workload.id], cause } });
    if (!isMade) throw new UnavailableError('EVICTD_API_STOPPING', 'evictd is stopping');
  }
  const message = policy.dryRun ? { message: 'evictd makes a dry run, and ends nothing' } : {};
  return { status: 201, json: { ...STATUS, status: 'Success', ...message, details: { name: workload.path, uid: workload.id }, code: 201 } };
}

const STATUS = { kind: 'Status', apiVersion: 'v1', metadata: {} } as const;

function failed({ code, reason, message, causes, retryAfterSeconds }: EvictionFailure): ApiAnswer {
  const retry = code === 429 ? { retryAfterSeconds: retryAfterSeconds ?? RETRY_AFTER_SECONDS } : {};
  const details = causes === undefined ? {} : { details: { causes, ...retry } };
  return { status: code, ...retry, json: { ...STATUS, status: 'Failure', message, reason, ...details, code } };
}

/** The workload with this path, or with this name if only one has it. */
function named(asked: string, found: Candidates): Workload | EvictionFailure {
  const there = found.usages.flatMap(({ workload }) => (isPresent(workload, found) ? [workload] : []));
  const byPath = there.filter(({ path }) => path === asked);
  const [first, ...more] = byPath.length > 0 ? byPath : there.filter(({ name }) => name === asked);
  if (first === undefined) return { code: 404, reason: 'NotFound', message: `workloads "${asked}" not found` };
  if (more.length === 0) return first;
  const paths = [first, ...more].map(({ path }) => path).join(', ');
  return badRequest(`several workloads are called ${JSON.stringify(asked)}: name one by its path: ${paths}`);
}

function refused(refusal: ReturnType<typeof refusalOf>, { name }: Workload): EvictionFailure | undefined {
  if (refusal === undefined) return undefined;
  const why = refusalText(refusal);
  const causes = [{ reason: 'Forbidden', message: why }];
  return { code: 403, reason: 'Forbidden', message: `workloads "${name}" is forbidden: ${why}`, causes };
}

/** It would wait, and a client that is told 201 does not ask again. */
function atMost(state: State, workload: Workload): EvictionFailure | undefined {
  if (isBeingEvicted(state, workload)) return undefined;
  const asked = [...state.disruptions].filter(([, { reason }]) => reason === 'eviction');
  if (jsonBytes(asked) > MAX_BYTES)
    return { code: 429, reason: 'TooManyRequests', message: `${String(asked.length)} requested evictions are already waiting` };
  if (!isFull(state)) return undefined;
  return { code: 429, reason: 'TooManyRequests', message: `evictd ends ${String(state.evictions.length)} workloads already` };
}

function badRequest(message: string): EvictionFailure {
  return { code: 400, reason: 'BadRequest', message };
}

function evictionOf(body: string) {
  const { data, wrong } = bodyAs(body, evictionSchema());
  if (data === undefined) return badRequest(`this is not an Eviction of policy/v1: ${wrong}`);
  const { metadata, deleteOptions } = data;
  const name = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
  return { name, deleteOptions };
}

/**
 * Built when a request arrives: zod takes a moment for it. Fields of Kubernetes that mean nothing here are refused, except
 * those of `metadata` that clients send with every object.
 */
function evictionSchema() {
  const texts = z.optional(z.record(z.string(), z.string()));
  return z.strictObject({
    apiVersion: z.optional(z.literal('policy/v1')),
    kind: z.optional(z.literal('Eviction')),
    metadata: z.strictObject({
      name: z.string(),
      namespace: z.optional(z.string()),
      creationTimestamp: z.optional(z.null()),
      labels: texts,
      annotations: texts,
    }),
    deleteOptions: z.optional(
      z.strictObject({
        apiVersion: z.optional(z.string()),
        kind: z.optional(z.literal('DeleteOptions')),
        gracePeriodSeconds: z.optional(z.int().check(z.nonnegative(), z.lte(2 ** 31 - 1))),
        dryRun: z.optional(z.array(z.literal('All'))),
        preconditions: z.optional(z.strictObject({ uid: z.optional(z.string()) })),
      }),
    ),
  });
}
