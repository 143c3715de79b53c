import { UNKILLABLE } from '../../core/oom/oom-badness.js';
import type { OomScoreAdjTarget } from '../../core/oom/oom-score-adj-target.js';
import type { FoundProcess } from './original-values-file.js';
import { withProcess, type HeldProcess } from './oom-score-adj-file.js';

/** The change of a value since the last look. `drifted`: another program changed a value of evictd's. */
export type Observed = 'same' | 'changed' | 'drifted';

/**
 * `left`: another program changed the value, so evictd leaves it. `nothing`: it has the original value, or has ended.
 */
export type RestoreResult = 'given' | 'left' | 'nothing' | 'failed';

export class AdjustedProcess {
  readonly pid: number;
  readonly start: string;
  /** The value before evictd's first write. */
  found: number;
  /** Another program changed evictd's value: evictd leaves it. */
  left: boolean;
  /** The value as last read or written; undefined: not read yet since evictd started. */
  now: number | undefined;
  /** Whether `now` is a value of evictd's that differs from the original. */
  ours: boolean;
  /** The last value that the kernel refused. */
  refused: number | undefined;

  /** Without `now` the process is from the file: it has one of the written values, or its original one. */
  constructor({ pid, start, found, left }: FoundProcess, now?: number, ours = true) {
    this.pid = pid;
    this.start = start;
    this.found = found;
    this.left = left;
    this.now = now;
    this.ours = ours;
  }

  wanted({ value, atLeast }: OomScoreAdjTarget): number {
    return atLeast === 'found' ? Math.max(this.found, value) : value;
  }

  /** The original value follows changes until evictd writes. */
  observe(value: number, written: ReadonlySet<number>): Observed {
    if (this.now === undefined && (value === this.found || written.has(value))) {
      this.now = value;
      this.ours = value !== this.found;
    }
    if (value === this.now) return 'same';
    const drifted = this.ours && !this.left;
    if (!this.ours) this.found = value;
    this.left ||= drifted || value === UNKILLABLE;
    this.now = value;
    return drifted ? 'drifted' : 'changed';
  }

  /** Does not write if another program changed the value. */
  write(value: number, written: ReadonlySet<number>): Observed {
    const observed = this.#hold((held): Observed => {
      const current = held.value();
      // Processes that share memory share the value: a write to one of them may have set it already.
      if (current !== value) {
        const seen = this.observe(current, written);
        if (seen !== 'same') return seen;
        held.write(value);
      }
      this.now = value;
      this.ours = value !== this.found;
      return 'same';
    });
    return observed ?? 'same';
  }

  restore(written: ReadonlySet<number>): Exclude<RestoreResult, 'failed'> {
    if (this.left) return 'left';
    if (!this.ours) return 'nothing';
    const returned = this.#hold((held): 'given' | 'nothing' => {
      const current = held.value();
      this.now = current;
      if (current === this.found || !written.has(current)) return 'nothing';
      held.write(this.found);
      this.now = this.found;
      return 'given';
    });
    return returned ?? 'nothing';
  }

  /** undefined: the process has ended, even if its pid was reused. */
  #hold<T>(use: (held: HeldProcess) => T): T | undefined {
    return withProcess(this.pid, (held) => (held.identity.start === this.start ? use(held) : undefined));
  }
}
