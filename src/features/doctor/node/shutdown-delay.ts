import { formatDuration } from '../../../core/quantity/duration.js';
import { askedText, inhibitDelaySetting, suffices } from '../../../core/systemd/inhibit-delay.js';
import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { ShutdownFacts } from '../facts/shutdown-facts.js';

const ID = 'shutdown.delay';
const NS_PER_SECOND = 1e9;

/** Whether logind delays a shutdown for as long as the configuration requires. */
export function checkShutdownDelay({ requestedNs, delay }: ShutdownFacts): Check {
  const requestedSeconds = Number(requestedNs) / NS_PER_SECOND;
  if (requestedNs <= 0n || delay === undefined)
    return ok(ID, 'no graceful shutdown is configured (shutdownGracePeriod)', { requestedSeconds: 0 });
  const asked = askedText(requestedNs);
  if (delay.kind === 'unknown') {
    const fix = 'systemctl status dbus systemd-logind; without logind systemd stops every unit at once, within its TimeoutStopSec';
    return degraded(ID, `at a shutdown ${asked}: ${delay.reason}`, fix, { requestedSeconds, inhibitDelayMaxSeconds: null });
  }
  const details = { requestedSeconds, inhibitDelayMaxSeconds: Number(delay.maxNs) / NS_PER_SECOND };
  const summary = `logind delays a shutdown by at most ${formatDuration(delay.maxNs)} (InhibitDelayMaxSec), ${asked}`;
  if (suffices(delay, requestedNs) === true) return ok(ID, summary, details);
  const fix = `evictd install --logind-drop-in, or ${inhibitDelaySetting(requestedNs)} in /etc/systemd/logind.conf.d/ and systemctl kill --signal=HUP systemd-logind`;
  return degraded(ID, `${summary}: then systemd stops the remaining workloads`, fix, details);
}

export const shutdownDelayCheck = defineCheck(ID, ['shutdown'], ({ shutdown }) => checkShutdownDelay(shutdown));
