import { readFileSync } from 'node:fs';
import type { MemoryReserve } from '../../../core/signal/memory-reserve.js';
import { normalCgroupPath, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { Binding } from '../../../native/binding.js';
import type { Missing } from '../sampling/kernel-source.js';
import { cgroupPlan, MemoryNotifiers } from './memory-notifiers.js';
import { allocatableMemory, type MemorySource } from './memory.js';
import { notifierMode, type NotifierMode } from '../sampling/notifier-mode.js';

/**
 * Memory that no process can have, from /proc/meminfo and /proc/sys/vm/min_free_kbytes.
 *
 * Hugetlb is the size of all pools; kernels before 4.16 have only HugePages_Total × Hugepagesize, the default pool. The
 * kernel's own memory is SUnreclaim, stacks, page tables and per-CPU areas; pages that a driver took from the page
 * allocator are listed nowhere.
 *
 * @returns undefined where a file is not as expected
 */
export function parseMemoryReserve(meminfo: string, minFreeKbytes: string): MemoryReserve | undefined {
  const fields = new Map([...meminfo.matchAll(/^(\S+):\s+(\d+)/gm)].map(([, key = '', value = '']) => [key, BigInt(value)]));
  const kilobytes = (key: string): bigint => (fields.get(key) ?? 0n) * 1024n;
  const totalBytes = kilobytes('MemTotal');
  const minFree = /^\d+$/.exec(minFreeKbytes.trim())?.[0];
  if (totalBytes === 0n || minFree === undefined) return undefined;
  return {
    totalBytes,
    minFreeBytes: BigInt(minFree) * 1024n,
    hugePagesBytes: fields.has('Hugetlb') ? kilobytes('Hugetlb') : (fields.get('HugePages_Total') ?? 0n) * kilobytes('Hugepagesize'),
    kernelBytes: ['SUnreclaim', 'KernelStack', 'PageTables', 'SecPageTables', 'Percpu'].reduce((sum, key) => sum + kilobytes(key), 0n),
  };
}

/** undefined: not readable, or not as expected. */
export function readMemoryReserve(): MemoryReserve | undefined {
  try {
    return parseMemoryReserve(readFileSync('/proc/meminfo', 'latin1'), readFileSync('/proc/sys/vm/min_free_kbytes', 'latin1'));
  } catch {
    return undefined;
  }
}

const AT_PAGESZ = 6n;

/** The kernel's page size in bytes, from the auxiliary vector (man 3 getauxval): pairs of native words. */
export function parsePageSize(auxv: Buffer): bigint | undefined {
  for (let at = 0; at + 16 <= auxv.length; at += 16) {
    if (auxv.readBigUInt64LE(at) === AT_PAGESZ) return auxv.readBigUInt64LE(at + 8);
  }
  return undefined;
}

/** 4 KiB where it is unknown: a page size that is too small registers a little early, never too late. */
export function readPageSize(): bigint {
  return parsePageSize(readFileSync('/proc/self/auxv')) ?? 4096n;
}

/** allocatableMemory.available: what is left of the memory that all workloads share. */
export interface Allocatable {
  readonly memory: MemorySource;
  readonly notifiers: MemoryNotifiers;
}

/** The cgroup need not exist yet: until then nothing is read or armed. */
export function openAllocatable(
  config: { readonly cgroup: string; readonly capacity: bigint } | undefined,
  hierarchy: CgroupHierarchy | undefined,
  native: Binding,
  mode: NotifierMode,
): Allocatable | Missing {
  // as on a kubelet without its pods cgroup
  if (config === undefined) return { missing: 'needs allocatable: {cgroup, capacity}', absent: true };
  if (hierarchy === undefined) return { missing: 'this machine has no cgroup memory controller' };
  const path = normalCgroupPath(config.cgroup);
  const memory = allocatableMemory(hierarchy, path, config.capacity);
  const plan = cgroupPlan('allocatableMemory.available', hierarchy, path, memory, undefined); // v1: the node watches the machine's pressure
  return { memory, notifiers: new MemoryNotifiers(...notifierMode(mode, plan, native)) };
}

/** A cgroup with a memory.stat. */
export interface StatisticsOf {
  readonly directory: string;
  readonly version: 1 | 2;
}
