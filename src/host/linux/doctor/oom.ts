import type { OomFacts } from '../../../doctor/facts/kernel.js';
import { textIfAny } from './text-file.js';

export function readOom(): OomFacts {
  return {
    panicOnOom: numberIfAny('/proc/sys/vm/panic_on_oom'),
    killAllocatingTask: numberIfAny('/proc/sys/vm/oom_kill_allocating_task'),
    minTtlMs: numberIfAny('/sys/kernel/mm/lru_gen/min_ttl_ms'),
  };
}

/** A file of one number. */
export function numberIfAny(path: string): number | undefined {
  const text = textIfAny(path)?.trim();
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}
