import { availableParallelism } from 'node:os';
import type { Binding } from '../../../native/binding.js';

/** The unit of a sampled value. `memory` and `disk` are in bytes. */
export type FilledUnit = 'memory' | 'disk' | 'inodes' | 'processes';

/**
 * Rates in units per second. The sampler looks after a quarter of the time to a limit at these rates, so that it is in time
 * for what fills four times as fast: with huge pages memory fills three times as fast as with 4 KiB pages.
 */
export interface FillRates {
  /** The rate until the sampler has seen a higher one. */
  readonly maxRatePerSecond: number;
  /** The rate while the value does not rise. */
  readonly restRatePerSecond: number;
  readonly restPeriodMs?: number;
}

/** Limits for a measurement by a machine that stood still meanwhile. */
const MEASURED = { least: 1e8, most: 1e10 };
/** A core makes a file in some µs and a task in some tens of µs. */
const INODES_PER_CORE = 200_000;
const PROCESSES_PER_CORE = 30_000;
/**
 * A disk does not kill: a filesystem that begins to fill at memory speed, into the page cache, may be seen late. It is
 * seen in time at the rate of a fast disk, which is four times this.
 */
const DISK = { bytesAtRest: 250e6, inodesAtRest: 25_000, periodMs: 1_000 };

/** The fastest fill of memory that begins at rest and is seen in time, in bytes per second. */
export function fastestFill(native: Pick<Binding, 'measureFill'>): number {
  return 4 * fillRates(native, 'memory').restRatePerSecond;
}

const cores = availableParallelism();
/** The fill rate of this machine, by the function that measured it. */
const bytesPerCore = new WeakMap<Binding['measureFill'], number>();

export function fillRates(native: Pick<Binding, 'measureFill'>, unit: FilledUnit): FillRates {
  switch (unit) {
    case 'memory': {
      const one = measuredBytes(native);
      // From a rest mostly one process begins to fill; what is seen to rise may do so on all cores.
      return { maxRatePerSecond: one * cores, restRatePerSecond: one };
    }
    case 'disk': {
      const one = measuredBytes(native);
      return { maxRatePerSecond: one * cores, restRatePerSecond: DISK.bytesAtRest, restPeriodMs: DISK.periodMs };
    }
    case 'inodes':
      return { maxRatePerSecond: INODES_PER_CORE * cores, restRatePerSecond: DISK.inodesAtRest, restPeriodMs: DISK.periodMs };
    case 'processes':
      return { maxRatePerSecond: PROCESSES_PER_CORE * cores, restRatePerSecond: PROCESSES_PER_CORE };
  }
}

/** Per second and core. */
function measuredBytes({ measureFill }: Pick<Binding, 'measureFill'>): number {
  const bytes = bytesPerCore.get(measureFill) ?? Math.min(Math.max(measureFill(), MEASURED.least), MEASURED.most);
  bytesPerCore.set(measureFill, bytes);
  return bytes;
}
