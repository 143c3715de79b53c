import { countedBy } from '../../core/rank/candidate-usages.js';
import { amountOfBytes, amountOfResource } from '../../core/quantity/amount.js';
import { holderJson, holderLine } from '../../core/disk/disk-holder.js';
import { type DiskHolder } from '../../core/disk/filesystem-holders.js';
import type { DiskHolding } from '../../core/disk/disk-amount.js';
import { formatAge } from '../../core/quantity/duration.js';
import { jsonInteger, jsonOfNano, NANO } from '../../core/quantity/integer.js';
import { describeRanked, protectionText, turnNumbers, type RankedWorkload } from '../../core/rank/rank.js';
import { isDiskSignal, SIGNAL_FACTS, type ResourceSignal } from '../../core/signal/signal.js';
import type { UnreadableWorkload, WorkloadUsage } from '../../core/workload/workload.js';
import type { NodeIdentity, SourceProblem } from '../../monitor/ports/ports.js';
import type { Style } from './style.js';
import { table } from './table.js';
import { jsonDocument } from '../../core/name/json-text.js';
import { printable } from '../../core/name/printable.js';
import { withHint } from '../../errors.js';

export interface RankReport {
  readonly signal: ResourceSignal;
  readonly node: NodeIdentity;
  /** Whether an eviction helps this signal. */
  readonly evictable: boolean;
  /** Whether a workload source is configured. */
  readonly configured: boolean;
  readonly ranked: readonly RankedWorkload[];
  /** Cgroups without a process: they may hold memory, but cannot be evicted. */
  readonly vacant: readonly WorkloadUsage[];
  readonly unreadable: readonly UnreadableWorkload[];
  readonly problems: readonly SourceProblem[];
  /** The largest users of a disk, workloads or not; undefined: not measured. */
  readonly holders?: readonly DiskHolder[] | undefined;
}

const COLUMNS = ['>#', 'WORKLOAD', '>PRIORITY', '>USAGE', '>REQUEST', '>OVER REQUEST', ''];

/** Process IDs have no requests. */
const PIDS_COLUMNS = COLUMNS.filter((heading) => !heading.endsWith('REQUEST'));
/** Disks have no requests; the order follows what an eviction frees. */
const DISK_COLUMNS = ['>#', 'WORKLOAD', '>PRIORITY', '>USAGE', '>FREES', '>MEASURED', ''];

/** Workloads in eviction order, the conclusion, and what could not be ranked. */
export function rankText(report: RankReport, style: Style): string {
  const { ranked, unreadable, problems } = report;
  const { resource } = SIGNAL_FACTS[report.signal];
  const amount = (nano: bigint): string => (nano > 0n ? amountOfResource(resource, nano / NANO) : '-');
  const onDisk = isDiskSignal(report.signal);
  const turnOf = turnNumbers(ranked);
  const shown = evictableFirst(ranked);
  const rows = shown.map((item) => {
    const { workload, usage, requestNano, aboveRequestNano, priority, protection, holding } = item;
    return [
      String(turnOf.get(item) ?? '-'),
      workload.name,
      String(priority),
      usage === undefined ? '?' : amountOfResource(resource, usage),
      ...(onDisk
        ? holding
          ? [amountOfResource(resource, countedBy(report.signal, holding.frees)), formatAge(ageOf(holding))]
          : ['?', '?']
        : resource === 'pids'
          ? []
          : [amount(requestNano), amount(aboveRequestNano)]),
      protection ? `never evicted: ${protectionText(protection)}` : '',
    ];
  });
  const paint = (cell: string, row: number): string => (row === -1 || shown[row]?.protection ? style('dim', cell) : cell);
  const lines = [
    ...(rows.length > 0 ? [...table(onDisk ? DISK_COLUMNS : resource === 'pids' ? PIDS_COLUMNS : COLUMNS, rows, paint), ''] : []),
    ...[
      conclusion(report),
      ...(report.holders ?? []).map(holderLine),
      ...vacantLines(report),
      ...unreadable.map(({ name, reason }) => `left out: ${name}: ${reason}`),
    ].map(printable),
    ...problemLines(problems, style),
  ];
  return `${lines.join('\n')}\n`;
}

function evictableFirst(ranked: readonly RankedWorkload[]): readonly RankedWorkload[] {
  return [...ranked].sort((a, b) => Number(a.protection !== undefined) - Number(b.protection !== undefined));
}

export function problemLines(problems: readonly SourceProblem[], style: Style): string[] {
  return problems.map(({ code, message, hint }) => `${printable(withHint(message, hint))} ${style('dim', `[${code}]`)}`);
}

/** The first workload to be evicted, and why. */
function conclusion({ signal, evictable, configured, ranked, vacant }: RankReport): string {
  if (!evictable)
    return `${signal}: no eviction is known to free ${SIGNAL_FACTS[signal].resource}; a threshold sets the condition and evicts nothing`;
  if (!configured)
    return 'nothing is evictable: no workload source is configured (set workloads in the configuration, or use --workload-cgroup or --workload-slice)';
  const first = victimOf(ranked);
  if (first) return `${signal}: ${first.workload.name} would be evicted first: it ${describeRanked(first, SIGNAL_FACTS[signal].resource)}`;
  if (ranked.length > 0) {
    const freesNothing = ranked.some(({ protection }) => protection?.kind === 'frees-nothing');
    return `nothing is evictable: every workload is protected${freesNothing ? ` or frees nothing for ${signal}` : ''}`;
  }
  const empty = vacant.length === 1 ? '1 cgroup has no process' : `${String(vacant.length)} cgroups have no process`;
  return `nothing is evictable: there is no workload${vacant.length > 0 ? ` (${empty})` : ''}`;
}

function victimOf(ranked: readonly RankedWorkload[]): RankedWorkload | undefined {
  return ranked.find(({ protection }) => protection === undefined);
}

const VACANT_LISTED = 20;

/** Memory that no eviction frees, mostly files in a tmpfs. */
function vacantLines({ vacant }: RankReport): string[] {
  const uses = (bytes: bigint | undefined): string => (bytes === undefined ? 'an unknown amount' : amountOfBytes(bytes));
  const listed = largestFirst(vacant).slice(0, VACANT_LISTED);
  const more = vacant.length - listed.length;
  const total = vacant.reduce((sum, { stats }) => sum + (stats?.workingSetBytes ?? 0n), 0n);
  return [
    ...listed.map(({ workload, stats }) => `no process: ${workload.path} uses ${uses(stats?.workingSetBytes)}`),
    ...(vacant.length > 1
      ? [`no process: ${more > 0 ? `${String(more)} more; ` : ''}all ${String(vacant.length)} use ${uses(total)}`]
      : []),
  ];
}

function largestFirst(vacant: readonly WorkloadUsage[]): readonly WorkloadUsage[] {
  const used = ({ stats }: WorkloadUsage): bigint => stats?.workingSetBytes ?? 0n;
  return [...vacant].sort((a, b) => Number(used(b) - used(a)) || (a.workload.path < b.workload.path ? -1 : 1));
}

/** The values that the order compares. null: unknown. */
function amountsOf(signal: ResourceSignal, item: RankedWorkload): Record<string, unknown> {
  if (isDiskSignal(signal)) return onDisk(item);
  return SIGNAL_FACTS[signal].resource === 'pids' ? { processes: amountOrNull(item.usage) } : inMemory(item);
}

function inMemory({ aboveRequestNano, usage, stats, requestNano, swapped, stays }: RankedWorkload): Record<string, unknown> {
  return {
    aboveRequestBytes: jsonOfNano(aboveRequestNano),
    workingSetBytes: amountOrNull(usage === undefined ? undefined : usage - (swapped ?? 0n)),
    usageBytes: amountOrNull(stats?.usageBytes),
    ...(stays !== undefined && { staysBytes: amountOrNull(stays) }),
    ...(swapped !== undefined && { swapBytes: amountOrNull(swapped) }),
    requestBytes: jsonOfNano(requestNano),
  };
}

function onDisk({ holding }: RankedWorkload): Record<string, unknown> {
  return {
    usesBytes: amountOrNull(holding?.uses.bytes),
    usesInodes: amountOrNull(holding?.uses.inodes),
    freesBytes: amountOrNull(holding?.frees.bytes),
    freesInodes: amountOrNull(holding?.frees.inodes),
    measuredSecondsAgo: holding ? Number(ageOf(holding) / 1_000_000n) / 1e3 : null,
  };
}

function ageOf({ atNs }: DiskHolding): bigint {
  return process.hrtime.bigint() - atNs;
}

function amountOrNull(bytes: bigint | undefined): ReturnType<typeof jsonInteger> | null {
  return bytes === undefined ? null : jsonInteger(bytes);
}

export function rankJson(report: RankReport): string {
  const { signal, node, evictable, ranked, vacant, unreadable, problems } = report;
  const turnOf = turnNumbers(ranked);
  return jsonDocument({
    signal,
    node: { name: node.name, cgroup: node.cgroup ?? null, cgroupVersion: node.cgroupVersion ?? null },
    evictable,
    victim: victimOf(ranked)?.workload.name ?? null,
    conclusion: conclusion(report),
    workloads: evictableFirst(ranked).map((item) => ({
      place: turnOf.get(item) ?? null,
      name: item.workload.name,
      path: item.workload.path,
      exceedsRequest: item.exceedsRequest,
      priority: item.priority,
      ...amountsOf(signal, item),
      protection: item.protection ? protectionText(item.protection) : null,
      reasons: describeRanked(item, SIGNAL_FACTS[signal].resource),
    })),
    ...(report.holders && { holders: report.holders.map(holderJson) }),
    vacant: largestFirst(vacant).map(({ workload: { name, path }, stats }) => ({
      name,
      path,
      workingSetBytes: amountOrNull(stats?.workingSetBytes),
      usageBytes: amountOrNull(stats?.usageBytes),
    })),
    unreadable: unreadable.map(({ name, path, reason }) => ({ name, path, reason })),
    problems: problems.map(({ code, message, hint }) => ({ code, message, hint })),
  });
}
