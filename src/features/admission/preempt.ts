import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config/config.js';
import { suggestion } from '../../config/value/report.js';
import { bytesText, durationText, MAX_DURATION_NS, TextError } from '../../config/value/value-text.js';
import { SYSTEM_CLASSES, type PriorityClass } from '../../core/disruption/priority-class.js';
import { requestedBytes } from '../../core/disruption/request-admission.js';
import { SYSTEM_CRITICAL_PRIORITY, type Workload } from '../../core/workload/workload.js';
import { UsageError } from '../../errors.js';
import { askRunning } from '../../node/control-client.js';
import { forecastRescheduling, placesLines } from '../kubernetes/cluster/rescheduling.js';
import type { Admission, Applicant } from './admission.js';
import { effectsOn, type NamedWorkload } from './open.js';
import type { PreemptionDocument } from './preemption-answer.js';

export interface PreemptOptions {
  readonly preempt?: true;
  readonly dryRun?: true;
  readonly requests?: string;
  readonly priorityClass?: string;
  readonly timeout?: string;
}

/** The workload that needs room. */
export interface Preemptor {
  readonly critical: boolean;
  readonly named: NamedWorkload;
  /** undefined: a machine workload. */
  readonly pod: Workload | undefined;
}

/** How it went; `workloads` are all that ended, or in a dry run would. */
export interface PreemptionReport extends Pick<PreemptionDocument, 'dryRun' | 'requested' | 'used' | 'capacity' | 'workloads'> {
  readonly admission: Admission;
  /** A line for each pod among the workloads, in a dry run on a node of Kubernetes. */
  readonly couldRunNow: readonly string[];
}

const DEFAULT_TIMEOUT = '1m';
const POLL_MS = 100;

/** Whether --preempt is given. @throws UsageError  an option that belongs to it is given without it */
export function isPreempting({ preempt, dryRun, requests, timeout }: PreemptOptions): boolean {
  if (preempt === true) return true;
  const [first] = Object.entries({
    '--dry-run': dryRun,
    '--requests': requests,
    '--timeout': timeout,
  }).filter(([, value]) => value !== undefined);
  if (first === undefined) return false;
  throw new UsageError('EVICTD_USAGE', `${first[0]} needs --preempt`, { hint: 'evictd admit --help' });
}

/** A system class makes it critical, as in a rule. @throws UsageError  there is no such class */
export function ofClass(applicant: Applicant, { priorityClass }: PreemptOptions, config: Pick<Config, 'priorityClasses'>): Applicant {
  if (priorityClass === undefined) return applicant;
  const { priority = 0 } = classNamed(priorityClass, [...config.priorityClasses, ...SYSTEM_CLASSES]);
  return { ...applicant, critical: applicant.critical || priority >= SYSTEM_CRITICAL_PRIORITY };
}

/**
 * Asks the running evictd for room, and waits until the workloads that it ends for that have ended.
 *
 * @throws EvictdError  a wrong option; no evictd guards the node, or it does not answer
 */
export async function makeRoom(
  options: PreemptOptions,
  config: Pick<Config, 'rules' | 'workloads' | 'priorityClasses' | 'node' | 'runtimeDirectory' | 'kubernetes'>,
  preemptor: Preemptor,
): Promise<PreemptionReport> {
  const body = JSON.stringify({ ...requestOf(options, config, preemptor), dryRun: options.dryRun === true });
  const timeout = options.timeout ?? DEFAULT_TIMEOUT;
  const withinNs = valueOf('--timeout', () => durationText(timeout, 0n, MAX_DURATION_NS));
  const beganNs = process.hrtime.bigint();
  const ended = new Map<string, PreemptionDocument['workloads'][number]>();
  for (;;) {
    const json = await askRunning(config, { method: 'POST', path: '/api/v1/preempt', body }, 'EVICTD_PREEMPT_NO_INSTANCE');
    const { answer, message = '', ...found } = json as PreemptionDocument;
    for (const workload of found.workloads) if (!ended.has(workload.path)) ended.set(workload.path, workload);
    const report = (admission: Admission): PreemptionReport => ({ ...found, workloads: [...ended.values()], admission, couldRunNow: [] });
    const refused = (why: string): PreemptionReport => report({ admit: false, reason: 'OutOfmemory', message: why });
    if (answer === 'refused') return refused(message);
    if (found.dryRun) return { ...report({ admit: true }), couldRunNow: await placesOf(config, found.workloads) };
    if (answer === 'fits') return report({ admit: true });
    if (process.hrtime.bigint() - beganNs >= withinNs)
      return refused(`${found.workloads.map(({ name }) => name).join(', ')} did not end within ${timeout}`);
    await delay(POLL_MS);
  }
}

async function placesOf(
  { kubernetes }: Pick<Config, 'kubernetes'>,
  workloads: PreemptionDocument['workloads'],
): Promise<readonly string[]> {
  const names = new Map(workloads.map(({ path, name }) => [path, name]));
  const pods = [...names.keys()].filter((path) => path.includes('kubepods'));
  return placesLines(await forecastRescheduling(kubernetes, { pods }), names);
}

function requestOf(
  { priorityClass, requests }: PreemptOptions,
  config: Pick<Config, 'rules' | 'workloads' | 'priorityClasses'>,
  { critical, named, pod }: Preemptor,
): object {
  const effects = pod === undefined ? effectsOn(config, named) : [];
  const classes = [...config.priorityClasses, ...SYSTEM_CLASSES];
  const ownImportance = pod === undefined ? effects.find(({ priority }) => priority !== undefined) : importanceOf(pod, classes);
  const { priority = 0, preemptionPolicy } = priorityClass === undefined ? (ownImportance ?? {}) : classNamed(priorityClass, classes);
  const ownMemory =
    pod === undefined ? effects.find(({ requestsMemory }) => requestsMemory !== undefined)?.requestsMemory : requestedBytes(pod);
  const memory = requests === undefined ? ownMemory : valueOf('--requests', () => memoryIn(requests));
  return {
    name: pod?.path ?? named.name, // a workload of a container runtime is called NAMESPACE/NAME
    path: pod === undefined ? named.path : undefined,
    critical: critical || priority >= SYSTEM_CRITICAL_PRIORITY,
    priority,
    preemptionPolicy,
    requests: { memory: String(memory ?? 0n) },
  };
}

interface Importance {
  readonly priority?: number | undefined;
  readonly preemptionPolicy?: PriorityClass['preemptionPolicy'] | undefined;
}

/** A pod that was never in a cluster has only the name of its class. */
function importanceOf({ priority, pod }: Workload, classes: readonly PriorityClass[]): Importance {
  const found = classes.find(({ name }) => name === pod?.priorityClassName);
  return { priority: priority === 0 ? found?.value : priority, preemptionPolicy: pod?.preemptionPolicy ?? found?.preemptionPolicy };
}

function classNamed(name: string, classes: readonly PriorityClass[]): Importance {
  const found = classes.find((each) => each.name === name);
  if (found !== undefined) return { priority: found.value, preemptionPolicy: found.preemptionPolicy };
  const hint = suggestion(
    name,
    classes.map((each) => each.name),
  );
  throw new UsageError('EVICTD_USAGE', `--priority-class: there is no priority class ${JSON.stringify(name)}`, { hint });
}

/** Bytes of 'memory=1Gi', as kubectl writes requests. @throws TextError */
function memoryIn(text: string): bigint {
  const [resource, amount, ...rest] = text.split('=');
  if (resource === 'memory' && amount !== undefined && rest.length === 0) return bytesText(amount);
  throw new TextError(
    'EVICTD_USAGE',
    `is not memory=AMOUNT: ${JSON.stringify(text)}`,
    'write memory=512Mi: evictd counts requests of memory only',
  );
}

function valueOf<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof TextError)) throw cause;
    throw new UsageError('EVICTD_USAGE', `${flag}: ${cause.message}`, { hint: cause.hint, cause });
  }
}
