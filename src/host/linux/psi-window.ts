import { errnoName } from '../../errors.js';
import type { Binding } from '../../native/binding.js';

/**
 * What kernels allow: multiples of 2 s to everybody, with CAP_SYS_RESOURCE 500 ms and more, newer kernels 100 ms and more (kernel/sched/psi.c,
 * psi_trigger_create).
 */
const WINDOWS_US = [100_000, 250_000, 500_000, 1_000_000, 2_000_000] as const;

/** What was allowed, once asked. It is the kernel's and the capabilities' answer, the same for every file, and neither changes while a process runs. */
const answers = new WeakMap<object, number>();

/**
 * The shortest PSI window, in microseconds, that this process may use. The kernel is asked once, with triggers that are closed again: by the
 * version alone it cannot be told.
 *
 * @param file  one that is there: /proc/pressure/* or a cgroup's *.pressure
 * @param kind  one that the file has: irq.pressure has `full` only
 * @throws what the kernel says where no window will do: ENOENT, EACCES, EOPNOTSUPP (PSI is off)
 */
export function shortestPsiWindow(native: Pick<Binding, 'PsiTrigger'>, file: string, kind: 'some' | 'full' = 'some'): number {
  const known = answers.get(native.PsiTrigger);
  if (known !== undefined) return known;
  let refused: unknown;
  for (const windowUs of WINDOWS_US) {
    try {
      // Stalled for the whole window: nothing stalls that long while it is being asked.
      new native.PsiTrigger(file, { kind, stallUs: windowUs, windowUs }, () => undefined).close();
    } catch (error) {
      if (errnoName(error) !== 'EINVAL') throw error;
      refused = error;
      continue;
    }
    answers.set(native.PsiTrigger, windowUs);
    return windowUs;
  }
  throw refused;
}
