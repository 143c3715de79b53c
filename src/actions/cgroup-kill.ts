import { constants } from 'node:os';
import { errnoName, errnoText } from '../errors.js';
import type { KillInProgress, SignalResult, VictimSample } from '../monitor/ports.js';
import type { CgroupHandle } from '../native/binding.js';
import type { VictimExit } from './victim-exit.js';
import type { VictimFiles } from './victim-files.js';

/** The end of one cgroup. `atNs` of what it returns is taken when the call was through: what is measured with it is rather too long than too short. */
export class CgroupKill implements KillInProgress {
  readonly #handle: CgroupHandle;
  readonly #files: VictimFiles;
  readonly #exit: VictimExit;

  constructor(handle: CgroupHandle, files: VictimFiles, exit: VictimExit) {
    this.#handle = handle;
    this.#files = files;
    this.#exit = exit;
  }

  /** SIGCONT follows SIGTERM, as systemd does it: a stopped process would never get to handle the SIGTERM. */
  terminate(): SignalResult {
    const terminated = this.#signal('SIGTERM');
    this.#signal('SIGCONT');
    return terminated;
  }

  /**
   * cgroup.kill gets the processes that are just being forked, too. Where there is none (v1, kernels before 5.14) or where it is refused (a read-only mount) each
   * process is signalled.
   */
  kill(): SignalResult {
    const pids = this.#processes() ?? [];
    if (pids.includes(process.pid)) return refused('SIGKILL: evictd itself is in it');
    if (!this.#files.unified) return this.#signal('SIGKILL');
    try {
      this.#handle.kill();
      return { atNs: process.hrtime.bigint(), processes: pids.length, error: undefined };
    } catch {
      return this.#signal('SIGKILL');
    }
  }

  read(): VictimSample {
    const timeNs = process.hrtime.bigint();
    const usage = this.#files.usage();
    // On v2 the memory controller may have been switched off above it, which looks the same.
    const removed = usage === 'removed' && (!this.#files.unified || this.#files.populated() === false);
    return { timeNs, processes: removed ? 0 : this.#left(), usageBytes: usage === 'removed' ? undefined : usage, removed };
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.#exit.watch(this.#handle, this.#files, callback);
  }

  close(): void {
    this.#exit.close();
    this.#handle.close();
    this.#files.close();
  }

  /**
   * v2 knows whether anybody is left, those included that have no number in evictd's pid namespace. On v1 a process can move from a cgroup that is still to
   * be read into one that was read, and be in neither list: only two empty readings in a row mean that nobody is left. What cannot be read counts as one.
   */
  #left(): number {
    const populated = this.#files.populated();
    if (populated === false) return 0;
    const count = (): number => this.#processes()?.length ?? 1;
    return populated === true ? Math.max(count(), 1) : count() || count();
  }

  /** undefined: not known. */
  #processes(): readonly number[] | undefined {
    try {
      return this.#handle.processes();
    } catch {
      return undefined;
    }
  }

  #signal(name: 'SIGTERM' | 'SIGCONT' | 'SIGKILL'): SignalResult {
    try {
      const { found, errno } = this.#handle.signal(constants.signals[name]);
      return { atNs: process.hrtime.bigint(), processes: found, error: errno === 0 ? undefined : `${name}: ${errnoText(errno)}` };
    } catch (error) {
      return refused(`${name}: ${errnoName(error) ?? String(error)}`);
    }
  }
}

function refused(error: string): SignalResult {
  return { atNs: process.hrtime.bigint(), processes: 0, error };
}
