import { ProcessTree } from '../../core/windows/process-tree.js';
import { isShortage } from '../../errors.js';
import type { KillInProgress, SignalResult, VictimSample } from '../../monitor/ports/ports.js';
import { thrownText } from '../../native/system-error.js';
import type { Job, ProcessEntry, WindowsBinding } from '../../native/windows-binding.js';
import { EXIT_CODE, HeldProcesses } from './process-handles.js';
import { killRefusal, type ProtectedProcesses } from './protected-process.js';

/**
 * Ends a job: Windows ends all its processes at once, including those being started. There is no way to ask them to
 * end, so `terminate` is `kill`.
 */
export class JobKill implements KillInProgress {
  readonly #native: Pick<WindowsBinding, 'processes' | 'ProcessHandle'>;
  readonly #job: Job;
  readonly #spared: ProtectedProcesses;
  readonly #held: HeldProcesses;

  /** @param job  closed by `close` */
  constructor(native: Pick<WindowsBinding, 'processes' | 'ProcessHandle'>, job: Job, spared: ProtectedProcesses) {
    this.#native = native;
    this.#job = job;
    this.#spared = spared;
    this.#held = new HeldProcesses(native);
  }

  terminate(): SignalResult {
    return this.kill();
  }

  kill(): SignalResult {
    const result = (processes: number, error?: string, passing?: SignalResult['passing']): SignalResult => {
      return { atNs: process.hrtime.bigint(), processes, error, passing };
    };
    try {
      const { members, own } = this.#find();
      const objection = killRefusal(members, own, this.#spared);
      if (objection) return result(0, `no process was ended: ${objection.error}`, objection.passing);
      for (const member of members) this.#held.hold(member);
      this.#job.terminate(EXIT_CODE);
      return result(members.length);
    } catch (error) {
      return result(0, `TerminateJobObject: ${thrownText(error)}`, isShortage(error) ? 'unsent' : undefined);
    }
  }

  /** Ended processes leave the job before they have exited: both must be empty. */
  read(): VictimSample {
    try {
      const { members } = this.#find();
      const processes = Math.max(this.#job.processes().length, this.#held.living());
      const usageBytes = members.reduce((sum, { privateBytes }) => sum + privateBytes, 0n);
      return { processes, usageBytes, removed: processes === 0 };
    } catch {
      return { processes: Math.max(this.#held.living(), 1), usageBytes: undefined, removed: false };
    }
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.#held.onExit(callback);
  }

  close(): void {
    this.#held.close();
    this.#job.close();
  }

  #find(): { readonly members: readonly ProcessEntry[]; readonly own: ReadonlySet<number> } {
    const pids = new Set(this.#job.processes());
    const entries = this.#native.processes();
    return { members: entries.filter(({ pid }) => pids.has(pid)), own: new ProcessTree(entries).lineOf(this.#spared.pid) };
  }
}
