import type { GuardedMemory } from '../../core/oom/kernel-kill.js';
import { selectHost, type Host, type KernelLogWatch, type LinuxNode } from '../../host/select.js';
import type { Log } from '../../log/log.js';
import type { Journal } from '../../journal/journal.js';
import { OomAccounting, type OomKillsCounted } from './oom-accounting.js';
import type { StepListener, StepReport, WorkloadSource } from '../../monitor/ports/ports.js';
import type { Metrics } from '../../monitor/ports/metrics.js';
import { native, type Binding } from '../../native/index.js';

export interface KernelKillParts {
  readonly node: Pick<LinuxNode, 'identity' | 'hierarchy' | 'oomKills'>;
  readonly guarded: GuardedMemory;
  readonly workloads: Pick<WorkloadSource, 'holding'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly journal: Pick<Journal, 'record'>;
  readonly metrics: Pick<Metrics, 'oomKilled'>;
}

/**
 * Records the kernel's OOM kills below the node, by the kernel log as long as it can be read, and by the counters. Does
 * nothing on a system without an OOM killer.
 */
export class KernelKills implements StepListener {
  readonly #parts: KernelKillParts;
  readonly #watch: KernelLogWatch | undefined;
  /** The cgroup whose kills concern the node; undefined: all. */
  readonly #oomCgroup: string | undefined;
  readonly #accounting: OomAccounting | undefined;
  /** The kernel log is unreadable, and that is logged. */
  #readFailed = false;

  constructor(parts: KernelKillParts, binding: Binding = native, { kernelKills: readers }: Pick<Host, 'kernelKills'> = selectHost()) {
    this.#parts = parts;
    if (readers === undefined) return;
    const { hierarchy } = parts.node;
    const oomCgroup = readers.oomCgroup(parts.node);
    this.#oomCgroup = oomCgroup;
    const guarded = { ...parts.guarded, node: oomCgroup };
    const counters = new readers.OomCounters(binding, hierarchy, oomCgroup);
    const accounting = new OomAccounting({
      ...parts,
      guarded,
      counters,
      counted: () => this.counted,
      hasLog: () => this.#watch?.live === true,
    });
    this.#accounting = accounting;
    this.#watch = new readers.KernelLogWatch(binding, hierarchy, {
      killed: (kills, lost) => {
        accounting.killsLogged(kills);
        if (lost) this.#warn('the kernel log was overwritten before evictd read it: of some OOM kills only the number may be known');
      },
      gone: (reason) => {
        if (!this.#readFailed)
          this.#warn(`cannot read OOM kills from the kernel log any more: ${reason}; evictd tries again at every tick`);
        this.#readFailed = true;
      },
    });
  }

  /** A v1 cgroup loses the counts of the cgroups below it when they are removed. */
  get counted(): OomKillsCounted {
    const { node } = this.#parts;
    if (this.#oomCgroup !== undefined && node.identity.cgroupVersion === 1) return {};
    const oomKillsCounted = node.oomKills();
    return oomKillsCounted === undefined ? {} : { oomKillsCounted };
  }

  start(): void {
    this.#accounting?.start();
    const failure = this.#watch?.open();
    this.#readFailed = failure !== undefined;
    if (failure !== undefined)
      this.#parts.log.info(
        `cannot read OOM kills from the kernel log: ${failure}; evictd only counts them, by the kernel's counters`,
        CODE,
      );
  }

  /**
   * Opens the kernel log again at a tick. It counts as readable if it is still open at the next tick, so a log that
   * always fails is reported once.
   */
  stepped({ wake }: Pick<StepReport, 'wake'>): void {
    this.#accounting?.stepped({ wake });
    if (this.#watch === undefined || !this.#readFailed || (wake.source !== 'tick' && wake.source !== 'reload')) return;
    if (!this.#watch.live) {
      this.#watch.open();
      return;
    }
    this.#readFailed = false;
    this.#parts.log.info('reading OOM kills from the kernel log again', CODE);
  }

  /** While the kernel log is read, it reports kills; the counters may wait for the next pass. */
  skipped(): boolean {
    return this.#watch === undefined || (this.#watch.live && !this.#readFailed && this.#accounting?.isSettled !== false);
  }

  close(): void {
    this.#watch?.close();
    this.#accounting?.close();
  }

  #warn(message: string): void {
    this.#parts.log.warn(message, CODE);
  }
}

const CODE = { code: 'EVICTD_KERNEL_LOG' } as const;
