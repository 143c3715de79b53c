import { normalCgroupPath } from '../core/cgroup.js';
import { concernsNode, kernelKillMessage, workloadHolding, type KernelKill } from '../core/kernel-kill.js';
import { selectHost, type KernelLogWatch, type LinuxNode } from '../host/select.js';
import type { Log } from '../log.js';
import type { Journal } from '../monitor/journal.js';
import type { StepListener, StepReport } from '../monitor/ports.js';
import { kernelOomRecord } from '../monitor/record.js';
import { native, type Binding } from '../native/index.js';

export interface KernelKillParts {
  readonly node: Pick<LinuxNode, 'identity' | 'hierarchy'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly journal: Pick<Journal, 'record'>;
  /** Those in force. */
  readonly sources: () => readonly { readonly cgroup: string }[];
}

/** Says in the log and in the journal whom the kernel's OOM killer killed below the node, for as long as the kernel log can be read. */
export class KernelKills implements StepListener {
  readonly #parts: KernelKillParts;
  readonly #watch: KernelLogWatch;
  /** Said, and not yet said to be over. */
  #troubled = false;

  constructor(parts: KernelKillParts, binding: Binding = native) {
    this.#parts = parts;
    this.#watch = new (selectHost().KernelLogWatch)(binding, parts.node.hierarchy, {
      killed: (kills, lost) => {
        for (const kill of kills) this.#tell(kill);
        if (lost) this.#warn('the kernel log was overwritten before it was read: OOM kills may be missing here');
      },
      gone: (reason) => {
        if (!this.#troubled)
          this.#warn(`whom the kernel's OOM killer kills is not told any more: ${reason}; it is tried again at every tick`);
        this.#troubled = true;
      },
    });
  }

  start(): void {
    const failure = this.#watch.open();
    this.#troubled = failure !== undefined;
    if (failure !== undefined) this.#parts.log.info(`whom the kernel's OOM killer kills is not told: ${failure}`, CODE);
  }

  /** At a tick it is tried again. It is back when the next tick finds it open: one that goes away whenever it is opened is said once. */
  stepped({ wake }: Pick<StepReport, 'wake'>): void {
    if (!this.#troubled || (wake.source !== 'tick' && wake.source !== 'reload')) return;
    if (!this.#watch.live) {
      this.#watch.open();
      return;
    }
    this.#troubled = false;
    this.#parts.log.info("the kernel log can be read again: whom the kernel's OOM killer kills is told", CODE);
  }

  close(): void {
    this.#watch.close();
  }

  #tell(kill: KernelKill): void {
    const { node, log, journal, sources } = this.#parts;
    if (!concernsNode(kill, node.identity.cgroup)) return;
    const workload = workloadHolding(
      kill.cgroup,
      sources().map(({ cgroup }) => normalCgroupPath(cgroup)),
    );
    journal.record(kernelOomRecord(kill, workload));
    log.warn(kernelKillMessage(kill, workload?.name), { pid: kill.pid, cgroup: kill.cgroup });
  }

  #warn(message: string): void {
    this.#parts.log.warn(message, CODE);
  }
}

const CODE = { code: 'EVICTD_KERNEL_LOG' } as const;
