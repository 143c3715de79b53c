/** The records that an operator reads first: decisions of evictd, their outcomes, and other ends of workloads. */
const SHOWN =
  /^\{"time":"[^"]*","type":"(?:start|decision|escalation|outcome|alert|policy|reclaim|resume|pause|reload|reload-refused|kernel-oom|shutdown|ended)"/;
const LINES = 32;

/** The last records of the journal, in memory. */
export class RecentLines {
  readonly #lines: string[] = [];

  add(line: string): void {
    if (!SHOWN.test(line)) return;
    this.#lines.push(line);
    if (this.#lines.length > LINES) this.#lines.shift();
  }

  /** The oldest first. */
  get all(): readonly string[] {
    return this.#lines;
  }
}
