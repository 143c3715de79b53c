import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { ServiceFacts } from '../../../host/facts/process-facts.js';

const ID = 'service.watchdog';

/** Whether systemd restarts an evictd that hangs. */
export function checkWatchdog(service: ServiceFacts): Check[] {
  if (service.kind !== 'unit' || service.properties.ActiveState !== 'active') return [];
  const { WatchdogUSec: watchdog, Restart: restart } = service.properties;
  const details = { watchdog: watchdog ?? null, restart: restart ?? null };
  const fix = 'evictd install writes a unit with WatchdogSec and Restart=always';
  if (watchdog === undefined || watchdog === '0' || watchdog === 'infinity')
    return [degraded(ID, 'the service has no watchdog: systemd does not restart an evictd that hangs', fix, details)];
  if (restart !== 'always')
    return [degraded(ID, `watchdog ${watchdog}, but Restart=${restart ?? 'no'}: systemd does not restart it in every case`, fix, details)];
  return [ok(ID, `${watchdog}, Restart=always`, details)];
}

export const watchdogCheck = defineCheck(ID, ['service'], ({ service }) => checkWatchdog(service));
