import { Command } from 'commander';
import type { LoadedConfig } from '../../config/config.js';
import { type InhibitDelay, delayRemedy, requestedText, neededDelayNs, suffices } from '../../core/systemd/inhibit-delay.js';
import { shutdownGracePeriods, shutdownRequestedNs } from '../../core/workload/shutdown-config.js';
import {
  groupByPriority,
  shutdownGroupIndexes,
  workloadsStoppedWith,
  type ShutdownGroup,
  type WorkloadsStoppedWith,
  workloadsAtShutdown,
  latestTimeline,
  type ShutdownPhase,
} from './shutdown-plan.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from '../../cli/output/options.js';
import { styleFor, type Style } from '../../cli/output/style.js';
import type { OpenReading } from '../../node/reading.js';
import { isBelow } from '../../core/workload/cgroup.js';
import { formatDuration } from '../../core/quantity/duration.js';
import { protectionText } from '../../core/rank/rank.js';
import type { Protection, UnreadableWorkload, Workload } from '../../core/workload/workload.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import { problemLines } from '../../cli/output/ranking.js';
import { table } from '../../cli/output/table.js';
import { jsonDocument } from '../../core/name/json-text.js';
import { printable } from '../../core/name/printable.js';

export interface ShutdownDeps {
  readonly io: Io;
  readonly open: OpenReading;
  readonly readInhibitDelay: () => Promise<InhibitDelay>;
}

interface ShutdownOptions extends ConfigOptions {
  readonly output: 'text' | 'json';
}

export function shutdownCommand({ io, open, readInhibitDelay }: ShutdownDeps): Command {
  const command = new Command('shutdown')
    .description('show when a machine shutdown would end each workload')
    .requiredOption('--plan', 'show the plan (required; ends no workload)')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    examples: ['evictd shutdown --plan', "evictd shutdown --plan -o json | jq -r '.groups[].workloads[].name'"],
    exit: { 0: 'shown, also if the inhibit delay is too short', ...USAGE_AND_CONFIG, 75: 'the node cgroup is missing' },
  }).action(async ({ output, ...options }: ShutdownOptions) => {
    const report = await planShutdown(configFromOptions(options), open, readInhibitDelay);
    io.stdout(output === 'json' ? shutdownJson(report) : shutdownText(report, styleFor(io)));
  });
}

async function planShutdown(
  loaded: LoadedConfig,
  open: OpenReading,
  readInhibitDelay: ShutdownDeps['readInhibitDelay'],
): Promise<ShutdownReport> {
  const periods = shutdownGracePeriods(loaded.config.shutdown);
  const inhibitDelay = await readInhibitDelay();
  const reading = await open(loaded);
  try {
    const candidates = reading.workloads.candidates();
    const { ended, leftAlone } = workloadsAtShutdown(candidates);
    const along = workloadsStoppedWith(candidates, { sinceNs: 0n });
    const all = candidates.usages.map(({ workload }) => workload);
    return {
      timeline: latestTimeline(groupByPriority(periods, ended, shutdownGroupIndexes(periods, all, undefined, along))),
      along,
      requestedNs: shutdownRequestedNs(loaded.config.shutdown),
      configured: loaded.config.workloads.length > 0,
      inhibitDelay,
      leftAlone,
      unreadable: candidates.unreadable,
      problems: reading.workloads.problems(),
    };
  } finally {
    reading.close();
  }
}

export const shutdown: MakeCommand = ({ io }) =>
  shutdownCommand({
    io,
    open: async (loaded) => (await import('./shutdown-reading.js')).openShutdownReading(loaded),
    readInhibitDelay: async () => (await import('../../node/configured-platform.js')).readInhibitDelay(),
  });

export interface ShutdownReport {
  /** The latest times. Empty: no grace period is configured. */
  readonly timeline: readonly ShutdownPhase[];
  readonly along: WorkloadsStoppedWith;
  /** Sum of all groups, with or without workloads. */
  readonly requestedNs: bigint;
  /** Whether a workload source is configured. */
  readonly configured: boolean;
  readonly inhibitDelay: InhibitDelay;
  /** Protected workloads: the shutdown itself ends them. */
  readonly leftAlone: readonly { readonly workload: Workload; readonly why: Protection }[];
  readonly unreadable: readonly UnreadableWorkload[];
  readonly problems: readonly SourceProblem[];
}

const COLUMNS = ['>START', '>GROUP', '>PERIOD', 'WORKLOAD', '>PRIORITY', '>GRACE', ''];

const NS_PER_SECOND = 1e9;
/** Limit of the names in a remark. */
const MAX_NAMED = 3;

/** Workloads by group, then the time that is needed and whether logind grants it. */
function shutdownText(report: ShutdownReport, style: Style): string {
  const { timeline, along, leftAlone, unreadable, problems } = report;
  const rows = timeline.flatMap((phase) => rowsOf(phase, along));
  const lines = [
    ...(rows.length > 0 ? [...table(COLUMNS, rows), ''] : []),
    ...[
      ...conclusion(report),
      ...leftAlone.map(({ workload, why }) => `not ended: ${workload.name}: ${protectionText(why)}`),
      ...unreadable.map(({ name, reason }) => `left out: ${name}: ${reason}`),
    ].map(printable),
    ...problemLines(problems, style),
  ];
  return `${lines.join('\n')}\n`;
}

function rowsOf({ group, startsAtNs }: ShutdownPhase, along: WorkloadsStoppedWith): string[][] {
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

/** Why the workload is in this group. */
function notes({ protection, path }: Workload, { workloads, gracePeriodNs }: ShutdownGroup, along: readonly Workload[] = []): string {
  const held = workloads.filter((other) => isBelow(other.workload.path, path)).map(({ workload }) => workload);
  return [
    ...(protection?.kind === 'critical' ? ['critical'] : []),
    ...(gracePeriodNs > 0n ? [] : ['not awaited']),
    ...(held.length === 0 ? [] : [`contains ${some(held)}`]),
    ...(along.length === 0 ? [] : [`also stops ${some(along)}`]),
  ].join(', ');
}

function some(all: readonly Workload[]): string {
  const names = all.slice(0, MAX_NAMED).map(({ name }) => name);
  return `${names.join(', ')}${all.length > MAX_NAMED ? ', …' : ''}`;
}

function conclusion({ timeline, requestedNs, configured, inhibitDelay }: ShutdownReport): string[] {
  if (timeline.length === 0) return ['no workload would be ended: neither shutdownGracePeriod nor shutdownGracePeriodByPodPriority is set'];
  const source =
    'no workload would be ended: no workload source is configured (set workloads in the configuration, or use --workload-cgroup or --workload-slice)';
  const isUntimed = timeline.some(({ group }) => group.gracePeriodNs <= 0n && group.workloads.length > 0);
  const all = isUntimed ? 'all awaited workloads' : 'all workloads';
  const needed = `${all} end within ${formatDuration(neededNs(timeline))}; ${requestedText(requestedNs)}`;
  return [configured ? needed : source, delayText(inhibitDelay, requestedNs)];
}

function delayText(delay: InhibitDelay, requestedNs: bigint): string {
  if (delay.kind === 'unknown') return `the inhibit delay is unknown: ${delay.reason}; without logind a shutdown does not wait`;
  const waits = `InhibitDelayMaxSec of logind is ${formatDuration(delay.maxNs)}`;
  if (suffices(delay, requestedNs)) return `${waits}: long enough`;
  return `${waits}: too short by ${formatDuration(neededDelayNs(requestedNs) - delay.maxNs)}; ${delayRemedy(delay, requestedNs)}`;
}

function neededNs(timeline: readonly ShutdownPhase[]): bigint {
  return timeline.at(-1)?.endsAtNs ?? 0n;
}

function shutdownJson({ timeline, requestedNs, inhibitDelay, leftAlone, unreadable, problems }: ShutdownReport): string {
  return jsonDocument({
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
    problems: problems.map(({ code, message, hint }) => ({ code, message, hint })),
  });
}

function seconds(ns: bigint): number {
  return Number(ns) / NS_PER_SECOND;
}
