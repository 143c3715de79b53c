import { amountOfBytes } from '../../core/quantity/amount.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { killedTogether, type OomCandidate } from '../../core/oom/oom-badness.js';
import type { OomComparison } from './oom-comparison.js';
import { protectionText, turnNumbers } from '../../core/rank/rank.js';
import { domainText, exemptText, kernelConclusion, notes, workloadRemark, type KernelReport } from './kernel-report.js';
import { problemLines } from '../../cli/output/ranking.js';
import type { Style } from '../../cli/output/style.js';
import { table } from '../../cli/output/table.js';
import { jsonDocument } from '../../core/name/json-text.js';

const PROCESSES = ['>#', '>PID', 'PROCESS', '>SCORE', '>ADJ', '>MEMORY', '>POINTS', 'WORKLOAD', ''];
const WORKLOADS = ['WORKLOAD', '>EVICTD', '>KERNEL', 'FIRST PROCESS', ''];

/**
 * Processes in the kernel's order, workloads in evictd's order with their place in the kernel's, then the conclusion.
 */
export function kernelText(report: KernelReport, style: Style): string {
  const { ranking, oom, comparison } = report;
  const { workloads } = comparison;
  const paint = (cell: string, row: number): string =>
    workloads[row]?.endangered ? style('yellow', cell) : row === -1 || workloads[row]?.ranked.protection ? style('dim', cell) : cell;
  const lines = [
    `OOM order of ${domainText(oom)} (${amountOfBytes(oom.domain.totalBytes)}, swap included)`,
    '',
    ...processTable(report, style),
    ...(workloads.length > 0
      ? [
          ...table(
            WORKLOADS,
            workloads.slice(0, report.limit).map((compared) => workloadRow(compared, report)),
            paint,
          ),
          ...rest(workloads, report),
          '',
        ]
      : []),
    kernelConclusion(report),
    exemptText(report),
    ...notes(report),
    ...problemLines(ranking.problems, style),
  ];
  return `${lines.join('\n')}\n`;
}

function processTable(report: KernelReport, style: Style): string[] {
  const { candidates } = report.order;
  if (candidates.length === 0) return [];
  const rows = candidates
    .slice(0, report.limit)
    .map(({ place, task, memory, pointsBytes }) => [
      String(place),
      String(task.pid),
      task.name,
      task.oomScore === undefined ? '?' : String(task.oomScore),
      String(task.oomScoreAdj),
      amountOfBytes(memory.rssBytes + memory.swapBytes + memory.pageTableBytes),
      amountOfBytes(pointsBytes),
      report.comparison.workloadOf(task)?.workload.name ?? '(none)',
      task.group === undefined ? '' : `with all of ${task.group}`,
    ]);
  const paint = (cell: string, row: number): string => (row === -1 ? style('dim', cell) : cell);
  return [...table(PROCESSES, rows, paint), ...rest(candidates, report), ''];
}

function rest(all: readonly unknown[], { limit }: KernelReport): string[] {
  return all.length > limit ? [`… and ${String(all.length - limit)} more (--limit ${String(all.length)} lists all)`] : [];
}

function workloadRow(compared: OomComparison, report: KernelReport): string[] {
  const { ranked, kernelPlace, by } = compared;
  return [
    ranked.workload.name,
    String(turnNumbers(report.ranking.ranked).get(ranked) ?? '-'),
    kernelPlace === undefined ? '-' : String(kernelPlace),
    by ? `${by.task.name} ${String(by.task.pid)}` : '-',
    workloadRemark(compared, report),
  ];
}

export function kernelJson(report: KernelReport): string {
  const { ranking, oom, order, comparison, limit } = report;
  const turnOf = turnNumbers(ranking.ranked);
  const [first] = order.candidates;
  return jsonDocument({
    domain: {
      cgroup: oom.domain.cgroup ?? null,
      requested: oom.instead ?? oom.domain.cgroup ?? null,
      cgroupVersion: oom.cgroupVersion ?? null,
      totalBytes: jsonInteger(oom.domain.totalBytes),
    },
    signal: ranking.signal,
    conclusion: kernelConclusion(report),
    notes: notes(report),
    wouldDie: first ? killedTogether(first, order).map(({ task }) => task.pid) : [],
    uncertainBytes: jsonInteger(oom.uncertainBytes),
    processesTotal: order.candidates.length,
    processes: order.candidates.slice(0, limit).map((candidate) => processJson(candidate, report)),
    exemptTotal: order.exempt.length,
    exempt: order.exempt
      .filter(({ exemption }) => exemption !== 'kernel-thread')
      .slice(0, limit)
      .map(({ task, exemption }) => ({ pid: task.pid, name: task.name, reason: exemption })),
    workloadsTotal: comparison.workloads.length,
    workloads: comparison.workloads.slice(0, limit).map((compared) => ({
      name: compared.ranked.workload.name,
      path: compared.ranked.workload.path,
      evictdPlace: turnOf.get(compared.ranked) ?? null,
      kernelPlace: compared.kernelPlace ?? null,
      byPid: compared.by?.task.pid ?? null,
      protection: compared.ranked.protection ? protectionText(compared.ranked.protection) : null,
      endangered: compared.endangered,
      remark: workloadRemark(compared, report) || null,
    })),
    problems: ranking.problems.map(({ code, message, hint }) => ({ code, message, hint })),
  });
}

function processJson({ place, task, memory, pointsBytes }: OomCandidate, { comparison }: KernelReport): Record<string, unknown> {
  return {
    place,
    pid: task.pid,
    name: task.name,
    oomScore: task.oomScore ?? null,
    oomScoreAdj: task.oomScoreAdj,
    pointsBytes: jsonInteger(pointsBytes),
    rssBytes: jsonInteger(memory.rssBytes),
    swapBytes: jsonInteger(memory.swapBytes),
    pageTableBytes: jsonInteger(memory.pageTableBytes),
    cgroup: task.cgroup ?? null,
    group: task.group ?? null,
    workload: comparison.workloadOf(task)?.workload.path ?? null,
  };
}
