import type { JournalRecord } from './journal-lines.js';
import { A_UNIT, monotonicOf, type Promised, type Seen } from './seen.js';

/** A record and its time on the monotonic clock, in milliseconds. */
export type TimedRecord = JournalRecord & { readonly at: number };

/** An eviction: a decision and what came of it. */
export interface Eviction {
  readonly number: number;
  readonly place: number;
  readonly victim: string;
  readonly name: string;
  /** A workload that is started again has the same one. */
  readonly path: string;
  /** evictd says that the budget counts it with an earlier one of the same workload. */
  readonly repeats: boolean;
  readonly resource: string;
  /** What had to be available. */
  readonly limit: number;
  readonly from: number;
  /** The latest that it can have been decided at is `from`; the earliest is this. */
  readonly notBefore: number;
  /** No signal is before this. */
  readonly signals: number;
  /** When the first one was sent, as the outcome has it; undefined: it does not. */
  readonly signalledAt: number | undefined;
  /** A standing order: its record is in a file of its own before the signal, in the journal when the main thread runs again. */
  readonly isOrdered: boolean;
  readonly outcome: { readonly place: number; readonly at: number; readonly result: string; readonly notFreed: string } | undefined;
}

export interface Life {
  readonly workload: string;
  readonly pid: number;
  readonly from: number;
  readonly end: { readonly at: number; readonly signal: string | null; readonly sent: boolean; readonly byKernel: boolean } | undefined;
}

export interface Evidence {
  readonly journal: readonly TimedRecord[];
  readonly seen: readonly Seen[];
  readonly promised: Promised;
  readonly evictions: readonly Eviction[];
  readonly lives: readonly Life[];
  readonly protectedOnes: ReadonlySet<string>;
}

export interface Violation {
  readonly at: number;
  readonly what: string;
}

const NS_PER_MS = 1e6;

export function evidenceOf(records: readonly JournalRecord[], seen: readonly Seen[], promised: Promised): Evidence {
  const journal = records.map((record) => ({ ...record, at: monotonicOf(Date.parse(record.time), seen) }));
  return {
    journal,
    seen,
    promised,
    evictions: evictionsOf(journal),
    lives: livesOf(seen),
    protectedOnes: new Set(seen.flatMap((event) => (event.kind === 'workload' && event.protected ? [event.workload] : []))),
  };
}

export const looksOf = (seen: readonly Seen[]) => seen.filter((event) => event.kind === 'looked');

export function resourceOf(signal: string): string {
  return signal.startsWith('pid.') ? 'process ids' : signal.includes('fs.') ? signal : 'memory';
}

function evictionsOf(records: readonly TimedRecord[]): Eviction[] {
  return records.flatMap((record, place): Eviction[] => {
    if (record.type !== 'decision' || record.decision === undefined) return [];
    const over = records.findIndex(({ type, decision }) => type === 'outcome' && decision === record.decision);
    const outcome = records[over];
    const from = record.at;
    const isOrdered = record.wake === 'standing_order';
    const span = outcome?.spansMs?.crossingToSignal;
    const notBefore = Math.min(from, Number(record.wakeAtNs ?? Infinity) / NS_PER_MS);
    return [
      {
        number: record.decision,
        place,
        victim: /#(\d+)$/.exec(record.victim?.id ?? '')?.[1] ?? '?',
        name: record.victim?.name ?? '?',
        path: record.victim?.id.replace(/#\d+$/, '') ?? '?',
        repeats: record.repeats === true,
        resource: resourceOf(record.signal ?? ''),
        limit: Number(record.limit ?? 0),
        from,
        notBefore,
        signals: isOrdered ? notBefore : from,
        signalledAt: span === undefined ? undefined : Number(record.wakeAtNs) / NS_PER_MS + span,
        isOrdered,
        outcome: outcome && { place: over, at: outcome.at, result: outcome.result ?? '?', notFreed: outcome.notFreed ?? '?' },
      },
    ];
  });
}

/** Each kernel kill of a workload accounts for one end by SIGKILL. */
function livesOf(seen: readonly Seen[]): Life[] {
  const kills = new Map<string, number>();
  const lives = new Map<string, Life>();
  for (const event of seen) {
    if (event.kind === 'kernel-kills') kills.set(event.workload, (kills.get(event.workload) ?? 0) + event.count);
    if (event.kind === 'process') {
      lives.set(`${event.workload} ${event.pid}`, { workload: event.workload, pid: event.pid, from: event.at, end: undefined });
    }
    if (event.kind !== 'ended') continue;
    const key = `${event.workload} ${event.pid}`;
    const life = lives.get(key);
    const killed = [event.workload, A_UNIT].find((workload) => (kills.get(workload) ?? 0) > 0);
    const byKernel = !event.sent && event.signal === 'SIGKILL' && killed !== undefined;
    if (byKernel) kills.set(killed, (kills.get(killed) ?? 0) - 1);
    if (life) lives.set(key, { ...life, end: { at: event.at, signal: event.signal, sent: event.sent, byKernel } });
  }
  return [...lives.values()];
}

/** Neither the driver nor the kernel ended it. */
export function endedByEvictd(life: Life): life is Life & { readonly end: NonNullable<Life['end']> } {
  return typeof life.end?.signal === 'string' && !life.end.sent && !life.end.byKernel;
}
