import { UNKILLABLE } from '../../core/oom-badness.js';
import type { OomScoreAdjTarget } from '../../core/oom-score-adj-target.js';
import type { FoundProcess } from './found-file.js';
import { withProcess, type HeldProcess } from './process.js';

/** What became of a value since it was last seen. `drifted`: it was evictd's, and somebody else has changed it. */
export type Observed = 'same' | 'changed' | 'drifted';

/** `left`: by evictd, because somebody else has changed its value. `nothing`: it has what was found, or is gone. */
export type Returned = 'given' | 'left' | 'nothing' | 'failed';

/** A process of a workload, as it is known from pass to pass. */
export class Member {
  readonly pid: number;
  readonly start: string;
  /** The value that the kernel did not take. */
  refused: number | undefined;
  #found: number;
  #now: number | undefined;
  #ours: boolean;
  #left: boolean;

  constructor({ pid, start, found, left, now, ours }: FoundProcess & { readonly now: number | undefined; readonly ours: boolean }) {
    this.pid = pid;
    this.start = start;
    this.#found = found;
    this.#left = left;
    this.#now = now;
    this.#ours = ours;
  }

  /** Of an evictd before this one: it has one of the values written, or what was found. */
  static stored(process: FoundProcess): Member {
    return new Member({ ...process, now: undefined, ours: true });
  }

  /** Before evictd wrote. */
  get found(): number {
    return this.#found;
  }

  /** As it was last seen or written; undefined: by an evictd before this one. */
  get now(): number | undefined {
    return this.#now;
  }

  /** `now` is evictd's, and not what was found. */
  get ours(): boolean {
    return this.#ours;
  }

  /** Somebody else changed what evictd had written: left alone. */
  get left(): boolean {
    return this.#left;
  }

  get stored(): FoundProcess {
    return { pid: this.pid, start: this.start, found: this.#found, left: this.#left };
  }

  wanted({ value, atLeast }: OomScoreAdjTarget): number {
    return atLeast === 'found' ? Math.max(this.#found, value) : value;
  }

  /** What was found before evictd wrote may change as it likes. */
  observe(value: number, written: ReadonlySet<number>): Observed {
    if (this.#now === undefined && (value === this.#found || written.has(value))) {
      this.#now = value;
      this.#ours = value !== this.#found;
    }
    if (value === this.#now) return 'same';
    const drifted = this.#ours && !this.#left;
    if (!this.#ours) this.#found = value;
    this.#left ||= drifted || value === UNKILLABLE;
    this.#now = value;
    return drifted ? 'drifted' : 'changed';
  }

  /** Writes, unless its value is not what it was. */
  write(value: number, written: ReadonlySet<number>): Observed {
    const observed = this.#hold((held): Observed => {
      const current = held.value();
      // Processes that share their memory have one value: it may be there already.
      if (current !== value) {
        const seen = this.observe(current, written);
        if (seen !== 'same') return seen;
        held.write(value);
      }
      this.#now = value;
      this.#ours = value !== this.#found;
      return 'same';
    });
    return observed ?? 'same';
  }

  giveBack(written: ReadonlySet<number>): Exclude<Returned, 'failed'> {
    if (this.#left) return 'left';
    if (!this.#ours) return 'nothing';
    const returned = this.#hold((held): 'given' | 'nothing' => {
      const current = held.value();
      this.#now = current;
      if (current === this.#found || !written.has(current)) return 'nothing';
      held.write(this.#found);
      this.#now = this.#found;
      return 'given';
    });
    return returned ?? 'nothing';
  }

  /** undefined: it is gone, whoever has its number. */
  #hold<T>(use: (held: HeldProcess) => T): T | undefined {
    return withProcess(this.pid, (held) => (held.identity.start === this.start ? use(held) : undefined));
  }
}
