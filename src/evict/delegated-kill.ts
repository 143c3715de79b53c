import type { KillInProgress, SignalResult, VictimSample } from '../monitor/ports/ports.js';

/**
 * A healthy manager answers in milliseconds. After this time or this part of the grace period, whichever is longer,
 * evictd sends SIGTERM itself. Earlier, that could hit an ExecStop= that has just started.
 */
const ANSWERED_WITHIN_NS = 1_000_000_000n;
const PART_OF_GRACE = 10n;

/**
 * Ends a workload through its manager: systemd or a container runtime. Processes are observed and killed as those of
 * any cgroup, and evictd sends SIGTERM itself if the manager does not.
 */
export abstract class DelegatedKill implements KillInProgress {
  protected readonly cgroup: KillInProgress;
  protected readonly answeredWithinNs: bigint;
  /** Whether evictd itself ends the victim now. */
  protected isTakenOver = false;

  constructor(cgroup: KillInProgress, graceNs: bigint) {
    this.cgroup = cgroup;
    const partNs = graceNs / PART_OF_GRACE;
    this.answeredWithinNs = partNs > ANSWERED_WITHIN_NS ? partNs : ANSWERED_WITHIN_NS;
  }

  abstract resume(isKilled: boolean): void;
  abstract read(): VictimSample;
  /** Returns whether the manager has been asked, now or before. */
  protected abstract ask(): boolean;

  terminate(): SignalResult {
    if (this.isTakenOver || !this.ask()) return this.signal();
    return { atNs: process.hrtime.bigint(), processes: this.cgroup.read().processes, error: undefined };
  }

  /** Kills the processes first: the manager may be slow. */
  kill(): SignalResult {
    this.isTakenOver = true;
    return this.cgroup.kill();
  }

  rehearse(): void {
    this.cgroup.rehearse?.();
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.cgroup.onExit(callback);
  }

  close(): void {
    this.cgroup.close();
  }

  protected signal(): SignalResult {
    const sent = this.cgroup.terminate();
    this.isTakenOver = sent.passing !== 'unsent';
    return sent;
  }
}
