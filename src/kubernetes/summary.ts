import type { Observation, Observations } from '../core/signal/observation.js';
import { KUBELET_SIGNALS, type KubeletSignal, type Signal } from '../core/signal/signal.js';
import { documentOf, integerOf, isAbsent, items, member, timeOf, wrong, type Field } from './document.js';
import { memoryStatsOf, systemContainer } from './memory-stats.js';

/** The system of the node. On Windows the node's memory is its commit charge. */
export type NodeOs = 'linux' | 'windows';

const COMMIT_MEMORY = 'windows-global-commit-memory';

/** The system, by the commit charge, which only the kubelet of Windows reports. */
export function osOf(summary: unknown): NodeOs {
  return systemContainer(member(documentOf(summary), 'node'), COMMIT_MEMORY) === undefined ? 'linux' : 'windows';
}

/** An observation, or why there is none. */
type Reading = Observation | string;

/**
 * The signals of a summary (/stats/summary as JSON), as in the kubelet v1.36.2 (eviction/helpers.go,
 * makeSignalObservations).
 *
 * Nothing is checked for plausibility. Counts are unsigned and read as signed, so those from 2^63 on are negative, and
 * sums wrap around. The names of missing numbers are those of the summary.
 *
 * @throws DocumentError  for counts that are negative, broken or wider than 64 bits, and for invalid times
 */
export function makeSignalObservations(summary: unknown, os: NodeOs): Observations {
  const document = documentOf(summary);
  if (isAbsent(document)) throw wrong(document, 'a summary');
  const node = member(document, 'node');
  const runtime = member(node, 'runtime');
  items(member(document, 'pods')); // checks the type
  const readings: Readonly<Record<KubeletSignal, Reading>> = {
    'memory.available': os === 'windows' ? commitMemory(node) : memory(member(node, 'memory')),
    'allocatableMemory.available': podsMemory(node),
    'nodefs.available': bytes(member(node, 'fs')),
    'nodefs.inodesFree': inodes(member(node, 'fs')),
    'imagefs.available': bytes(member(runtime, 'imageFs')),
    'imagefs.inodesFree': inodes(member(runtime, 'imageFs')),
    'containerfs.available': bytes(member(runtime, 'containerFs')),
    'containerfs.inodesFree': inodes(member(runtime, 'containerFs')),
    'pid.available': processes(member(node, 'rlimit')),
  };
  const observed = new Map<Signal, Observation>();
  const missing = new Map<Signal, string>();
  for (const signal of KUBELET_SIGNALS) {
    const reading = readings[signal];
    if (typeof reading === 'string') missing.set(signal, reading);
    else observed.set(signal, reading);
  }
  return { observed, missing };
}

function memory(stats: Field): Reading {
  const { availableBytes, workingSetBytes, timeNs } = memoryStatsOf(stats);
  if (availableBytes === undefined) return isMissing(stats, 'availableBytes');
  if (workingSetBytes === undefined) return isMissing(stats, 'workingSetBytes');
  return observation(stats, availableBytes, availableBytes + workingSetBytes, timeNs);
}

function podsMemory(node: Field): Reading {
  const pods = systemContainer(node, 'pods');
  return pods === undefined ? 'node.systemContainers of the summary has no "pods"' : memory(member(pods, 'memory'));
}

function commitMemory(node: Field): Reading {
  const commit = systemContainer(node, COMMIT_MEMORY);
  if (commit === undefined) return `node.systemContainers of the summary has no "${COMMIT_MEMORY}"`;
  const stats = member(commit, 'memory');
  const { availableBytes, usageBytes, timeNs } = memoryStatsOf(stats);
  if (availableBytes === undefined) return isMissing(stats, 'availableBytes');
  if (usageBytes === undefined) return isMissing(stats, 'usageBytes');
  return observation(stats, availableBytes, availableBytes + usageBytes, timeNs);
}

function bytes(filesystem: Field): Reading {
  return counted(filesystem, 'availableBytes', 'capacityBytes');
}

function inodes(filesystem: Field): Reading {
  return counted(filesystem, 'inodesFree', 'inodes');
}

function counted(filesystem: Field, free: string, total: string): Reading {
  const available = integerOf(member(filesystem, free), 'uint64');
  const capacity = integerOf(member(filesystem, total), 'uint64');
  if (available === undefined) return isMissing(filesystem, free);
  if (capacity === undefined) return isMissing(filesystem, total);
  return observation(filesystem, available, capacity, timeOf(member(filesystem, 'time')));
}

/** Negative if more processes run than the limit allows. */
function processes(rlimit: Field): Reading {
  const limit = integerOf(member(rlimit, 'maxpid'), 'int64');
  const running = integerOf(member(rlimit, 'curproc'), 'int64');
  if (limit === undefined) return isMissing(rlimit, 'maxpid');
  if (running === undefined) return isMissing(rlimit, 'curproc');
  return observation(rlimit, limit - running, limit, timeOf(member(rlimit, 'time')));
}

function observation(from: Field, available: bigint, capacity: bigint, timeNs: bigint | undefined): Observation {
  return { available: signed(available), capacity: signed(capacity), timeNs, source: `${from.path} of the summary` };
}

function signed(count: bigint): bigint {
  return BigInt.asIntN(64, count);
}

function isMissing(from: Field, name: string): string {
  return `the summary has no ${member(from, name).path}`;
}
