import type { GuardedMemory } from '../core/kernel-kill.js';
import { selectHost, type Host, type KernelLogWatch, type LinuxNode } from '../host/select.js';
import type { Log } from '../log.js';
import type { Journal } from '../monitor/journal.js';
import { OomAccounting, type OomKillsCounted } from '../monitor/oom-accounting.js';
import type { StepListener, StepReport, WorkloadSource } from '../monitor/ports.js';
import type { Metrics } from '../monitor/publisher.js';
import { native, type Binding } from '../native/index.js';

export interface KernelKillParts {
  readonly node: Pick<LinuxNode, 'identity' | 'hierarchy' | 'oomKills'>;
  readonly guarded: GuardedMemory;
  /** In force. */
  readonly workloads: Pick<WorkloadSource, 'holding'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly journal: Pick<Journal, 'record'>;
  readonly metrics: Pick<Metrics, 'oomKilled'>;
}

/** Whom the kernel's OOM killer kills below the node: the kernel log, as long as it can be read, and the counters. Where there is no such killer there is nothing to tell. */
export class KernelKills implements StepListener {
  readonly #parts: KernelKillParts;
  readonly #watch: KernelLogWatch | undefined;
  readonly #accounting: OomAccounting | undefined;
  /** Said, and not yet said to be over. */
  #troubled = false;

  constructor(parts: KernelKillParts, binding: Binding = native, { kernelKills: readers }: Pick<Host, 'kernelKills'> = selectHost()) {
    this.#parts = parts;
    if (readers === undefined) return;
    const { hierarchy, identity } = parts.node;
    const counters = new readers.OomCounters(binding, hierarchy, identity.cgroup);
    const accounting = new OomAccounting({ ...parts, counters, counted: () => this.counted, hasLog: () => this.#watch?.live === true });
    this.#accounting = accounting;
    this.#watch = new readers.KernelLogWatch(binding, hierarchy, {
      killed: (kills, lost) => {
        accounting.killsLogged(kills);
        if (lost) this.#warn('the kernel log was overwritten before it was read: of some OOM kills only the number may be known');
      },
      gone: (reason) => {
        if (!this.#troubled)
          this.#warn(`whom the kernel's OOM killer kills is not told any more: ${reason}; it is tried again at every tick`);
        this.#troubled = true;
      },
    });
  }

  /** A cgroup of v1 forgets what those below it have counted. */
  get counted(): OomKillsCounted {
    const { node } = this.#parts;
    if (node.identity.cgroup !== undefined && node.identity.cgroupVersion === 1) return {};
    const oomKillsCounted = node.oomKills();
    return oomKillsCounted === undefined ? {} : { oomKillsCounted };
  }

  start(): void {
    this.#accounting?.start();
    const failure = this.#watch?.open();
    this.#troubled = failure !== undefined;
    if (failure !== undefined)
      this.#parts.log.info(
        `whom the kernel's OOM killer kills is not told: ${failure}; only how many there are, by the kernel's counters`,
        CODE,
      );
  }

  /** At a tick it is tried again. It is back when the next tick finds it open: one that goes away whenever it is opened is said once. */
  stepped({ wake }: Pick<StepReport, 'wake'>): void {
    this.#accounting?.stepped({ wake });
    if (this.#watch === undefined || !this.#troubled || (wake.source !== 'tick' && wake.source !== 'reload')) return;
    if (!this.#watch.live) {
      this.#watch.open();
      return;
    }
    this.#troubled = false;
    this.#parts.log.info("the kernel log can be read again: whom the kernel's OOM killer kills is told", CODE);
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
