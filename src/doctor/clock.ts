import { degraded, ok, type Check } from './check.js';
import type { ClockFacts } from './facts/kernel.js';

const ID = 'kernel.clock';

/** What state that survives a restart is dated with. */
export function checkClock({ bootId, bootTimeNs }: ClockFacts): Check {
  const details = { bootId: bootId ?? null, upSeconds: bootTimeNs === undefined ? null : Number(bootTimeNs / 1_000_000_000n) };
  if (bootId === undefined) {
    const said = '/proc/sys/kernel/random/boot_id cannot be read: what was seen before a restart cannot be told from that of another boot';
    return degraded(ID, said, 'mount /proc whole: a sandbox hides a part of it', details);
  }
  return ok(ID, `boot ${bootId}`, details);
}
