import { errnoName } from '../../errors.js';
import type { Log } from '../../log/log.js';

/** An attempted change of a process. */
interface Attempt {
  readonly workload: string;
  /** undefined: unknown. */
  readonly from: number | undefined;
  readonly to: number;
}

/** Warnings about oom_score_adj. Problems that affect all processes are logged once. */
export class OomScoreAdjWarnings {
  readonly #loggedCodes = new Set<string>();
  #kept = true;

  constructor(private readonly log: Log) {}

  refused(pid: number, attempt: Attempt | undefined, error: unknown): void {
    const errno = errnoName(error) ?? String(error);
    const process = `process ${String(pid)}${attempt ? ` of ${attempt.workload}` : ''}`;
    if (attempt?.from !== undefined && attempt.to < attempt.from && errno === 'EACCES' && syscallOf(error) === 'write') {
      const change = `from ${String(attempt.from)} to ${String(attempt.to)}`;
      this.#once(
        'EVICTD_OOM_SCORE_ADJ_CAPABILITY',
        `cannot lower oom_score_adj of ${process} ${change}: ${errno}; further failures are not logged`,
        'grant CAP_SYS_RESOURCE; raising a value and restoring it needs none',
      );
    } else {
      this.#once(
        'EVICTD_OOM_SCORE_ADJ_REFUSED',
        `cannot ${attempt ? 'write' : 'read'} oom_score_adj of ${process}: ${errno}; further failures are not logged`,
        'run evictd as root, in the pid namespace of the workloads',
      );
    }
  }

  /** Restoring values of a workload failed for reasons other than the processes. */
  postponed(workload: string, error: unknown): void {
    this.#once(
      'EVICTD_OOM_SCORE_ADJ_FAILED',
      `cannot restore oom_score_adj of all processes of ${workload} now: ${errnoName(error) ?? String(error)}; further failures are not logged`,
      'evictd tries again; for EMFILE raise the limit of open files (LimitNOFILE)',
    );
  }

  /** One line per workload. */
  drifted(workload: string, processes: readonly { readonly pid: number; readonly value: number | undefined }[]): void {
    const [first] = processes;
    if (first === undefined) return;
    const more = processes.length === 1 ? '' : ` and ${String(processes.length - 1)} more`;
    this.log.warn(
      `oom_score_adj of process ${String(first.pid)} of ${workload}${more} was changed to ${String(first.value)} by another program: evictd leaves it`,
      { code: 'EVICTD_OOM_SCORE_ADJ_CHANGED' },
    );
  }

  notKept(path: string, error: unknown): void {
    if (this.#kept) {
      this.log.warn(`evictd does not change oom_score_adj: cannot write the original values to ${path}: ${String(error)}`, {
        code: 'EVICTD_OOM_SCORE_ADJ_FILE',
      });
    }
    this.#kept = false;
  }

  kept(): void {
    if (!this.#kept) this.log.info('evictd changes oom_score_adj again: the file of original values is writable');
    this.#kept = true;
  }

  unreadable(path: string, error: unknown): void {
    this.log.warn(
      `cannot restore the oom_score_adj that an earlier evictd changed: cannot read ${path}: ${String(error)} (restart the workloads)`,
      { code: 'EVICTD_OOM_SCORE_ADJ_LOST' },
    );
  }

  #once(code: string, message: string, hint: string): void {
    if (this.#loggedCodes.has(code)) return;
    this.#loggedCodes.add(code);
    this.log.warn(`${message} (${hint})`, { code });
  }
}

function syscallOf(error: unknown): unknown {
  return error instanceof Error && 'syscall' in error ? error.syscall : undefined;
}
