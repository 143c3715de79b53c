import { availableParallelism } from 'node:os';

/**
 * What one core can take in a second, as long as the machine has not shown that it can do more: a process that touches pages of 4 KiB fills 1.5 to 2.5 GB, and what is
 * written to a disk is first a page, too; a file is made in some µs, a task in some tens of µs. Huge pages are several times faster, and so may be a disk that is
 * filled without being written to (fallocate): the sampler looks at a quarter of the time that a crossing would take at this rate, and learns.
 */
const PER_CORE = { bytes: 2.5e9, inodes: 200_000, processes: 30_000 } as const;

/**
 * A disk at rest is looked at once in this time at most, however small it is or however near its limit. Nobody is killed when a disk is full, and what fills it
 * faster has filled it before anything could be done about it.
 */
export const DISK_REST_MS = 1_000;

/** The rate at which a sampler expects the machine to be filled before it has seen more, in units per second. */
export function assumedFillRate(unit: keyof typeof PER_CORE): number {
  return PER_CORE[unit] * availableParallelism();
}
