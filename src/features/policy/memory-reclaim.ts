import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { errnoName } from '../../errors.js';
import { CgroupDirectory } from '../../host/linux/cgroup/cgroup-directory.js';

/** A cgroup, and how much of its memory may be reclaimed. */
export interface ReclaimTarget {
  readonly path: string;
  /** Inode of its directory; undefined: whichever has the name. */
  readonly id: bigint | undefined;
  readonly excessBytes: bigint;
}

export interface ReclaimPlan {
  readonly targets: readonly ReclaimTarget[];
  readonly memoryBytes: bigint;
  /** Monotonic. No write begins after it. */
  readonly untilNs: bigint;
}

export interface ReclaimYield {
  readonly freedBytes: bigint;
  /** The time was over before enough was freed. */
  readonly isLate: boolean;
  /** One error for each cgroup from which nothing was freed. */
  readonly errors: readonly string[];
}

/** The bytes of one write, which cannot be interrupted: a disk may be slow. */
const PART_BYTES = 8n * 1024n * 1024n;

/** Writes memory.reclaim in parts, each on a worker thread, one cgroup after another. Never rejects. */
export async function reclaimMemory(hierarchy: CgroupHierarchy, { targets, memoryBytes, untilNs }: ReclaimPlan): Promise<ReclaimYield> {
  let freedBytes = 0n;
  const errors: string[] = [];
  const isLate = (): boolean => process.hrtime.bigint() >= untilNs;
  for (const target of targets) {
    if (freedBytes >= memoryBytes || isLate()) break;
    const left = memoryBytes - freedBytes;
    const most = target.excessBytes < left ? target.excessBytes : left;
    let cgroup: CgroupDirectory | undefined;
    let freed = 0n;
    try {
      cgroup = new CgroupDirectory(cgroupDirectory(hierarchy, target.path), target.id);
      while (freed < most && !isLate()) {
        const part = most - freed < PART_BYTES ? most - freed : PART_BYTES;
        const found = await reclaimPart(cgroup, part);
        freed += found;
        if (found < part) break;
      }
    } catch (error) {
      errors.push(`${target.path}: ${whyNot(error)}`);
    } finally {
      cgroup?.close();
    }
    freedBytes += freed;
  }
  return { freedBytes, isLate: freedBytes < memoryBytes && isLate(), errors };
}

/** Returns what was freed. The kernel reports EAGAIN where that is less than the part. */
async function reclaimPart(cgroup: CgroupDirectory, part: bigint): Promise<bigint> {
  const before = BigInt(cgroup.read('memory.current'));
  try {
    await cgroup.writeApart('memory.reclaim', String(part));
    return part;
  } catch (error) {
    if (errnoName(error) !== 'EAGAIN') throw error;
    const freed = before - BigInt(cgroup.read('memory.current'));
    return freed < 0n ? 0n : freed < part ? freed : part - 1n;
  }
}

function whyNot(error: unknown): string {
  const name = errnoName(error);
  if (name === 'ENOENT') return 'it was removed, or this kernel has no memory.reclaim (Linux 5.19)';
  return name ?? String(error);
}
