import * as z from 'zod/mini';
import type { Config } from '../../config/config.js';
import { PREEMPTION_POLICIES } from '../../core/disruption/priority-class.js';
import { admitByRequests, requestedBytes, type RequestAnswer, type RequestingApplicant } from '../../core/disruption/request-admission.js';
import type { DisruptionCause } from '../../core/disruption/disruption-cause.js';
import { isBeingEvicted } from '../../core/disruption/disruption-step.js';
import { askedOnce, disruptable, isPresent, violatedBudgets } from '../../core/disruption/disruption-budget.js';
import { haltOf, refusalOf, refusalText } from '../../core/disruption/refusal.js';
import { withPausedWorkloads } from '../../core/pause/paused-workloads.js';
import { printable } from '../../core/name/printable.js';
import { formatBytes } from '../../core/quantity/quantity-format.js';
import type { Monitor } from '../../monitor/loop.js';
import { parsed } from '../../config/value/scalar.js';
import { bytesText } from '../../config/value/value-text.js';
import type { RankingState } from '../../core/rank/current-ranking.js';
import type { Candidates, Workload } from '../../core/workload/workload.js';
import { UnavailableError, UsageError } from '../../errors.js';
import { bodyAs } from '../../http/json-body.js';
import type { ApiAnswer, ApiRequest } from '../../http/route.js';

/** The answer of POST /api/v1/preempt; amounts are bytes. */
export interface PreemptionDocument {
  readonly answer: RequestAnswer['kind'];
  /** Nothing ends. */
  readonly dryRun: boolean;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
  /** The workloads that end, or would end. */
  readonly workloads: readonly {
    readonly name: string;
    readonly path: string;
    readonly priority: number;
    readonly requests: number;
    /** Names of the disruption budgets that its end violates. Left out: none, or it ends already. */
    readonly violates?: readonly string[];
  }[];
  /** With a refusal: the kubelet's sentence for its reason OutOfmemory, and why no workload ends. */
  readonly message?: string;
}

/** What a running evictd needs to make room. */
export interface PreemptionParts {
  readonly allocatable: () => Config['allocatable'];
  readonly candidates: () => Candidates;
  /** @throws UnavailableError  there was no step yet */
  readonly standing: () => Pick<RankingState, 'state' | 'observations' | 'policy'>;
  readonly monitor: Pick<Monitor, 'ask'>;
}

/** `evictd admit --preempt`. @throws UsageError, UnavailableError */
export function postPreempt({ body, by }: Pick<ApiRequest, 'body' | 'by'>, parts: PreemptionParts): ApiAnswer {
  const { dryRun, ...applicant } = requestOf(body);
  const answer = answerNow(applicant, parts);
  if (answer.kind === 'preempts' && !dryRun) {
    const request = { kind: 'evict', workloads: answer.workloads.map(({ id }) => id), cause: { ...causeOf(applicant), by } } as const;
    if (!parts.monitor.ask({ source: 'request', request })) throw new UnavailableError('EVICTD_API_STOPPING', 'evictd is stopping');
  }
  return { json: documentOf(answer, dryRun || parts.standing().policy.dryRun) };
}

/** The longest name of a cgroup. Each decision has the name, and all of them are in the saved state. */
const LONGEST_NAME = 255;

function causeOf({ name, path, priority, memory }: RequestingApplicant): DisruptionCause {
  const preemptor = printable((name ?? path ?? 'a workload').slice(0, LONGEST_NAME));
  const message = `${preemptor} of priority ${String(priority)} needs room for its request of ${formatBytes(memory)}`;
  return { kind: 'disruption', reason: 'preemption', message };
}

function answerNow(applicant: RequestingApplicant, { allocatable, candidates, standing }: PreemptionParts): RequestAnswer {
  const { policy, state, observations } = standing();
  const configured = allocatable();
  const { observed } = observations;
  const limit = configured && observed.get('allocatableMemory.available')?.capacity;
  const capacity = configured?.capacity ?? limit ?? observed.get('memory.available')?.capacity;
  if (capacity === undefined) throw new UnavailableError('EVICTD_PREEMPT_CAPACITY', 'the memory of the node cannot be read');
  const found = askedOnce(withPausedWorkloads({ candidates }, state.pauses).candidates());
  const context = { policy, state, found, nowNs: process.hrtime.bigint() };
  const among = disruptable(found, state, context.nowNs);
  const halt = haltOf(context);
  return admitByRequests(applicant, {
    // A cgroup outlasts its processes, and their request ends with them.
    workloads: found.usages.flatMap(({ workload }) => (workload.requests.memory > 0n && isPresent(workload, found) ? [workload] : [])),
    capacity,
    cgroup: configured?.cgroup,
    isEnding: (workload) => state.disruptions.has(workload.id) || isBeingEvicted(state, workload),
    halt: halt && refusalText(halt),
    isExempt: (workload) => refusalOf(context, workload) !== undefined,
    violated: (workload, others) =>
      violatedBudgets(policy.disruptionBudgets ?? [], workload, {
        ...among,
        ending: new Set([...among.ending, ...others.map(({ id }) => id)]),
      }),
  });
}

function documentOf(answer: RequestAnswer, dryRun: boolean): PreemptionDocument {
  const amounts = { requested: Number(answer.requested), used: Number(answer.used), capacity: Number(answer.capacity) };
  const shared = { answer: answer.kind, dryRun, ...amounts };
  switch (answer.kind) {
    case 'fits':
      return { ...shared, workloads: [] };
    case 'waits':
      return { ...shared, workloads: answer.workloads.map((workload) => victimOf(workload)) };
    case 'preempts':
      return { ...shared, workloads: answer.workloads.map((workload) => victimOf(workload, answer.violates.get(workload.id))) };
    case 'refused': {
      const { requested, used, capacity } = amounts;
      const lacks = `Node didn't have enough resource: memory, requested: ${String(requested)}, used: ${String(used)}, capacity: ${String(capacity)}`;
      return { ...shared, workloads: [], message: `${lacks}; no preemption: ${answer.why}` };
    }
  }
}

function victimOf(workload: Workload, violates: readonly string[] = []): PreemptionDocument['workloads'][number] {
  const { name, path, priority } = workload;
  return { name, path, priority, requests: Number(requestedBytes(workload)), ...(violates.length > 0 && { violates }) };
}

/** @throws UsageError */
function requestOf(body: string): RequestingApplicant & { readonly dryRun: boolean } {
  const { data, wrong } = bodyAs(body, requestSchema());
  if (data !== undefined) return { ...data, memory: data.requests.memory };
  throw new UsageError('EVICTD_PREEMPT_REQUEST', `this is not a request for room: ${wrong}`, {
    hint: 'for example {"name": "db", "priority": 1000, "requests": {"memory": "1Gi"}, "dryRun": true}',
  });
}

/** Built when a request arrives: zod takes a moment for it. */
function requestSchema() {
  return z.strictObject({
    name: z.optional(z.string()),
    path: z.optional(z.string()),
    critical: z._default(z.boolean(), false),
    priority: z._default(z.int32(), 0),
    preemptionPolicy: z._default(z.enum(PREEMPTION_POLICIES), 'PreemptLowerPriority'),
    requests: z.strictObject({ memory: parsed(bytesText) }),
    dryRun: z._default(z.boolean(), false),
  });
}
