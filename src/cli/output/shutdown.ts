import { isBelow } from '../../core/cgroup.js';
import { formatDuration } from '../../core/duration.js';
import { askedText, inhibitDelaySetting, neededDelayNs, suffices, type InhibitDelay } from '../../core/inhibit-delay.js';
import { protectionText } from '../../core/rank.js';
import type { ShutdownGroup, StoppedAlong } from '../../core/shutdown-plan.js';
import type { ShutdownPhase } from '../../core/shutdown-timeline.js';
import type { Protection, UnreadableWorkload, Workload } from '../../core/workload.js';
import type { SourceProblem } from '../../monitor/ports.js';
import { problemLines } from './ranking.js';
import type { Style } from './style.js';
import { table, type Column } from './table.js';

export interface ShutdownReport {
  /** As late as it can become. Empty: no grace period is configured. */
  readonly timeline: readonly ShutdownPhase[];
  readonly along: StoppedAlong;
  /** Of all groups together, whoever is there. */
  readonly requestedNs: bigint;
  /** Whether a workload source is. */
  readonly configured: boolean;
  readonly inhibitDelay: InhibitDelay;
  /** Protected: whoever takes the machine down ends them. */
  readonly leftAlone: readonly { readonly workload: Workload; readonly why: Protection }[];
  readonly unreadable: readonly UnreadableWorkload[];
  readonly problems: readonly SourceProblem[];
}

const COLUMNS: readonly Column[] = [
  { heading: 'AT', align: 'right' },
  { heading: 'GROUP', align: 'right' },
  { heading: 'TIME', align: 'right' },
  { heading: 'WORKLOAD', align: 'left' },
  { heading: 'PRIORITY', align: 'right' },
  { heading: 'GRACE', align: 'right' },
  { heading: '', align: 'left' },
];

const NS_PER_SECOND = 1e9;
/** How many of those that a workload holds, or takes along, are named. */
const MOST_NAMED = 3;

/** A line for each workload in the order of the groups, then what it takes and whether there is time for it. */
export function shutdownText(report: ShutdownReport, style: Style): string {
  const { timeline, along, leftAlone, unreadable, problems } = report;
  const rows = timeline.flatMap((phase) => rowsOf(phase, along));
  const lines = [
    ...(rows.length > 0 ? [...table(COLUMNS, rows), ''] : []),
    ...conclusion(report),
    ...leftAlone.map(({ workload, why }) => `left alone: ${workload.name}: ${protectionText(why)}`),
    ...unreadable.map(({ name, reason }) => `left out: ${name}: ${reason}`),
    ...problemLines(problems, style),
  ];
  return `${lines.join('\n')}\n`;
}

function rowsOf({ group, startsAtNs }: ShutdownPhase, along: StoppedAlong): string[][] {
  const of = [formatDuration(startsAtNs), String(group.priority), formatDuration(group.gracePeriodNs)];
  if (group.workloads.length === 0) return [[...of, '-', '', '', '']];
  return group.workloads.map(({ workload, gracePeriodNs }) => [
    ...of,
    workload.name,
    String(workload.priority),
    formatDuration(gracePeriodNs),
    notes(workload, group, along.get(workload.id)),
  ]);
}

/** Why it ends when it does. */
function notes({ protection, path }: Workload, { workloads, gracePeriodNs }: ShutdownGroup, along: readonly Workload[] = []): string {
  const held = workloads.filter((other) => isBelow(other.workload.path, path)).map(({ workload }) => workload);
  return [
    ...(protection?.kind === 'critical' ? ['critical'] : []),
    ...(gracePeriodNs > 0n ? [] : ['not waited for']),
    ...(held.length === 0 ? [] : [`holds ${some(held)}`]),
    ...(along.length === 0 ? [] : [`stops ${some(along)}`]),
  ].join(', ');
}

function some(all: readonly Workload[]): string {
  const names = all.slice(0, MOST_NAMED).map(({ name }) => name);
  return `${names.join(', ')}${all.length > MOST_NAMED ? ', …' : ''}`;
}

function conclusion({ timeline, requestedNs, configured, inhibitDelay }: ShutdownReport): string[] {
  if (timeline.length === 0) return ['nobody would be ended: neither shutdownGracePeriod nor shutdownGracePeriodByPodPriority is set'];
  const source =
    'nobody would be ended: no workload source is configured (workloads: in the configuration, --workload-cgroup, --workload-slice)';
  const isUntimed = timeline.some(({ group }) => group.gracePeriodNs <= 0n && group.workloads.length > 0);
  const all = isUntimed ? 'all but those that are not waited for' : 'all';
  const needed = `${all} have ended after ${formatDuration(neededNs(timeline))} at the latest; ${askedText(requestedNs)}`;
  return [configured ? needed : source, delayText(inhibitDelay, requestedNs)];
}

function delayText(delay: InhibitDelay, requestedNs: bigint): string {
  if (delay.kind === 'unknown')
    return `how long a shutdown waits is not known: ${delay.reason}; where logind does not run, it waits for nobody`;
  const waits = `logind lets a shutdown wait for ${formatDuration(delay.maxNs)} (InhibitDelayMaxSec)`;
  if (suffices(delay, requestedNs)) return `${waits}: that suffices`;
  return `${waits}: too short by ${formatDuration(neededDelayNs(requestedNs) - delay.maxNs)}; evictd install --logind-drop-in, or ${inhibitDelaySetting(requestedNs)} in /etc/systemd/logind.conf.d/`;
}

function neededNs(timeline: readonly ShutdownPhase[]): bigint {
  return timeline.at(-1)?.endsAtNs ?? 0n;
}

export function shutdownJson({ timeline, requestedNs, inhibitDelay, leftAlone, unreadable, problems }: ShutdownReport): string {
  return `${JSON.stringify(
    {
      groups: timeline.map(({ group, startsAtNs, endsAtNs }) => ({
        priority: group.priority,
        gracePeriodSeconds: seconds(group.gracePeriodNs),
        startsAtSeconds: seconds(startsAtNs),
        endsAtSeconds: seconds(endsAtNs),
        workloads: group.workloads.map(({ workload, gracePeriodNs }) => ({
          name: workload.name,
          path: workload.path,
          priority: workload.priority,
          critical: workload.protection?.kind === 'critical',
          gracePeriodSeconds: seconds(gracePeriodNs),
          ownGracePeriodSeconds: workload.terminationGracePeriodNs === undefined ? null : seconds(workload.terminationGracePeriodNs),
        })),
      })),
      neededSeconds: seconds(neededNs(timeline)),
      requestedSeconds: seconds(requestedNs),
      inhibitDelayMaxSeconds: inhibitDelay.kind === 'known' ? seconds(inhibitDelay.maxNs) : null,
      inhibitDelayUnknown: inhibitDelay.kind === 'unknown' ? inhibitDelay.reason : null,
      suffices: suffices(inhibitDelay, requestedNs) ?? null,
      leftAlone: leftAlone.map(({ workload: { name, path }, why }) => ({ name, path, why: protectionText(why) })),
      unreadable: unreadable.map(({ name, path, reason }) => ({ name, path, reason })),
      problems: problems.map(({ code, message, hint }) => ({ code, message, ...(hint === undefined ? {} : { hint }) })),
    },
    undefined,
    2,
  )}\n`;
}

function seconds(ns: bigint): number {
  return Number(ns) / NS_PER_SECOND;
}
