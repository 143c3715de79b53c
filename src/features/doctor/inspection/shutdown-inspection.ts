import { shutdownRequestedNs, type ShutdownConfig } from '../../../core/workload/shutdown-config.js';
import type { ShutdownFacts } from '../facts/shutdown-facts.js';
import { selectHost } from '../../../host/select.js';
import type { Timeouts } from '../../../node/timeouts.js';

const TIMEOUT_MS = 1_500;

/** Asks logind only if a delay is required. */
export async function examineShutdown(shutdown: ShutdownConfig, timeouts: Timeouts): Promise<ShutdownFacts> {
  const requestedNs = shutdownRequestedNs(shutdown);
  if (requestedNs <= 0n) return { requestedNs, delay: undefined };
  const delay = await timeouts.within(TIMEOUT_MS, () => selectHost().readInhibitDelay({ awaited: false }));
  return { requestedNs, delay: delay ?? { kind: 'unknown', reason: `logind did not answer within ${String(TIMEOUT_MS)} ms` } };
}
