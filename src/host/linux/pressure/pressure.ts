import type { StallAverage, StallKind, StallResource } from '../../../core/signal/signal.js';
import { errnoText } from '../../../errors.js';
import { constants } from 'node:os';
import type { KernelSource, Missing } from '../sampling/kernel-source.js';

/** A line of a pressure file: averages in percent, and microseconds since boot or since the cgroup was created. */
interface StallLine {
  readonly percent: Readonly<Record<Exclude<StallAverage, ''>, number>>;
  readonly totalUs: bigint;
}

/** Where a node's pressure is read: 'memory' → /proc/pressure/memory, or memory.pressure of a v2 cgroup. */
export interface PressurePlace {
  readonly fileOf: (resource: StallResource) => string;
  /** Appended to the source; empty: it is the node's own. */
  readonly remark: string;
}

export const MACHINE_PRESSURE: PressurePlace = { fileOf: (resource) => `/proc/pressure/${resource}`, remark: '' };
/** A v1 cgroup has no pressure of its own. */
export const MACHINE_PRESSURE_FOR_V1: PressurePlace = { ...MACHINE_PRESSURE, remark: " (the machine's: a v1 cgroup has none of its own)" };

type PressureReading = Readonly<Record<StallKind, StallLine | Missing>>;

export function pressureSource(file: string): KernelSource<PressureReading> {
  return {
    files: [{ path: file, format: 'pressure' }],
    read: (values, errors) => {
      const errno = errors[0] ?? 0;
      return { some: line(file, 'some', values.subarray(0, 4), errno), full: line(file, 'full', values.subarray(4, 8), errno) };
    },
  };
}

const { ENOENT, EOPNOTSUPP } = constants.errno;

function line(file: string, kind: StallKind, values: Float64Array, errno: number): StallLine | Missing {
  const [avg10 = NaN, avg60 = NaN, avg300 = NaN, total = NaN] = values;
  if (![avg10, avg60, avg300, total].some(Number.isNaN)) {
    return { percent: { '.avg10': avg10, '.avg60': avg60, '.avg300': avg300 }, totalUs: BigInt(total) };
  }
  if (errno === ENOENT || errno === EOPNOTSUPP) return { missing: `${file}: this kernel does not measure pressure (${errnoText(errno)})` };
  // cpu has had a full line since 5.13.
  return { missing: errno === constants.errno.ENODATA ? `${file} has no line ${kind}` : `${file}: ${errnoText(errno)}` };
}
