import { errnoName } from '../../errors.js';
import type { Binding } from '../../native/binding.js';

/** What everybody may have is a multiple of this, and the kernel's averages move as often (kernel/sched/psi.c, psi_trigger_create). */
export const PSI_PERIOD_US = 2_000_000;

/** With CAP_SYS_RESOURCE: 500 ms and more, newer kernels 100 ms and more. */
const PRIVILEGED_WINDOWS_US = [100_000, 250_000, 500_000, 1_000_000] as const;

export const SHORTEST_PSI_WINDOW_US = PRIVILEGED_WINDOWS_US[0];

/** What was allowed, once asked. It is the kernel's and the capabilities' answer, the same for every file, and neither changes while a process runs. */
const answers = new WeakMap<object, Map<number, number>>();

/**
 * The PSI window, in microseconds, that this process may use where it would like `wantedUs`: that one, or the next longer one that the kernel
 * takes. It is asked once for each, with triggers that are closed again: by the version alone it cannot be told.
 *
 * @param file  one that is there: /proc/pressure/* or a cgroup's *.pressure
 * @param kind  one that the file has: irq.pressure has `full` only
 * @throws what the kernel says where no window will do: ENOENT, EACCES, EOPNOTSUPP (PSI is off)
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
      // Stalled for the whole window: nothing stalls that long while it is being asked.
      new native.PsiTrigger(file, { kind, stallUs: windowUs, windowUs }, () => undefined).close();
      return windowUs;
    } catch (error) {
      if (errnoName(error) !== 'EINVAL') throw error;
      refused = error;
    }
  }
  throw refused;
}
