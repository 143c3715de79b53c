import { firstOf } from '../../core/name/name-list.js';
import { counted } from '../../core/quantity/amount.js';
import { formatDuration } from '../../core/quantity/duration.js';
import { protectionText } from '../../core/rank/rank.js';
import { type ShutdownGroup, type ShutdownWorkloads, latestTimeline } from './shutdown-plan.js';
import { hasEnded, isInTime, type EndedWorkload, type EndingWorkload } from './shutdown-progress.js';
import type { Candidates, Workload } from '../../core/workload/workload.js';
import type { JournalRecord } from '../../journal/records/record.js';
import type { ShutdownGracePeriod } from '../../core/workload/shutdown-config.js';
import type { Evictor, WorkloadSource } from '../../monitor/ports/ports.js';
import type { JsonObject } from '../../core/name/json-text.js';

/** The order in which workloads end, as planned when the shutdown begins. */
export interface ShutdownPlan extends Pick<ShutdownWorkloads, 'leftAlone'>, Pick<Candidates, 'unreadable'> {
  readonly groups: readonly ShutdownGroup[];
}

export interface ShutdownCourse {
  readonly tookNs: bigint;
  readonly ended: readonly EndedWorkload[];
  /** Signalled, and still running. */
  readonly ending: readonly EndingWorkload[];
}

export function shutdownBegun({ groups, leftAlone, unreadable }: ShutdownPlan): JournalRecord {
  const neededNs = latestTimeline(groups).at(-1)?.endsAtNs ?? 0n;
  const parts = groups
    .filter(({ workloads }) => workloads.length > 0)
    .map(({ priority, gracePeriodNs, workloads }) => {
      const names = firstOf(
        workloads.map(({ workload }) => workload.name),
        MAX_NAMES,
      );
      return `${names} within ${formatDuration(gracePeriodNs)} (group ${String(priority)})`;
    });
  const order = parts.length === 0 ? 'no workload has to end' : `workloads end in this order: ${parts.join(', then ')}`;
  return {
    type: 'shutdown',
    phase: 'begins',
    groups: groups.map(({ priority, gracePeriodNs, workloads }) => ({
      priority,
      gracePeriodSeconds: seconds(gracePeriodNs),
      workloads: workloads.map(({ workload, gracePeriodNs: own }) => ({
        ...identity(workload),
        priority: workload.priority,
        critical: workload.protection?.kind === 'critical',
        gracePeriodSeconds: seconds(own),
      })),
    })),
    neededSeconds: seconds(neededNs),
    leftAlone: leftAlone.map(({ workload: { name, path }, why }) => ({ name, path, why: protectionText(why) })),
    unreadable: unreadable.map((workload) => ({ ...workload })),
    message: `the machine is shutting down: ${order}`,
  };
}

export function workloadEnded(ended: EndedWorkload, priority: number): JournalRecord {
  const { workload, result, afterNs, gracePeriodNs, processesLeft, error } = ended;
  return {
    type: 'ended',
    workload: identity(workload),
    group: priority,
    result,
    afterSeconds: seconds(afterNs),
    gracePeriodSeconds: seconds(gracePeriodNs),
    inTime: isInTime(ended),
    ...(processesLeft === undefined ? {} : { processesLeft }),
    ...(error === undefined ? {} : { error }),
    message: endedText(ended),
  };
}

function endedText({ workload: { name }, result, afterNs, gracePeriodNs, processesLeft, error }: EndedWorkload): string {
  const after = roundly(afterNs);
  const time = formatDuration(gracePeriodNs);
  switch (result) {
    case 'ended':
      return `${name} ended after ${after} of ${time}`;
    case 'killed':
      return `${name} did not end within ${time}: killed, ended after ${after}`;
    case 'already-ended':
      return `${name} had ended before SIGTERM`;
    case 'evicted':
      return `${name} was evicted while it was ending; ended after ${after} of ${time}`;
    case 'signalled':
      return `${name} got SIGTERM; the shutdown does not wait for it`;
    case 'survived': {
      const left = processesLeft === undefined ? '' : `: ${counted(BigInt(processesLeft), 'processes')} left`;
      return `${name} did not end within ${time}, and could not be killed${left}${error === undefined ? '' : ` (${error})`}`;
    }
  }
}

/** @param late  workloads of groups that were over when they appeared */
export function shutdownOver({ tookNs, ended }: ShutdownCourse, late: readonly Workload[]): JournalRecord {
  const tooLong = ended.filter((one) => !isInTime(one));
  const gone = ended.filter(hasEnded);
  const signalled = ended.filter(({ result }) => result === 'signalled');
  const survivors = ended.filter(({ result }) => result === 'survived');
  const inTime = tooLong.length === 0;
  const parts = [
    `${String(gone.length)} ended in ${roundly(tookNs)}`,
    tooLong.length === 0 ? 'all in time' : `not in time: ${names(tooLong)}`,
    ...(signalled.length === 0 ? [] : [`got SIGTERM, not waited for: ${names(signalled)}`]),
    ...(survivors.length === 0 ? [] : [`still running: ${names(survivors)}`]),
    ...(late.length === 0 ? [] : [`started too late to get SIGTERM: ${late.map(({ name }) => name).join(', ')}`]),
  ];
  return {
    type: 'shutdown',
    phase: 'over',
    inTime,
    tookSeconds: seconds(tookNs),
    ended: gone.length,
    notInTime: tooLong.map(({ workload }) => identity(workload)),
    signalled: signalled.map(({ workload }) => identity(workload)),
    survived: survivors.map(({ workload }) => identity(workload)),
    late: late.map(identity),
    message: `the machine may go down: ${ended.length === 0 ? 'no workload was ended' : parts.slice(0, 2).join(', ')}${parts
      .slice(2)
      .map((part) => `; ${part}`)
      .join('')}`,
  };
}

export type ShutdownAbort =
  | { readonly phase: 'called-off' }
  | { readonly phase: 'interrupted' }
  | { readonly phase: 'failed'; readonly error: string };

/** The rest of the plan is dropped. Workloads that were signalled may still end, and none is started again. */
export function shutdownAborted(by: ShutdownAbort, { tookNs, ended, ending }: ShutdownCourse): JournalRecord {
  const gone = ended.filter(hasEnded);
  const signalled = [...ended.filter(({ result }) => result === 'signalled'), ...ending];
  const parts = [
    gone.length === 0 ? 'no workload has ended' : `ended, and not started again: ${names(gone)}`,
    ...(signalled.length === 0 ? [] : [`got SIGTERM, still running: ${names(signalled)}`]),
  ];
  return {
    type: 'shutdown',
    ...by,
    tookSeconds: seconds(tookNs),
    ended: gone.map(({ workload }) => identity(workload)),
    signalled: signalled.map(({ workload }) => identity(workload)),
    message: `${ABORTED[by.phase]}${by.phase === 'failed' ? ` (${by.error})` : ''}: ${parts.join('; ')}`,
  };
}

const ABORTED = {
  'called-off': 'the shutdown was cancelled',
  interrupted: 'evictd was stopped and ends no more workloads',
  failed: 'the machine may go down; evictd ends no more workloads',
} as const;

/** How many names a message has; the record has all. */
const MAX_NAMES = 10;

function names(of: readonly EndingWorkload[]): string {
  return of.map(({ workload }) => workload.name).join(', ');
}

function identity({ name, path, id }: Workload): JsonObject {
  return { name, path, id };
}

function seconds(ns: bigint): number {
  return Math.round(Number(ns) / 1e6) / 1e3;
}

function roundly(ns: bigint): string {
  return formatDuration(ns - (ns % 1_000_000n));
}

export interface ShutdownRunParts {
  readonly workloads: Pick<WorkloadSource, 'candidates'>;
  readonly evictor: Evictor;
  /** Whether the workload with this id is being evicted. */
  readonly isEvicted: (id: string) => boolean;
}

export interface ShutdownRunEvents {
  /** Called before the first signal. */
  planned(plan: ShutdownPlan): void;
  ended(ended: EndedWorkload, group: ShutdownGracePeriod): void;
  /** @param late  workloads of groups that were over when they appeared */
  over(course: ShutdownCourse, late: readonly Workload[]): void;
  /** An error occurred, and the step is tried again. Called once. */
  retrying(reason: string): void;
  /** The error persists, and no further workload is ended. Called instead of `over`. */
  failed(course: ShutdownCourse, reason: string): void;
}
