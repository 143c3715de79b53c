import { evictionKey, isPart, type Eviction, type HistoryEvent } from './history-event.js';
import { objectIn, type JournalRecord } from './journal-record.js';

/** Forwards, an eviction waits for its outcome, and what follows waits with it, so that the order is that of the decisions. So many at most. */
const MOST_WAITING = 1_000;

/** Makes events of records, in one direction. */
export interface Joining {
  /** Events that are whole now. */
  take(record: JournalRecord): readonly HistoryEvent[];
  /** No record follows. */
  end(): readonly HistoryEvent[];
}

type Growing = { -readonly [Key in keyof Eviction]: Eviction[Key] } & { readonly key: string; readonly node: unknown };
type Single = Extract<HistoryEvent, { kind: 'record' }>;

/** The oldest record first. */
export class ForwardJoining implements Joining {
  readonly #queue: (Growing | Single)[] = [];
  readonly #open = new Map<string, Growing>();
  /** Their evictd has ended, and nobody goes on with them. The outcomes that the next one writes for them stand around its `start`. */
  #left: readonly Growing[] = [];

  take(record: JournalRecord): readonly HistoryEvent[] {
    if (record.type !== 'outcome' && record.type !== 'start') this.#giveUp();
    if (isPart(record.type)) {
      this.#takePart(record);
    } else {
      const resumed = runEdge(record);
      if (resumed)
        this.#left = [...this.#open.values()].filter(({ node, decision }) => node === record.node && !resumed.has(decision?.decision));
      this.#queue.push({ kind: 'record', record });
    }
    return this.#whole();
  }

  end(): readonly HistoryEvent[] {
    this.#giveUp();
    return this.#queue.splice(0).map(finished);
  }

  #takePart(record: JournalRecord): void {
    const key = evictionKey(record);
    const before = record.type === 'decision' ? undefined : this.#open.get(key);
    const eviction = before ?? growing(record, key);
    take(eviction, record);
    if (before === undefined) this.#queue.push(eviction);
    if (record.type === 'outcome' || record.dryRun === true) this.#open.delete(key);
    else this.#open.set(key, eviction);
  }

  #giveUp(): void {
    for (const eviction of this.#left) {
      if (this.#open.get(eviction.key) !== eviction) continue;
      eviction.seen = 'unseen';
      this.#open.delete(eviction.key);
    }
    this.#left = [];
  }

  #whole(): HistoryEvent[] {
    const whole: HistoryEvent[] = [];
    for (let [head] = this.#queue; head !== undefined; [head] = this.#queue) {
      if (head.kind === 'eviction' && this.#open.get(head.key) === head) {
        if (this.#queue.length <= MOST_WAITING) break;
        this.#open.delete(head.key); // its outcome will stand alone
      }
      whole.push(finished(head));
      this.#queue.shift();
    }
    return whole;
  }
}

/** The newest record first: an outcome is known before its decision comes. */
export class BackwardJoining implements Joining {
  readonly #ends = new Map<string, Growing>();
  /** Of a node whose last run has ended, or another has begun: the decisions that this one goes on with. */
  readonly #edges = new Map<unknown, ReadonlySet<unknown>>();

  take(record: JournalRecord): readonly HistoryEvent[] {
    if (!isPart(record.type)) {
      const resumed = runEdge(record);
      if (resumed && !this.#edges.has(record.node)) this.#edges.set(record.node, resumed);
      return [{ kind: 'record', record }];
    }
    const key = evictionKey(record);
    const eviction = this.#ends.get(key) ?? growing(record, key);
    const resumed = this.#edges.get(record.node);
    if (resumed !== undefined && !resumed.has(record.decision)) eviction.seen = 'unseen';
    take(eviction, record);
    if (record.type === 'decision') {
      this.#ends.delete(key);
      return [finished(eviction)];
    }
    this.#ends.set(key, eviction);
    if (this.#ends.size <= MOST_WAITING) return [];
    const [[oldest, orphan] = []] = this.#ends; // its decision stands in a file that is gone
    if (oldest !== undefined) this.#ends.delete(oldest);
    return orphan === undefined ? [] : [finished(orphan)];
  }

  end(): readonly HistoryEvent[] {
    const rest = [...this.#ends.values()].map(finished);
    this.#ends.clear();
    return rest;
  }
}

/** The decisions that the run of evictd goes on with, which begins or ends here; undefined: none does, or it decides for nobody (a dry run). */
function runEdge(record: JournalRecord): ReadonlySet<unknown> | undefined {
  if ((record.type !== 'start' && record.type !== 'stop') || record.dryRun === true) return undefined;
  const { evictions } = objectIn(record, 'resumed');
  return new Set(Array.isArray(evictions) ? evictions.map((each: { readonly decision?: unknown } | null) => each?.decision) : []);
}

function growing({ node }: JournalRecord, key: string): Growing {
  return { kind: 'eviction', key, node, decision: undefined, escalation: undefined, outcome: undefined, seen: 'in-flight' };
}

function take(eviction: Growing, record: JournalRecord): void {
  if (record.type === 'decision') eviction.decision = record;
  else if (record.type === 'escalation') eviction.escalation = record;
  else eviction.outcome = record;
}

function finished(event: Growing | Single): HistoryEvent {
  if (event.kind === 'record') return event;
  const { decision, escalation, outcome, seen } = event;
  return { kind: 'eviction', decision, escalation, outcome, seen };
}
