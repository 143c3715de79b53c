import { formatDuration } from '../core/duration.js';
import { askedText, inhibitDelaySetting, suffices } from '../core/inhibit-delay.js';
import { degraded, ok, type Check } from './check.js';
import type { ShutdownFacts } from './facts/shutdown.js';

const ID = 'shutdown.delay';
const NS_PER_SECOND = 1e9;

/** Whether a shutdown waits for as long as the configuration asks for. */
export function checkShutdownDelay({ requestedNs, delay }: ShutdownFacts): Check {
  const requestedSeconds = Number(requestedNs) / NS_PER_SECOND;
  if (requestedNs <= 0n || delay === undefined)
    return ok(ID, 'no time is asked for at a shutdown (shutdownGracePeriod)', { requestedSeconds: 0 });
  const asked = askedText(requestedNs);
  if (delay.kind === 'unknown') {
    const fix = 'systemctl status dbus systemd-logind: without logind every unit is stopped at once, within its TimeoutStopSec';
    return degraded(ID, `at a shutdown ${asked}: ${delay.reason}`, fix, { requestedSeconds, inhibitDelayMaxSeconds: null });
  }
  const details = { requestedSeconds, inhibitDelayMaxSeconds: Number(delay.maxNs) / NS_PER_SECOND };
  const said = `logind lets a shutdown wait for ${formatDuration(delay.maxNs)} (InhibitDelayMaxSec), ${asked}`;
  if (suffices(delay, requestedNs) === true) return ok(ID, said, details);
  const fix = `evictd install --logind-drop-in, or ${inhibitDelaySetting(requestedNs)} in /etc/systemd/logind.conf.d/ and systemctl kill --signal=HUP systemd-logind`;
  return degraded(ID, `${said}: whoever is left then is ended by systemd`, fix, details);
}
