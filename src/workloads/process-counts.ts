import { readFileSync } from 'node:fs';
import { cgroupDirectory, type CgroupHierarchy } from '../core/cgroup.js';

/**
 * How many process ids a cgroup and all below it have: as the pids controller counts them, threads included. Where it does not (it is switched off there, or, on
 * v1, the cgroup is not in its hierarchy or nobody was put into it) the processes that are listed. undefined: neither is known.
 *
 * @param pids  where the pids controller is; undefined: nowhere
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
