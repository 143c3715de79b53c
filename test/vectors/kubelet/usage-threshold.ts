import { DocumentError } from '../../../src/errors.js';
import { usageThreshold } from '../../../src/core/signal/memcg.js';
import type { Signal } from '../../../src/core/signal/signal.js';
import { resolve, type ThresholdValue } from '../../../src/core/threshold/threshold.js';
import { documentOf, member, type Field } from '../../../src/kubernetes/document.js';
import { memoryStatsOf, systemContainer } from '../../../src/kubernetes/memory-stats.js';

const NANO = 1_000_000_000n;

/**
 * The usage of the memory cgroup, in bytes, at which to look again (kubelet: eviction/threshold_notifier_linux.go,
 * UpdateThreshold, v1.36.2).
 *
 * Usage − working set is the inactive file memory; counts are unsigned and their sums and differences wrap around as 64
 * bit numbers.
 *
 * @param signal  allocatableMemory.available: of the cgroup of all pods; every other: of the node
 * @throws DocumentError  the summary is none, or has not all of the numbers: then with the kubelet's message
 */
export function summaryUsageThreshold(summary: unknown, signal: Signal, threshold: ThresholdValue): bigint {
  const stats = memoryOf(member(documentOf(summary), 'node'), signal);
  const { availableBytes, usageBytes, workingSetBytes } = memoryStatsOf(stats);
  if (availableBytes === undefined || usageBytes === undefined || workingSetBytes === undefined)
    throw new DocumentError(`summary was incomplete.  Expected MemoryStats and all subfields to be non-nil, but got ${stats.path}`, {
      path: stats.path,
    });
  const capacity = int64(availableBytes + workingSetBytes);
  const inactiveFile = int64(usageBytes - workingSetBytes);
  const usage = usageThreshold(capacity, roundedDown(threshold, capacity), inactiveFile);
  // A part of a byte is rounded away from zero: the other way below it.
  return int64(usage > 0n ? usage : usageThreshold(capacity, resolve(threshold, capacity), inactiveFile));
}

function memoryOf(node: Field, signal: Signal): Field {
  if (signal !== 'allocatableMemory.available') return member(node, 'memory');
  const pods = systemContainer(node, 'pods');
  if (pods === undefined)
    throw new DocumentError('system container "pods" not found in metrics', { path: member(node, 'systemContainers').path });
  return member(pods, 'memory');
}

/** A positive result is rounded up, so what is subtracted is rounded down. */
function roundedDown(threshold: ThresholdValue, capacity: bigint): bigint {
  return threshold.kind === 'quantity' ? threshold.quantity.nano / NANO : resolve(threshold, capacity);
}

function int64(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}
