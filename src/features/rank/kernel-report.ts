import type { OomScoreAdjMode } from '../../config/config.js';
import { amountOfBytes } from '../../core/quantity/amount.js';
import { killedTogether, type OomCandidate, type OomExemption, type OomOrder } from '../../core/oom/oom-badness.js';
import type { OomComparison, OomComparisons } from './oom-comparison.js';
import type { OomReading } from '../../core/oom/oom-reading.js';
import { protectionText } from '../../core/rank/rank.js';
import type { RankReport } from '../../cli/output/ranking.js';
import { ordinal } from '../../core/message/unit-message.js';

/** evictd's order and the kernel's, read one after the other. */
export interface KernelReport {
  readonly ranking: RankReport;
  readonly oom: OomReading;
  readonly order: OomOrder;
  readonly comparison: OomComparisons;
  /** Limit of the listed processes, and of the listed workloads. */
  readonly limit: number;
  /** If off, the report recommends it. */
  readonly oomScoreAdj: OomScoreAdjMode;
}

/** 'the machine', 'memcg /workload.slice/web'. */
export function domainText({ domain }: OomReading): string {
  return domain.cgroup === undefined ? 'the machine' : `memcg ${domain.cgroup}`;
}

/** The first process that the kernel would kill, and whether evictd would evict the same workload. */
export function kernelConclusion({ ranking, oom, order, comparison }: KernelReport): string {
  const [first] = order.candidates;
  if (first === undefined) return `${domainText(oom)}: the kernel finds no process that it may kill`;
  const { pid, name } = first.task;
  const owner = comparison.workloadOf(first.task);
  const company = killedTogether(first, order).length - 1;
  const others = company > 0 ? ` and the ${count(company, 'other process', 'other processes')} of its memory.oom.group` : '';
  const kernel = `when memory runs out, the kernel kills ${name} (pid ${String(pid)})${owner ? ` of ${owner.workload.name}` : ''}${others} first`;
  if (!ranking.configured) return `${kernel}; no workload source is configured, so there is no eviction order to compare with`;
  const victim = ranking.ranked.find(({ protection }) => protection === undefined);
  if (victim === undefined) return `${kernel}; evictd would evict nothing`;
  const hit = comparison.workloads.filter(({ by }) => by === first);
  const same = hit.length === 1 && hit[0]?.ranked === victim;
  return same ? `${kernel}; evictd would evict the same workload` : `${kernel}; evictd would evict ${victim.workload.name}`;
}

/** Empty if neither evictd nor the kernel protects the workload. */
export function workloadRemark({ ranked, kernelPlace, endangered }: OomComparison, { oomScoreAdj }: KernelReport): string {
  const { protection } = ranked;
  if (protection === undefined) return kernelPlace === undefined ? 'the kernel kills none of its processes' : '';
  const why = protection.kind === 'critical' ? 'critical' : `never evicted (${protectionText(protection)})`;
  const advice = oomScoreAdj === 'off' ? ': consider oomScoreAdj' : '';
  return endangered ? `${why}, but the kernel would kill it ${ordinal(kernelPlace ?? 0)}${advice}` : why;
}

/** Processes that the kernel never kills, by reason. */
export function exemptText({ order }: KernelReport): string {
  const of = (exemption: OomExemption): string[] =>
    order.exempt.filter((each) => each.exemption === exemption).map(({ task }) => `${task.name} (pid ${String(task.pid)})`);
  const threads = of('kernel-thread').length;
  const ended = of('ended').length;
  const parts = [
    ...named('oom_score_adj -1000', of('unkillable')),
    ...named('init', of('init')),
    ...named('already killed, or between vfork and exec', of('passed-over')),
    ...(ended > 0 ? [count(ended, 'exited process', 'exited processes')] : []),
    ...(threads > 0 ? [count(threads, 'kernel thread', 'kernel threads')] : []),
  ];
  return `never killed: ${parts.length > 0 ? parts.join('; ') : 'no process is exempt'}`;
}

/** Why the kernel may choose differently. */
export function notes({ oom, order }: KernelReport): string[] {
  const { settings, domain, instead, cgroupVersion } = oom;
  const memcg = domain.cgroup !== undefined;
  const [first, second] = order.candidates;
  return [
    ...(instead === undefined ? [] : [`${instead} has no memory limit of its own: this is the order for an OOM of ${domainText(oom)}`]),
    ...(settings.killDisabled
      ? [`memory.oom_control of ${domain.cgroup ?? '/'}: oom_kill_disable is set: processes wait, and the kernel kills none`]
      : []),
    ...(settings.panic > (memcg ? 1 : 0) ? [`vm.panic_on_oom is ${String(settings.panic)}: the kernel panics instead of killing`] : []),
    ...(settings.killAllocating
      ? ['vm.oom_kill_allocating_task is set: the kernel kills the process that allocates, whatever its points']
      : []),
    ...(first && second && isClose(first, second, oom)
      ? [
          `${processText(first)} and ${processText(second)} differ by only ${amountOfBytes(first.pointsBytes - second.pointsBytes)}: the kernel may choose either`,
        ]
      : []),
    ...(oom.boundToNodes > 0
      ? [`${count(oom.boundToNodes, 'process', 'processes')} may use some NUMA nodes only: not killed if another node is short`]
      : []),
    ...(oom.initialPidNamespace ? [] : ['in a container: the kernel also compares processes that are invisible here']),
    ...(oom.unreadable > 0 ? [`${count(oom.unreadable, 'process', 'processes')} could not be read`] : []),
    ...(cgroupVersion === 1
      ? ['cgroup v1 has no memory.oom.group: the kernel kills one process, and the rest of its workload keeps running']
      : []),
  ];
}

/** Closer than the error of the counters. */
function isClose(first: OomCandidate, second: OomCandidate, { uncertainBytes }: OomReading): boolean {
  const together = first.task.group !== undefined && first.task.group === second.task.group;
  return !together && first.pointsBytes - second.pointsBytes <= uncertainBytes;
}

const MAX_NAMED = 5;

function named(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMED ? [`${String(names.length - MAX_NAMED)} more`] : [];
  return [`${what}: ${[...names.slice(0, MAX_NAMED), ...more].join(', ')}`];
}

function processText({ task }: OomCandidate): string {
  return `${task.name} (pid ${String(task.pid)})`;
}

function count(amount: number, one: string, many: string): string {
  return `${String(amount)} ${amount === 1 ? one : many}`;
}
