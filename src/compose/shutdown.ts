import { formatDuration } from '../core/duration.js';
import { askedText, inhibitDelaySetting, suffices, type InhibitDelay } from '../core/inhibit-delay.js';
import { shutdownRequestedNs, type ShutdownConfig } from '../core/shutdown-config.js';
import { selectHost } from '../host/select.js';
import type { Log } from '../log.js';

/** How long a shutdown of this machine waits for who asks it to. */
export function readInhibitDelay(): Promise<InhibitDelay> {
  return selectHost().readInhibitDelay();
}

/** Warns where a shutdown does not wait as long as the configuration asks for. Why none waits at all is said by who would hold it up. */
export async function warnOfInhibitDelay(log: Log, shutdown: ShutdownConfig, told = () => selectHost().awaitInhibitDelay()): Promise<void> {
  const requestedNs = shutdownRequestedNs(shutdown);
  if (requestedNs <= 0n) return;
  const maxNs = await told();
  if (maxNs === undefined) return;
  if (suffices({ kind: 'known', maxNs }, requestedNs) === true) return;
  const waits = `logind lets a shutdown wait for ${formatDuration(maxNs)} (InhibitDelayMaxSec): whoever is left then is ended by systemd`;
  log.warn(
    `${askedText(requestedNs)}; ${waits} (evictd install --logind-drop-in, or ${inhibitDelaySetting(requestedNs)} in /etc/systemd/logind.conf.d/)`,
    {
      code: 'EVICTD_SHUTDOWN_DELAY',
    },
  );
}
