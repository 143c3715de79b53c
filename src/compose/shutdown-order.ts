import type { Removals } from '../evict/cri/container-removals.js';
import { victimName } from '../core/workload/process.js';
import type { Log } from '../log/log.js';
import type { Journal } from '../journal/journal.js';
import { releaseHeldUnits, type LastReleaseParts } from '../features/restart-storm/stopped-units.js';
import type { Monitor } from '../monitor/loop.js';
import { stopRecord } from '../journal/records/record.js';
import type { Recorder } from '../recording/recorder.js';
import type { Closers } from './closers.js';
import type { KernelKills } from '../features/oom/open.js';

/** The time that evictd waits for a directory or a log that does not respond. */
export const CLOSE_MS = 5_000;
/** The time that evictd waits for systemd before that. The sum is below the TimeoutStopSec= of the service. */
const RELEASED_MS = 8_000;

export interface EndingParts extends Omit<LastReleaseParts, 'journal'> {
  /** Stopped. */
  readonly monitor: Pick<Monitor, 'remaining'>;
  readonly removals: Pick<Removals, 'unfinished'>;
  readonly journal: Journal;
  readonly recorder: Recorder | undefined;
  readonly kernelKills: Pick<KernelKills, 'counted'>;
  /** `lasts`: the machine is shutting down, so no unit is started. */
  readonly shutdown: { readonly lasts: boolean };
  readonly log: Log;
  readonly closers: Pick<Closers, 'close'>;
}

/** What evictd does after its loop has stopped. Resolves within 18 s. */
export async function endOrderly(parts: EndingParts): Promise<void> {
  const { monitor, removals, journal, recorder, kernelKills, shutdown, log, closers } = parts;
  for (const { phase, decision } of monitor.remaining.evictions) {
    if (phase !== 'terminating') continue;
    const { serial, victim } = decision;
    log.warn(
      `SIGTERM sent to ${victimName(victim)}, and its grace period is not over. An evictd that starts within a minute finishes this eviction. Until then only systemd sends SIGKILL, if it stops a unit`,
      { decision: serial },
    );
  }
  for (const { name } of removals.unfinished) {
    log.warn(`${name} was evicted, but its container runtime has not removed it: remove it by hand`, { code: 'EVICTD_CRI_REMOVE' });
  }
  if (!shutdown.lasts) await releaseHeldUnits(monitor.remaining, parts, RELEASED_MS);
  journal.record({ ...stopRecord(), ...kernelKills.counted });
  // The journal stays open: a record that comes while the recorder waits for a disk is in the ring for the next evictd.
  const [written] = await Promise.all([journal.flush(CLOSE_MS), recorder?.flush(CLOSE_MS)]);
  if (!written) {
    log.warn(
      'the last journal records are in the runtime directory only: the next evictd, or `evictd restore`, moves them to the journal',
      {
        code: 'EVICTD_JOURNAL_BEHIND',
      },
    );
  }
  closers.close();
  log.info('evictd stopped');
  await log.flush(CLOSE_MS);
}
