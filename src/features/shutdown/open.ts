import type { Config } from '../../config/config.js';
import { formatDuration } from '../../core/quantity/duration.js';
import { periodRequestedNs, shutdownGracePeriods, type ShutdownGracePeriod } from '../../core/workload/shutdown-config.js';
import type { Log } from '../../log/log.js';
import type { Status } from '../../metrics/status.js';
import type { StepListener, StepReport } from '../../monitor/ports/ports.js';
import { Shutdown, type ShutdownParts } from './shutdown.js';
import type { ShutdownDelay, ShutdownDelayState } from '../../monitor/ports/shutdown-delay.js';
import { messageOf } from '../../errors.js';

export interface MachineShutdownParts extends Omit<ShutdownParts, 'release' | 'changed' | 'over' | 'log'> {
  readonly openDelay: () => ShutdownDelay;
  readonly status: Pick<Status, 'shutdownBegins' | 'shutdownIsOver' | 'shutdownCalledOff' | 'shutdownDelayed'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/**
 * Ends workloads in order when the machine shuts down. Without shutdown grace periods in the configuration it does not
 * contact logind.
 */
export class MachineShutdown implements StepListener {
  readonly #shutdown: Shutdown;
  #periods: readonly ShutdownGracePeriod[] = [];
  #delay: ShutdownDelay | undefined;
  #listener: (lasts: boolean) => void = () => undefined;

  constructor(private readonly parts: MachineShutdownParts) {
    const { status, dryRun } = parts;
    this.#shutdown = new Shutdown({
      ...parts,
      release: () => this.#delay?.release(),
      changed: (lasts) => {
        if (!dryRun) {
          if (lasts) status.shutdownBegins();
          else status.shutdownCalledOff();
        }
        this.#listener(lasts);
      },
      over: () => {
        if (!dryRun) status.shutdownIsOver();
      },
    });
  }

  get lasts(): boolean {
    return this.#shutdown.lasts;
  }

  /** Calls `listener` when a shutdown begins, before the first signal, and when it is cancelled. */
  onChange(listener: (lasts: boolean) => void): void {
    this.#listener = listener;
  }

  /** Called at the start and at every reload. A shutdown that has begun keeps its configuration. */
  configure({ shutdown }: Pick<Config, 'shutdown'>): void {
    this.#periods = shutdownGracePeriods(shutdown);
    this.#follow();
  }

  stepped(report: StepReport): void {
    this.#shutdown.stepped(report);
  }

  skipped(): boolean {
    return !this.lasts;
  }

  /** evictd stops, and ends no further workload. May be called twice. */
  close(): void {
    this.#shutdown.stop();
    this.#delay?.close();
    this.#delay = undefined;
  }

  #follow(): void {
    const { openDelay, status } = this.parts;
    if (this.#shutdown.lasts) return;
    if (this.#periods.length === 0) {
      this.#delay?.close();
      this.#delay = undefined;
      status.shutdownDelayed(undefined);
      return;
    }
    if (this.#delay !== undefined) return;
    this.#delay = openDelay();
    this.#delay.start({
      prepare: (begins) => {
        this.#prepare(begins);
      },
      changed: (state) => {
        this.#changed(state);
      },
    });
  }

  /**
   * Must not throw: the D-Bus connection, which calls it, would take that for a connection error, and the machine would
   * wait in vain.
   */
  #prepare(begins: boolean): void {
    try {
      if (begins) this.#shutdown.begin(this.#periods);
      else {
        this.#shutdown.callOff();
        this.#follow();
      }
    } catch (error) {
      const what = begins ? 'cannot begin the shutdown of workloads; the machine may go down' : 'cannot cancel the shutdown of workloads';
      this.parts.log.warn(`${what}: ${messageOf(error)}`, { code: 'EVICTD_SHUTDOWN_FAILED' });
      if (begins) this.#delay?.release();
    }
  }

  #changed(state: ShutdownDelayState): void {
    const { log, status, dryRun } = this.parts;
    if (dryRun || state.kind === 'released') return;
    if (state.kind === 'held') {
      status.shutdownDelayed(undefined);
      log.info(`a shutdown of the machine waits for evictd, which requests ${formatDuration(periodRequestedNs(this.#periods))}`);
    } else {
      status.shutdownDelayed(state.reason);
      log.warn(`a shutdown of the machine does not wait for evictd: ${state.reason}`, { code: 'EVICTD_SHUTDOWN_LOCK' });
    }
  }
}
