import { amountOfBytes } from '../quantity/amount.js';
import { formatDuration } from '../quantity/duration.js';
import { protectionText } from '../rank/rank.js';
import { withAncestors } from '../workload/cgroup.js';
import type { Growth } from './growth.js';
import type { GrowthBase, MemoryHoldings } from './growth-base.js';

/** What has grown since a base, in the workloads and outside. */
export interface MemoryGrowth {
  readonly forNs: bigint;
  /** The largest first. */
  readonly growers: readonly MemoryGrower[];
  /** Cgroups below which something else may have grown, see MemoryHoldings. Left out: none. */
  readonly unread?: readonly string[];
}

export interface MemoryGrower {
  readonly kind: 'workload' | 'cgroup' | 'kernel' | 'tmpfs' | 'hugepages';
  /** The name of the workload, the path of the cgroup, the mount point of the tmpfs, or the field of /proc/meminfo. */
  readonly name: string;
  /** The reason why a workload may not be evicted. Left out: it may, or it is not a workload. */
  readonly protection?: string;
  readonly grownBytes: bigint;
}

interface MemoryCounter {
  readonly field: string;
  readonly kind: MemoryGrower['kind'];
  readonly text: string;
  /** How to see its users. */
  readonly hint: string;
}

/** The name of the memory that no field counts. It is computed from all fields. */
const UNACCOUNTED = 'Unaccounted';
const SHMEM = 'Shmem';

/** Fields of /proc/meminfo that count memory which is in no process (Documentation/filesystems/proc.rst). */
export const MEMORY_COUNTERS: readonly MemoryCounter[] = [
  { field: 'SUnreclaim', kind: 'kernel', text: 'kernel slab', hint: 'slabtop shows what' },
  { field: 'PageTables', kind: 'kernel', text: 'page tables', hint: 'VmPTE in /proc/PID/status' },
  { field: 'SecPageTables', kind: 'kernel', text: 'page tables of virtual machines', hint: 'KVM and IOMMU' },
  { field: 'KernelStack', kind: 'kernel', text: 'kernel stacks', hint: 'ps -eLf lists the threads' },
  { field: 'VmallocUsed', kind: 'kernel', text: 'kernel vmalloc', hint: '/proc/vmallocinfo shows what' },
  { field: 'Percpu', kind: 'kernel', text: 'kernel per-CPU memory', hint: 'many cgroups or network namespaces' },
  { field: 'Zswap', kind: 'kernel', text: 'the pool of zswap', hint: 'swapped memory, compressed' },
  { field: UNACCOUNTED, kind: 'kernel', text: 'kernel memory that no counter has', hint: 'zram, or a driver: network, graphics' },
  { field: 'Hugetlb', kind: 'hugepages', text: 'the pool of huge pages', hint: 'sysctl vm.nr_hugepages' },
  { field: SHMEM, kind: 'tmpfs', text: 'tmpfs', hint: 'or shared memory; df -t tmpfs -h shows mounts' },
];

/** Pages of users, and free ones. Cached has Shmem. */
const OTHER_FIELDS = ['MemFree', 'Buffers', 'Cached', 'SwapCached', 'AnonPages', 'SReclaimable'] as const;

/**
 * Bytes by the fields of {@link MEMORY_COUNTERS}. Unaccounted: MemTotal less all that is known. It may be too little, as
 * VmallocUsed has most of KernelStack.
 *
 * @param meminfo  /proc/meminfo
 */
export function memoryCounters(meminfo: string): ReadonlyMap<string, bigint> {
  const all = new Map([...meminfo.matchAll(/^(\w+): +(\d+) kB$/gm)].map(([, field = '', kib = '']) => [field, BigInt(kib) * 1024n]));
  const counted = MEMORY_COUNTERS.flatMap(({ field, kind }) => (kind === 'tmpfs' ? [] : [field]));
  const [total, ...others] = ['MemTotal', ...OTHER_FIELDS].map((field) => all.get(field));
  if (total !== undefined && !others.includes(undefined)) {
    const known = [...OTHER_FIELDS, ...counted].reduce((sum, field) => sum + (all.get(field) ?? 0n), 0n);
    all.set(UNACCOUNTED, total > known ? total - known : 0n);
  }
  return new Map(MEMORY_COUNTERS.flatMap(({ field }) => (all.has(field) ? [[field, all.get(field) ?? 0n]] : [])));
}

/** Growth below this is noise: the kernel adds up its counters late. */
export const MIN_BYTES = 1n << 20n;
/** A grower is named if it has grown by at least this part of what the largest has. */
const PART = 8n;
const MAX_GROWERS = 3;

/** @param after  left out: nothing outside the workloads was read */
export function memoryGrowth(base: GrowthBase, { workloads }: Growth, after: MemoryHoldings | undefined, nowNs: bigint): MemoryGrowth {
  const grown = workloads.map(({ item: { workload, protection }, grown: grownBytes }): MemoryGrower => {
    const why = protection === undefined ? {} : { protection: protectionText(protection) };
    return { kind: 'workload', name: workload.name, ...why, grownBytes };
  });
  const outside = base.outside === undefined || after === undefined ? [] : growthOutside(base.outside, after);
  const all = [...grown, ...outside].sort(byGrowth);
  const largest = all[0]?.grownBytes ?? 0n;
  const growers = all.filter(({ grownBytes }) => grownBytes >= MIN_BYTES && grownBytes * PART >= largest);
  const unread = [...new Set([...(base.outside?.unread ?? []), ...(after?.unread ?? [])])].sort();
  return { forNs: nowNs - base.atNs, growers: growers.slice(0, MAX_GROWERS), ...(unread.length > 0 && { unread }) };
}

function growthOutside(before: MemoryHoldings, after: MemoryHoldings): readonly MemoryGrower[] {
  const cgroups = [...after.cgroups].map(([name, bytes]): MemoryGrower => {
    const held = before.cgroups.get(name) ?? (isCounted(name, before) ? bytes : before.othersAtMost);
    return { kind: 'cgroup', name, grownBytes: bytes - held };
  });
  const tmpfs = tmpfsGrowth(before, after);
  const inTmpfs = tmpfs.reduce((sum, { grownBytes }) => sum + grownBytes, 0n);
  const counters = MEMORY_COUNTERS.map(({ field, kind }): MemoryGrower => {
    return { kind, name: field, grownBytes: counterGrowth(field, before, after) - (field === SHMEM ? inTmpfs : 0n) };
  });
  return [...cgroups, ...tmpfs, ...counters];
}

function counterGrowth(field: string, before: MemoryHoldings, after: MemoryHoldings): bigint {
  const bytes = after.counters.get(field) ?? 0n;
  return bytes - (before.counters.get(field) ?? bytes);
}

/**
 * The largest first. A machine's may have grown by more than Shmem, which has no swapped pages. Where the node is a cgroup,
 * others write to them, too: they count together at most by what is charged to the node.
 */
function tmpfsGrowth(before: MemoryHoldings, after: MemoryHoldings): readonly MemoryGrower[] {
  if (before.tmpfs === undefined) return [];
  let left = [...after.counters.keys()].some((field) => field !== SHMEM) ? undefined : counterGrowth(SHMEM, before, after);
  const grown: MemoryGrower[] = [];
  const all = [...(after.tmpfs ?? [])].map(([name, bytes]) => ({ name, bytes: bytes - (before.tmpfs?.get(name) ?? 0n) }));
  for (const { name, bytes } of all.sort((a, b) => (a.bytes < b.bytes ? 1 : -1))) {
    const grownBytes = left === undefined || bytes < left ? bytes : left;
    if (grownBytes < MIN_BYTES) break;
    grown.push({ kind: 'tmpfs', name, grownBytes });
    if (left !== undefined) left -= grownBytes;
  }
  return grown;
}

/** It may have been there: a cgroup above it was counted as a whole, or not all beside it were read. */
function isCounted(path: string, { cgroups, unread, above }: MemoryHoldings): boolean {
  const ancestors = withAncestors(path);
  const opened = ancestors.find((ancestor) => above.has(ancestor));
  return ancestors.some((ancestor) => cgroups.has(ancestor)) || (opened !== undefined && unread.includes(opened));
}

function byGrowth(a: MemoryGrower, b: MemoryGrower): number {
  if (a.grownBytes === b.grownBytes) return a.name < b.name ? -1 : 1;
  return a.grownBytes > b.grownBytes ? -1 : 1;
}

/** 'in the last 2s unit backup.service grew by 312MiB, kernel slab grew by 200MiB (slabtop shows what)'. Empty: nothing grew. */
export function growthText({ forNs, growers, unread = [] }: MemoryGrowth): string {
  if (growers.length === 0 && unread.length === 0) return '';
  const texts = growers.map(({ kind, name, protection, grownBytes }) => {
    const grew = `grew by ${amountOfBytes(grownBytes)}`;
    if (kind === 'workload') return `${name}${protection === undefined ? '' : ` (never evicted: ${protection})`} ${grew}`;
    const counter = kind === 'cgroup' ? undefined : counterOf(name);
    const text = counter?.text ?? (kind === 'tmpfs' ? `tmpfs ${name}` : cgroupText(name));
    return `${text} ${grew}${counter === undefined ? '' : ` (${counter.hint})`}`;
  });
  const [first] = unread;
  const others = unread.length > 1 ? ` and ${String(unread.length - 1)} more` : '';
  const missing = first === undefined ? '' : ` (not all cgroups below ${first}${others} were read)`;
  return `in the last ${formatDuration(tenths(forNs))} ${texts.join(', ') || 'nothing that was read grew'}${missing}`;
}

/** A cgroup of systemd has the name of its unit. */
function cgroupText(path: string): string {
  const unit = /[^/]+\.(?:service|scope|slice|socket|mount|swap)$/.exec(path)?.[0];
  return unit === undefined ? `cgroup ${path}` : `unit ${unit}`;
}

function counterOf(name: string): MemoryCounter | undefined {
  return MEMORY_COUNTERS.find(({ field }) => field === name);
}

const TENTH_NS = 100_000_000n;

/** Rounded up. */
function tenths(ns: bigint): bigint {
  return ((ns + TENTH_NS - 1n) / TENTH_NS) * TENTH_NS;
}
