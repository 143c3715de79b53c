import type { ClockFacts } from '../../facts/kernel-facts.js';
import type { Binding } from '../../../native/binding.js';
import { textIfAny } from './text-file.js';

export function readClock(native: Pick<Binding, 'bootTimeNs'> | undefined): ClockFacts {
  return { bootId: textIfAny('/proc/sys/kernel/random/boot_id')?.trim(), bootTimeNs: native?.bootTimeNs() };
}
