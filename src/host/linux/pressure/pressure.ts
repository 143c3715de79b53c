import { errnoName, errnoText } from '../../../errors.js';
import type { Binding } from '../../../native/binding.js';
import type { StallAverage, StallKind, StallResource } from '../../../core/signal/signal.js';
import { constants } from 'node:os';
import type { KernelSource, Missing } from '../sampling/kernel-source.js';

/**
 * Unprivileged windows are multiples of this, the interval of the kernel's averages (kernel/sched/psi.c,
 * psi_trigger_create).
 */
export const PSI_PERIOD_US = 2_000_000;

/** Windows with CAP_SYS_RESOURCE: at least 500 ms, on newer kernels 100 ms. */
const PRIVILEGED_WINDOWS_US = [100_000, 250_000, 500_000, 1_000_000] as const;

export const SHORTEST_PSI_WINDOW_US = PRIVILEGED_WINDOWS_US[0];

/** Whether every process may set this window: needs no trial. */
export function isPsiWindowForAll(windowUs: number): boolean {
  return windowUs % PSI_PERIOD_US === 0;
}

/** Answers so far. They depend on kernel and capabilities, not on the file, and do not change while a process runs. */
const answers = new WeakMap<object, Map<number, number>>();

/**
 * The PSI window in microseconds that the kernel accepts: `wantedUs` or the next longer one. Unless every process may set
 * it, it is tried once with triggers that are closed again, because the version does not tell.
 *
 * @param file an existing one: /proc/pressure/* or a cgroup's *.pressure
 * @param kind one that the file has: irq.pressure has `full` only
 * @throws the kernel's error where it accepts none: ENOENT, EACCES, EOPNOTSUPP (PSI is off)
 */
export function allowedPsiWindow(native: Pick<Binding, 'PsiTrigger'>, file: string, kind: 'some' | 'full', wantedUs: number): number {
  if (isPsiWindowForAll(wantedUs)) return wantedUs;
  const known = answers.get(native.PsiTrigger) ?? new Map<number, number>();
  answers.set(native.PsiTrigger, known);
  const answer = known.get(wantedUs) ?? ask(native, file, kind, wantedUs);
  known.set(wantedUs, answer);
  return answer;
}

function ask(native: Pick<Binding, 'PsiTrigger'>, file: string, kind: 'some' | 'full', wantedUs: number): number {
  const longer = PRIVILEGED_WINDOWS_US.filter((windowUs) => windowUs > wantedUs);
  let refused: unknown;
  for (const windowUs of new Set([wantedUs, ...longer, Math.ceil(wantedUs / PSI_PERIOD_US) * PSI_PERIOD_US])) {
    try {
      // A stall of the whole window does not happen meanwhile.
      new native.PsiTrigger(file, { kind, stallUs: windowUs, windowUs }, () => undefined).close();
      return windowUs;
    } catch (error) {
      if (errnoName(error) !== 'EINVAL') throw error;
      refused = error;
    }
  }
  throw refused;
}

/** A line of a pressure file: averages in percent, and microseconds since boot or since the cgroup was created. */
export interface StallLine {
  readonly percent: Readonly<Record<Exclude<StallAverage, ''>, number>>;
  readonly totalUs: bigint;
}

/** The place of a node's pressure: 'memory' → /proc/pressure/memory, or memory.pressure of a v2 cgroup. */
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
