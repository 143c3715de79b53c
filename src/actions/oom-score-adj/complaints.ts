import { errnoName } from '../../errors.js';
import type { Log } from '../../log.js';

/** An attempted change of a process. */
export interface Attempt {
  readonly workload: string;
  /** undefined: unknown. */
  readonly from: number | undefined;
  readonly to: number;
}

/** Warnings about oom_score_adj. Problems that affect all processes are logged once. */
export class OomScoreAdjComplaints {
  readonly #log: Log;
  readonly #said = new Set<string>();
  #kept = true;

  constructor(log: Log) {
    this.#log = log;
  }

  refused(pid: number, attempt: Attempt | undefined, error: unknown): void {
    const errno = errnoName(error) ?? String(error);
    const process = `process ${String(pid)}${attempt ? ` of ${attempt.workload}` : ''}`;
    if (attempt?.from !== undefined && attempt.to < attempt.from && errno === 'EACCES' && syscallOf(error) === 'write') {
      const change = `from ${String(attempt.from)} to ${String(attempt.to)}`;
      this.#once(
        'EVICTD_OOM_SCORE_ADJ_CAPABILITY',
        `oom_score_adj of ${process} may not be lowered ${change} (${errno}); nor may others, and this is said once`,
        'grant CAP_SYS_RESOURCE; raising and giving back what was raised needs none',
      );
    } else {
      this.#once(
        'EVICTD_OOM_SCORE_ADJ_REFUSED',
        `oom_score_adj of ${process} cannot be ${attempt ? 'written' : 'read'} (${errno}); others may be refused, too, and this is said once`,
        'run evictd as root, in the pid namespace of the workloads',
      );
    }
  }

  /** Restoring values of a workload failed for reasons other than the processes. */
  postponed(workload: string, error: unknown): void {
    this.#once(
      'EVICTD_OOM_SCORE_ADJ_FAILED',
      `oom_score_adj cannot be given back to all processes of ${workload} now (${errnoName(error) ?? String(error)}), and this is said once`,
      'it is tried again, and kept in the file until then; for EMFILE raise the limit of open files (LimitNOFILE)',
    );
  }

  /** One line per workload. */
  drifted(workload: string, processes: readonly { readonly pid: number; readonly value: number | undefined }[]): void {
    const [first] = processes;
    if (first === undefined) return;
    const more = processes.length === 1 ? '' : ` and ${String(processes.length - 1)} more`;
    this.#log.warn(
      `oom_score_adj of process ${String(first.pid)} of ${workload}${more} was changed by somebody else, to ${String(first.value)}: it is left alone`,
      { code: 'EVICTD_OOM_SCORE_ADJ_CHANGED' },
    );
  }

  notKept(path: string, error: unknown): void {
    if (this.#kept) {
      this.#log.warn(`no oom_score_adj is written, because ${path} cannot be: ${String(error)} (the values found are kept there)`, {
        code: 'EVICTD_OOM_SCORE_ADJ_FILE',
      });
    }
    this.#kept = false;
  }

  kept(): void {
    if (!this.#kept) this.#log.info('the values of oom_score_adj that are found can be kept again');
    this.#kept = true;
  }

  unreadable(path: string, error: unknown): void {
    this.#log.warn(
      `oom_score_adj cannot be given back to what an evictd before this one wrote to: ${path} cannot be read: ${String(error)} (restart the workloads)`,
      { code: 'EVICTD_OOM_SCORE_ADJ_LOST' },
    );
  }

  #once(code: string, message: string, hint: string): void {
    if (this.#said.has(code)) return;
    this.#said.add(code);
    this.#log.warn(`${message} (${hint})`, { code });
  }
}

function syscallOf(error: unknown): unknown {
  return error instanceof Error && 'syscall' in error ? error.syscall : undefined;
}
