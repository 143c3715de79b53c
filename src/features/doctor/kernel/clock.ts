import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { ClockFacts } from '../../../host/facts/kernel-facts.js';

const ID = 'kernel.clock';

/** The boot id dates the state that evictd keeps over a restart. */
export function checkClock({ bootId, bootTimeNs }: ClockFacts): Check {
  const details = { bootId: bootId ?? null, upSeconds: bootTimeNs === undefined ? null : Number(bootTimeNs / 1_000_000_000n) };
  if (bootId === undefined) {
    const summary = 'cannot read /proc/sys/kernel/random/boot_id: evictd cannot tell whether its saved state is of this boot';
    return degraded(ID, summary, 'mount all of /proc: a sandbox hides a part of it', details);
  }
  return ok(ID, `boot ID ${bootId}`, details);
}

export const clockCheck = defineCheck(ID, ['clock'], ({ clock }) => checkClock(clock));
