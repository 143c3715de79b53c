import type { OomScoreAdjMode } from '../../config/config.js';
import { amountOfBytes } from '../../core/amount.js';
import { diesWith, type OomCandidate, type OomExemption, type OomOrder } from '../../core/oom-badness.js';
import type { OomComparison, OomComparisons } from '../../core/oom-comparison.js';
import type { OomReading } from '../../core/oom-reading.js';
import { protectionText } from '../../core/rank.js';
import type { RankReport } from './ranking.js';

/** evictd's order and the kernel's, as they were read one after the other. */
export interface KernelReport {
  readonly ranking: RankReport;
  readonly oom: OomReading;
  readonly order: OomOrder;
  readonly comparison: OomComparisons;
  /** How many processes, and how many workloads, are listed. */
  readonly limit: number;
  /** Whether evictd marks workloads for the kernel: where it does not, that is the advice. */
  readonly oomScoreAdj: OomScoreAdjMode;
}

/** 'the machine', 'memcg /workload.slice/web'. */
export function domainText({ domain }: OomReading): string {
  return domain.cgroup === undefined ? 'the machine' : `memcg ${domain.cgroup}`;
}

/** Whom the kernel would take first, and whether evictd would take the same. */
export function kernelConclusion({ ranking, oom, order, comparison }: KernelReport): string {
  const [first] = order.candidates;
  if (first === undefined) return `${domainText(oom)}: the kernel finds nobody that it may kill`;
  const { pid, name } = first.task;
  const owner = comparison.workloadOf(first.task);
  const company = diesWith(first, order).length - 1;
  const others = company > 0 ? ` and the ${count(company, 'process', 'processes')} that memory.oom.group joins to it` : '';
  const kernel = `out of memory, the kernel would kill ${name} (pid ${String(pid)})${owner ? ` of ${owner.workload.name}` : ''}${others} first`;
  if (!ranking.configured) return `${kernel}; evictd has no workload source to compare with`;
  const victim = ranking.ranked.find(({ protection }) => protection === undefined);
  if (victim === undefined) return `${kernel}; evictd would evict nobody`;
  const hit = comparison.workloads.filter(({ by }) => by === first);
  const same = hit.length === 1 && hit[0]?.ranked === victim;
  return same ? `${kernel}, and evictd would evict the same workload` : `${kernel}; evictd would evict ${victim.workload.name}`;
}

/** What is to be said of a workload: nothing where both agree that it may go. */
export function workloadRemark({ ranked, kernelPlace, endangered }: OomComparison, { oomScoreAdj }: KernelReport): string {
  const { protection } = ranked;
  if (protection === undefined) return kernelPlace === undefined ? 'the kernel kills none of it' : '';
  const why = protection.kind === 'critical' ? 'critical' : `never evicted (${protectionText(protection)})`;
  const advice = oomScoreAdj === 'off' ? ': consider oomScoreAdj' : '';
  return endangered ? `${why}, but the kernel would kill it ${ordinal(kernelPlace ?? 0)}${advice}` : why;
}

/** Who is exempt, by why. */
export function exemptText({ order }: KernelReport): string {
  const of = (exemption: OomExemption): string[] =>
    order.exempt.filter((each) => each.exemption === exemption).map(({ task }) => `${task.name} ${String(task.pid)}`);
  const threads = of('kernel-thread').length;
  const ended = of('ended').length;
  const parts = [
    ...named('at oom_score_adj -1000', of('unkillable')),
    ...named('process 1', of('init')),
    ...named('already killed, or between vfork and exec', of('passed-over')),
    ...(ended > 0 ? [`${count(ended, 'process that has', 'processes that have')} ended`] : []),
    ...(threads > 0 ? [count(threads, 'kernel thread', 'kernel threads')] : []),
  ];
  return `never killed: ${parts.length > 0 ? parts.join('; ') : 'nobody is exempt'}`;
}

/** What may make it come otherwise than listed. */
export function notes({ oom, order }: KernelReport): string[] {
  const { settings, domain, instead, cgroupVersion } = oom;
  const memcg = domain.cgroup !== undefined;
  const [first, second] = order.candidates;
  return [
    ...(instead === undefined ? [] : [`${instead} has no limit of its own: it runs out of memory only where ${domainText(oom)} does`]),
    ...(settings.killDisabled
      ? [`memory.oom_control of ${domain.cgroup ?? '/'}: oom_kill_disable is set, so nobody is killed: processes wait`]
      : []),
    ...(settings.panic > (memcg ? 1 : 0) ? [`vm.panic_on_oom is ${String(settings.panic)}: the kernel panics instead of killing`] : []),
    ...(settings.killAllocating
      ? ['vm.oom_kill_allocating_task is set: the kernel kills whoever asks for memory, whatever its points']
      : []),
    ...(first && second && isClose(first, second, oom)
      ? [`${who(first)} and ${who(second)} are ${amountOfBytes(first.pointsBytes - second.pointsBytes)} apart: it may be either`]
      : []),
    ...(oom.boundToNodes > 0
      ? [`${count(oom.boundToNodes, 'process', 'processes')} may use some memory nodes only: passed over where another node is short`]
      : []),
    ...(oom.initialPidNamespace ? [] : ['seen from inside a container: the kernel also looks at processes that are not visible here']),
    ...(oom.unreadable > 0 ? [`${count(oom.unreadable, 'process', 'processes')} could not be read`] : []),
    ...(cgroupVersion === 1
      ? ['cgroup v1 has no memory.oom.group: the kernel kills one process, and its workload goes on without it']
      : []),
  ];
}

/** Each of the two may be off by what its counters hide. */
function isClose(first: OomCandidate, second: OomCandidate, { uncertainBytes }: OomReading): boolean {
  const together = first.task.group !== undefined && first.task.group === second.task.group;
  return !together && first.pointsBytes - second.pointsBytes <= uncertainBytes;
}

const NAMED_AT_MOST = 5;

function named(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > NAMED_AT_MOST ? [`${String(names.length - NAMED_AT_MOST)} more`] : [];
  return [`${what}: ${[...names.slice(0, NAMED_AT_MOST), ...more].join(', ')}`];
}

function who({ task }: OomCandidate): string {
  return `${task.name} (pid ${String(task.pid)})`;
}

function count(amount: number, one: string, many: string): string {
  return `${String(amount)} ${amount === 1 ? one : many}`;
}

/** '1st', '2nd', '3rd', '11th'. */
export function ordinal(place: number): string {
  const teen = place % 100 >= 11 && place % 100 <= 13;
  const ending = teen ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th');
  return `${String(place)}${ending}`;
}
