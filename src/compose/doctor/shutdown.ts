import { shutdownRequestedNs, type ShutdownConfig } from '../../core/shutdown-config.js';
import type { ShutdownFacts } from '../../doctor/facts/shutdown.js';
import { selectHost } from '../../host/select.js';
import type { Patience } from './deadline.js';

const PATIENCE_MS = 1_500;

/** logind is asked only where it matters. */
export async function examineShutdown(shutdown: ShutdownConfig, patience: Patience): Promise<ShutdownFacts> {
  const requestedNs = shutdownRequestedNs(shutdown);
  if (requestedNs <= 0n) return { requestedNs, delay: undefined };
  const delay = await patience.within(PATIENCE_MS, () => selectHost().readInhibitDelay({ awaited: false }));
  return { requestedNs, delay: delay ?? { kind: 'unknown', reason: `logind has not answered within ${String(PATIENCE_MS)} ms` } };
}
