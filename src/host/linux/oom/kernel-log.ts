import { pathBelowMount, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import { showsRootCgroup } from '../cgroup/hierarchies.js';
import type { KernelKill } from '../../../core/oom/kernel-kill.js';
import { errnoName, errnoText, messageOf } from '../../../errors.js';
import type { Binding, KernelLog, OomRecord } from '../../../native/binding.js';

interface KernelLogReader {
  /** `lost`: some may be missing. */
  killed(kills: readonly KernelKill[], lost: boolean): void;
  /** The log cannot be read any more, until it is opened again. */
  gone(reason: string): void;
}

/** The kills of the kernel's OOM killer since it was opened. */
export class KernelLogWatch {
  #log: KernelLog | undefined;
  readonly #hierarchy: CgroupHierarchy | undefined;

  constructor(
    private readonly native: Binding,
    hierarchy: CgroupHierarchy | undefined,
    private readonly reader: KernelLogReader,
  ) {
    // The log has the machine's paths. A cgroup namespace hides where in them the root is that the mount shows.
    const isHidden = hierarchy?.root === '/' && !showsRootCgroup(hierarchy);
    this.#hierarchy = isHidden ? undefined : hierarchy;
  }

  get live(): boolean {
    return this.#log?.live === true;
  }

  /** Opens the log unless it is open. Returns why it could not. */
  open(): string | undefined {
    if (this.live) return undefined;
    this.close();
    try {
      const log = new this.native.KernelLog((wake) => {
        this.#take(log);
        if ((wake & this.native.WAKE.GONE) === 0) return;
        const { errno, target } = log.status();
        this.reader.gone(`${target}: ${errnoText(errno)}`);
      });
      this.#log = log;
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  }

  close(): void {
    this.#log?.close();
    this.#log = undefined;
  }

  #take(log: KernelLog): void {
    const { list, overruns, dropped } = log.records();
    const lost = overruns + dropped > 0;
    if (list.length === 0 && !lost) return;
    this.reader.killed(
      list.map((record) => killOf(record, this.#hierarchy)),
      lost,
    );
  }
}

function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (error instanceof Error && 'syscall' in error && error.syscall !== 'open')
    return `${message} (not a kernel log: another file is in its place)`;
  switch (errnoName(error)) {
    case 'EPERM':
      return `${message} (grant CAP_SYSLOG, or set kernel.dmesg_restrict=0)`;
    case 'EACCES':
      return `${message} (run evictd as root)`;
    default:
      return message;
  }
}

function killOf(record: OomRecord, hierarchy: CgroupHierarchy | undefined): KernelKill {
  const below = (path: string | undefined): string | undefined =>
    path === undefined || !hierarchy ? undefined : pathBelowMount(path, hierarchy);
  return {
    constraint: record.constraint,
    limitedCgroup: below(record.oomMemcg),
    cgroup: below(record.taskMemcg),
    pid: record.pid,
    name: record.name,
    uid: record.uid,
    anonBytes: BigInt(record.anonRssBytes),
    oomScoreAdj: record.oomScoreAdj,
    sinceBootUs: record.timeUs,
  };
}
