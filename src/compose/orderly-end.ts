import type { Removals } from '../actions/removals.js';
import type { Log } from '../log.js';
import type { Journal } from '../monitor/journal.js';
import { releaseHeldUnits, type LastReleaseParts } from '../monitor/last-releases.js';
import type { Monitor } from '../monitor/loop.js';
import { stopRecord } from '../monitor/record.js';
import type { createRecorder } from './recording.js';
import type { KernelKills } from './kernel-kills.js';

/** How long an orderly end waits for a directory or a log that does not answer. */
const CLOSE_MS = 5_000;
/** And before that for systemd: all together stays below the TimeoutStopSec= of the service. */
const RELEASED_MS = 8_000;

export interface EndingParts extends Omit<LastReleaseParts, 'journal'> {
  /** Stopped. */
  readonly monitor: Pick<Monitor, 'terminating' | 'remaining'>;
  readonly removals: Pick<Removals, 'left'>;
  readonly journal: Journal;
  readonly recorder: ReturnType<typeof createRecorder> | undefined;
  readonly kernelKills: Pick<KernelKills, 'counted'>;
  /** Whether the machine goes down: nothing is started again then. */
  readonly shutdown: { readonly lasts: boolean };
  readonly log: Log;
  readonly closers: readonly (() => void)[];
}

/** What is still to be done when nothing is decided any more. Resolves within 18 s. */
export async function endOrderly(parts: EndingParts): Promise<void> {
  const { monitor, removals, journal, recorder, kernelKills, shutdown, log, closers } = parts;
  for (const { serial, victim } of monitor.terminating) {
    log.warn(
      `${victim.workload.name} was told to end (SIGTERM) and has the rest of its grace: an evictd that is started within a minute goes on with it; until then nobody sends SIGKILL but systemd, where it stops a unit`,
      { decision: serial },
    );
  }
  for (const { name } of removals.left) {
    log.warn(`${name} was evicted, and its container runtime has not removed it: nobody will`, { code: 'EVICTD_CRI_REMOVE' });
  }
  if (!shutdown.lasts) await releaseHeldUnits(monitor.remaining, parts, RELEASED_MS);
  journal.record({ ...stopRecord(), ...kernelKills.counted });
  const [written] = await Promise.all([journal.close(CLOSE_MS), recorder?.flush(CLOSE_MS)]);
  if (!written) {
    log.warn('the last records are in the runtime directory only: the next evictd takes them to the journal, or `evictd restore`', {
      code: 'EVICTD_JOURNAL_BEHIND',
    });
  }
  for (const close of closers) close();
  log.info('stopped');
  await log.flush(CLOSE_MS);
}
