import { evictionKey, firstOf, isPart, type Eviction, type HistoryEvent, objectIn, type JournalRecord } from './history-event.js';
import { FullRanking } from './full-ranking.js';

/** Limit of the events that wait for the outcome of an earlier eviction. */
const MAX_WAITING = 1_000;

/** A start reads the journal of the boot before, which takes a moment. */
const SOON_MS = 5_000;

export interface Joining {
  /** Returns the events that are complete now. */
  take(record: JournalRecord): readonly HistoryEvent[];
  /** Returns the rest. */
  end(): readonly HistoryEvent[];
}

type OpenEviction = { -readonly [Key in keyof Eviction]: Eviction[Key] } & {
  readonly key: string;
  readonly node: unknown;
  readonly ranking: FullRanking;
};
type Single = Extract<HistoryEvent, { kind: 'record' }>;

/** Joins records from the oldest to the newest. Events come in the order of their decisions. */
export class ForwardJoining implements Joining {
  readonly #queue: (OpenEviction | Single)[] = [];
  readonly #open = new Map<string, OpenEviction>();
  /** Evictions that their evictd left open when it ended. The next evictd writes their outcomes soon after its `start`. */
  #abandoned: readonly OpenEviction[] = [];
  #givesUpAtMs = 0;

  /** @param rankings  an eviction is complete when all of its `ranking` records have come */
  constructor(private readonly rankings: boolean) {}

  take(record: JournalRecord): readonly HistoryEvent[] {
    if (record.type !== 'outcome' && record.type !== 'start' && Date.parse(record.time) >= this.#givesUpAtMs) this.#giveUp();
    if (isPart(record.type)) {
      this.#takePart(record);
    } else {
      if (record.type === 'start') this.#endRankings(record);
      const resumed = runEdge(record);
      if (resumed) {
        this.#givesUpAtMs = Date.parse(record.time) + (record.type === 'start' ? SOON_MS : 0);
        this.#abandoned = [...this.#open.values()].filter(({ node, decision }) => node === record.node && !resumed.has(decision?.decision));
      }
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
    if (before === undefined && record.type === 'ranking') return; // the file with its decision was deleted
    const eviction = before ?? openEviction(record, key);
    take(eviction, record);
    if (before === undefined) this.#queue.push(eviction);
    if (this.#isComplete(eviction)) this.#open.delete(key);
    else this.#open.set(key, eviction);
  }

  #isComplete({ decision, outcome, ranking }: OpenEviction): boolean {
    if (outcome === undefined && decision?.dryRun !== true) return false;
    return decision === undefined || !this.rankings || ranking.isWhole;
  }

  /** The rest of the rankings of a run that has ended does not come. */
  #endRankings({ node, dryRun }: JournalRecord): void {
    for (const [key, eviction] of this.#open) {
      if (eviction.node !== node || firstOf(eviction)?.dryRun !== dryRun) continue;
      eviction.ranking.end();
      if (this.#isComplete(eviction)) this.#open.delete(key);
    }
  }

  #giveUp(): void {
    for (const eviction of this.#abandoned) {
      if (this.#open.get(eviction.key) !== eviction) continue;
      eviction.seen = 'unseen';
      this.#open.delete(eviction.key);
    }
    this.#abandoned = [];
  }

  #whole(): HistoryEvent[] {
    const whole: HistoryEvent[] = [];
    for (let [head] = this.#queue; head !== undefined; [head] = this.#queue) {
      if (head.kind === 'eviction' && this.#open.get(head.key) === head) {
        if (this.#queue.length <= MAX_WAITING) break;
        this.#open.delete(head.key); // its outcome becomes an event of its own
      }
      whole.push(finished(head));
      this.#queue.shift();
    }
    return whole;
  }
}

/** Joins records from the newest to the oldest: an outcome comes before its decision. */
export class BackwardJoining implements Joining {
  readonly #ends = new Map<string, OpenEviction>();
  /** The decisions that the next run resumed, by node. */
  readonly #edges = new Map<unknown, ReadonlySet<unknown>>();

  take(record: JournalRecord): readonly HistoryEvent[] {
    if (!isPart(record.type)) {
      const resumed = runEdge(record);
      if (resumed && !this.#edges.has(record.node)) this.#edges.set(record.node, resumed);
      return [{ kind: 'record', record }];
    }
    const key = evictionKey(record);
    const eviction = this.#ends.get(key) ?? openEviction(record, key);
    const resumed = this.#edges.get(record.node);
    if (resumed !== undefined && !resumed.has(record.decision)) eviction.seen = 'unseen';
    take(eviction, record);
    if (record.type === 'decision') {
      this.#ends.delete(key);
      return [finished(eviction)];
    }
    this.#ends.set(key, eviction);
    if (this.#ends.size <= MAX_WAITING) return [];
    const [[oldest, orphan] = []] = this.#ends; // the file with its decision was deleted
    if (oldest !== undefined) this.#ends.delete(oldest);
    return orphan === undefined || firstOf(orphan) === undefined ? [] : [finished(orphan)];
  }

  end(): readonly HistoryEvent[] {
    const rest = [...this.#ends.values()].filter((eviction) => firstOf(eviction) !== undefined).map(finished);
    this.#ends.clear();
    return rest;
  }
}

/** The decisions that a `start` or `stop` resumes; undefined: another record, or a dry run. */
function runEdge(record: JournalRecord): ReadonlySet<unknown> | undefined {
  if ((record.type !== 'start' && record.type !== 'stop') || record.dryRun === true) return undefined;
  const { evictions } = objectIn(record, 'resumed');
  return new Set(Array.isArray(evictions) ? evictions.map((each: { readonly decision?: unknown } | null) => each?.decision) : []);
}

function openEviction({ node }: JournalRecord, key: string): OpenEviction {
  const ranking = new FullRanking();
  return { kind: 'eviction', key, node, decision: undefined, escalation: undefined, outcome: undefined, seen: 'in-flight', ranking };
}

function take(eviction: OpenEviction, record: JournalRecord): void {
  if (record.type === 'decision' || record.type === 'ranking') eviction.ranking.take(record);
  if (record.type === 'ranking') return;
  if (record.type === 'decision') eviction.decision = record;
  else if (record.type === 'escalation') eviction.escalation = record;
  else eviction.outcome = record;
}

function finished(event: OpenEviction | Single): HistoryEvent {
  if (event.kind === 'record') return event;
  const { decision, escalation, outcome, seen, ranking } = event;
  return { kind: 'eviction', decision: decision && ranking.of(decision), escalation, outcome, seen };
}
