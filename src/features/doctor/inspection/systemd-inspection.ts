import { selectHost } from '../../../host/select.js';
import type { SourceProblem } from '../../../monitor/ports/ports.js';
import { pause, type Timeouts } from '../../../node/timeouts.js';
import { shutdownRequestedNs, type ShutdownConfig } from '../../../core/workload/shutdown-config.js';
import type { ShutdownFacts } from '../machine-facts.js';

const TIMEOUT_MS = 1_500;
const LOOK_MS = 10;
/** Exists wherever systemd is the init. */
const ASKED = 'init.scope';

/**
 * Why systemd does not answer about units, tested with one. undefined: it answers, or it is not the init of this
 * machine.
 */
export async function unitsProblem(): Promise<SourceProblem | undefined> {
  const units = selectHost().openUnitManager();
  try {
    if (!units.awaited(ASKED)) return undefined;
    for (let waited = 0; waited < TIMEOUT_MS; waited += LOOK_MS) {
      units.follow([ASKED]);
      if (units.unit(ASKED) !== undefined) return undefined;
      await pause(LOOK_MS);
    }
    return (
      units.problem() ?? {
        code: 'EVICTD_SYSTEMD_UNREACHABLE',
        message: `systemd did not answer within ${String(TIMEOUT_MS)} ms: evictd would end units by signals`,
        hint: 'check whether systemctl status answers; journalctl _PID=1 shows problems of systemd',
      }
    );
  } finally {
    units.close();
  }
}

/** Asks logind only if a delay is required. */
export async function examineShutdown(shutdown: ShutdownConfig, timeouts: Timeouts): Promise<ShutdownFacts> {
  const requestedNs = shutdownRequestedNs(shutdown);
  if (requestedNs <= 0n) return { requestedNs, delay: undefined };
  const delay = await timeouts.within(TIMEOUT_MS, () => selectHost().readInhibitDelay({ awaited: false }));
  return { requestedNs, delay: delay ?? { kind: 'unknown', reason: `logind did not answer within ${String(TIMEOUT_MS)} ms` } };
}
