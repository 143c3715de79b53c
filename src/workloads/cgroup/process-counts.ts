import { readFileSync } from 'node:fs';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';

/**
 * Process ids of a cgroup and all below, as the pids controller counts them, threads included. If the controller has no
 * count (switched off, or on v1 not in that hierarchy), the number of listed processes. undefined: neither is known.
 *
 * @param pids  undefined: there is no pids controller
 */
export function processCount(
  pids: CgroupHierarchy | undefined,
  path: string,
  listed: () => readonly number[] | undefined,
): bigint | undefined {
  const counted = pids && countedBy(pids, path);
  if (counted !== undefined && counted > 0n) return counted;
  const processes = listed();
  return processes && BigInt(processes.length);
}

function countedBy(pids: CgroupHierarchy, path: string): bigint | undefined {
  try {
    return BigInt(readFileSync(`${cgroupDirectory(pids, path)}/pids.current`, 'utf8').trim());
  } catch {
    return undefined;
  }
}
