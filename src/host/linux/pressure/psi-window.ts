import { errnoName } from '../../../errors.js';
import type { Binding } from '../../../native/binding.js';

/**
 * Unprivileged windows are multiples of this, the interval of the kernel's averages (kernel/sched/psi.c,
 * psi_trigger_create).
 */
export const PSI_PERIOD_US = 2_000_000;

/** With CAP_SYS_RESOURCE: at least 500 ms, on newer kernels 100 ms. */
const PRIVILEGED_WINDOWS_US = [100_000, 250_000, 500_000, 1_000_000] as const;

export const SHORTEST_PSI_WINDOW_US = PRIVILEGED_WINDOWS_US[0];

/** Answers so far. They depend on kernel and capabilities, not on the file, and do not change while a process runs. */
const answers = new WeakMap<object, Map<number, number>>();

/**
 * The PSI window in microseconds that the kernel accepts: `wantedUs` or the next longer one. Tried once with triggers
 * that are closed again, because the version does not tell.
 *
 * @param file an existing one: /proc/pressure/* or a cgroup's *.pressure
 * @param kind one that the file has: irq.pressure has `full` only
 * @throws the kernel's error where it accepts none: ENOENT, EACCES, EOPNOTSUPP (PSI is off)
 */
export function allowedPsiWindow(native: Pick<Binding, 'PsiTrigger'>, file: string, kind: 'some' | 'full', wantedUs: number): number {
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
