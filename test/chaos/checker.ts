import type { JournalRecord, JournalText } from './journal-lines.js';
import type { Promised, Seen } from './seen.js';

export interface Verdict {
  /** Each with its time and the lines around it. */
  readonly violations: readonly string[];
  readonly evictions: number;
  /** Kills by the kernel's OOM killer that evictd could not prevent, by the reason. */
  readonly excused: Readonly<Record<string, number>>;
}

/** An eviction: a decision and what came of it. */
interface Eviction {
  readonly number: number;
  readonly place: number;
  readonly victim: string;
  readonly name: string;
  readonly resource: string;
  readonly from: number;
  /** The latest that it can have been decided at is `from`; the earliest is this. */
  readonly notBefore: number;
  /** No signal is before this. */
  readonly signals: number;
  readonly outcome: { readonly place: number; readonly at: number; readonly result: string } | undefined;
}

interface Life {
  readonly workload: string;
  readonly pid: number;
  readonly from: number;
  readonly end: { readonly at: number; readonly signal: string | null; readonly sent: boolean; readonly byKernel: boolean } | undefined;
}

interface Evidence {
  readonly journal: readonly JournalRecord[];
  readonly seen: readonly Seen[];
  readonly promised: Promised;
  readonly evictions: readonly Eviction[];
  readonly lives: readonly Life[];
  readonly protectedOnes: ReadonlySet<string>;
}

interface Violation {
  readonly at: number;
  readonly what: string;
}

const NS_PER_MS = 1e6;
/** Results after which no signal was sent, or may have been. */
const UNSENT = ['vanished', 'abandoned'];
/** Alerts after which evictd evicts nothing, although it could: no eviction would help. */
const PAUSES = ['no-yield', 'leak-elsewhere'];
const AROUND = 8;

/** One function for each promise. */
const PROMISES: readonly ((evidence: Evidence) => readonly Violation[])[] = [
  protectedStay,
  budgetHolds,
  oneAtATime,
  everySignalIsRecorded,
  everyDecisionHasOneOutcome,
  killedIsDead,
  evictdStays,
  guardsAtTheEnd,
];

/** Compares what evictd says in its journal with what the driver saw. */
export function check({ records, broken }: JournalText, seen: readonly Seen[], promised: Promised): Verdict {
  const evidence: Evidence = {
    journal: records,
    seen,
    promised,
    evictions: evictionsOf(records, promised.clockOffsetMs),
    lives: livesOf(seen),
    protectedOnes: new Set(seen.flatMap((event) => (event.kind === 'workload' && event.protected ? [event.workload] : []))),
  };
  const kernel = kernelKills(evidence);
  const violations = [
    ...broken.map((line) => ({ at: 0, what: `a line of the journal is no JSON: ${line.slice(0, 200)}` })),
    ...PROMISES.flatMap((promise) => promise(evidence)),
    ...kernel.violations,
  ];
  return {
    violations: violations.map((violation) => report(violation, evidence)),
    evictions: evidence.evictions.filter(({ outcome }) => outcome !== undefined && !UNSENT.includes(outcome.result)).length,
    excused: kernel.excused,
  };
}

function timeOf(record: JournalRecord): number {
  return Date.parse(record.time);
}

function evictionsOf(records: readonly JournalRecord[], clockOffsetMs: number): Eviction[] {
  return records.flatMap((record, place): Eviction[] => {
    if (record.type !== 'decision' || record.decision === undefined) return [];
    const over = records.findIndex(({ type, decision }) => type === 'outcome' && decision === record.decision);
    const outcome = records[over];
    const from = timeOf(record);
    const notBefore = Math.min(from, Number(record.wakeAtNs ?? Infinity) / NS_PER_MS + clockOffsetMs);
    return [
      {
        number: record.decision,
        place,
        victim: /#(\d+)$/.exec(record.victim?.id ?? '')?.[1] ?? '?',
        name: record.victim?.name ?? '?',
        resource: resourceOf(record.signal ?? ''),
        from,
        notBefore,
        // Its record is in a file of its own before the signal, and in the journal when the main thread runs again.
        signals: record.wake === 'standing_order' ? notBefore : from,
        outcome: outcome && { place: over, at: timeOf(outcome), result: outcome.result ?? '?' },
      },
    ];
  });
}

function resourceOf(signal: string): string {
  return signal.startsWith('pid.') ? 'process ids' : signal.includes('fs.') ? signal : 'memory';
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
    const unclaimed = kills.get(event.workload) ?? 0;
    const byKernel = !event.sent && event.signal === 'SIGKILL' && unclaimed > 0;
    if (byKernel) kills.set(event.workload, unclaimed - 1);
    if (life) lives.set(key, { ...life, end: { at: event.at, signal: event.signal, sent: event.sent, byKernel } });
  }
  return [...lives.values()];
}

function isUnsent({ signal, sent, byKernel }: NonNullable<Life['end']>): boolean {
  return signal !== null && !sent && !byKernel;
}

/** Neither the driver nor the kernel ended it. */
function endedByEvictd(life: Life): life is Life & { readonly end: NonNullable<Life['end']> } {
  return life.end !== undefined && isUnsent(life.end);
}

function protectedStay({ evictions, lives, protectedOnes }: Evidence): Violation[] {
  return [
    ...evictions
      .filter(({ victim }) => protectedOnes.has(victim))
      .map(({ from, number, name }) => ({ at: from, what: `decision ${number} has the protected workload ${name} as its victim` })),
    ...lives
      .filter(endedByEvictd)
      .filter(({ workload }) => protectedOnes.has(workload))
      .map(({ workload, pid, end }) => ({
        at: end.at,
        what: `process ${pid} of the protected workload ${workload} ended by ${end.signal ?? ''}`,
      })),
  ];
}

/**
 * No window has more than `max`: from the earliest moment that the first one can have been decided at to the record of
 * the last one, so that neither a stopped evictd nor a busy machine makes the distance appear shorter than it was.
 */
function budgetHolds({ evictions, promised: { budget } }: Evidence): Violation[] {
  const counted = evictions.filter(({ outcome }) => outcome === undefined || !UNSENT.includes(outcome.result));
  return [...new Set(counted.map(({ resource }) => resource))].flatMap((resource) => {
    const same = counted.filter((eviction) => eviction.resource === resource);
    return same.flatMap((last, index) => {
      const first = same[index - budget.max];
      if (first === undefined || last.from - first.notBefore >= budget.windowMs) return [];
      const within = `${((last.from - first.notBefore) / 1000).toFixed(1)} s`;
      return [{ at: last.from, what: `decision ${last.number} is number ${budget.max + 1} for ${resource} within ${within}` }];
    });
  });
}

function oneAtATime({ evictions }: Evidence): Violation[] {
  return evictions.flatMap((eviction, index) => {
    const dying = evictions
      .slice(0, index)
      .find(({ resource, outcome }) => resource === eviction.resource && (outcome === undefined || outcome.place > eviction.place));
    if (dying === undefined) return [];
    return [{ at: eviction.from, what: `decision ${eviction.number} for ${eviction.resource} while the victim of ${dying.number} dies` }];
  });
}

function everySignalIsRecorded({ evictions, lives }: Evidence): Violation[] {
  return lives.filter(endedByEvictd).flatMap(({ workload, pid, from, end }) => {
    const process = `process ${pid} of ${workload} ended by ${end.signal ?? ''}`;
    const its = evictions.find(
      (eviction) => eviction.victim === workload && eviction.signals <= end.at && (eviction.outcome?.at ?? Infinity) >= from,
    );
    if (its === undefined) return [{ at: end.at, what: `${process}, and no decision is before it` }];
    if (its.outcome?.result === 'vanished') return [{ at: end.at, what: `${process}, and the outcome says that no signal was sent` }];
    return [];
  });
}

function everyDecisionHasOneOutcome({ journal, evictions }: Evidence): Violation[] {
  const outcomes = journal.filter(({ type }) => type === 'outcome');
  return [
    ...evictions
      .filter(({ number }, index) => evictions.findIndex((other) => other.number === number) !== index)
      .map(({ from, number }) => ({ at: from, what: `decision ${number} is there twice` })),
    ...evictions.flatMap(({ from, number }) => {
      const count = outcomes.filter(({ decision }) => decision === number).length;
      return count === 1 ? [] : [{ at: from, what: `decision ${number} has ${count} outcomes` }];
    }),
    ...evictions
      .filter(({ place, outcome }) => outcome !== undefined && outcome.place < place)
      .map(({ from, number }) => ({ at: from, what: `the outcome of decision ${number} is before it` })),
    ...outcomes
      .filter(({ decision }) => !evictions.some(({ number }) => number === decision))
      .map((record) => ({ at: timeOf(record), what: `an outcome without a decision: ${String(record.decision)}` })),
  ];
}

function killedIsDead({ evictions, lives }: Evidence): Violation[] {
  return evictions
    .filter(({ outcome }) => outcome?.result === 'killed')
    .flatMap((eviction) =>
      lives
        .filter(({ workload, from, end }) => workload === eviction.victim && from < eviction.from && end === undefined)
        .map(({ pid }) => ({
          at: eviction.from,
          what: `decision ${eviction.number} has killed ${eviction.name}, and its process ${pid} lives on`,
        })),
    );
}

function evictdStays({ seen }: Evidence): Violation[] {
  return seen.flatMap((event) =>
    event.kind === 'evictd' && event.state === 'lost' ? [{ at: event.at, what: 'evictd ended by itself' }] : [],
  );
}

function guardsAtTheEnd({ seen, evictions, lives, promised: { last } }: Evidence): Violation[] {
  const evicted = evictions.some(({ victim, outcome }) => victim === last && outcome?.result === 'killed');
  const ended = lives.some((life) => life.workload === last && endedByEvictd(life));
  return evicted && ended ? [] : [{ at: seen.at(-1)?.at ?? 0, what: 'evictd has not evicted the last leak' }];
}

/** The kernel's OOM killer, at the limit of the node: no workload has a limit of its own. */
function kernelKills(evidence: Evidence): { readonly violations: readonly Violation[]; readonly excused: Record<string, number> } {
  const violations: Violation[] = [];
  const excused: Record<string, number> = {};
  for (const event of evidence.seen) {
    if (event.kind !== 'kernel-kills') continue;
    const reason = excuse(evidence, event.since, event.at);
    if (reason === undefined) violations.push({ at: event.at, what: `the kernel's OOM killer killed a process of ${event.workload}` });
    else excused[reason] = (excused[reason] ?? 0) + event.count;
  }
  return { violations, excused };
}

/** Why evictd could not prevent a kill by the kernel between these times; undefined: it could have. */
function excuse({ seen, journal, evictions, lives, protectedOnes, promised: { budget } }: Evidence, since: number, at: number) {
  const states = seen.filter((event) => event.kind === 'evictd');
  const state = states.filter((event) => event.at <= since).at(-1)?.state ?? 'dead';
  if (state !== 'guards') return state;
  const between = states.find((event) => event.at > since && event.at <= at && event.state !== 'guards');
  if (between) return between.state;
  // A shortage that began while evictd did not run is over with the first outcome.
  const guardsSince = states.filter((event) => event.at <= since).at(-1)?.at ?? 0;
  const wasAway = states.some((event) => event.at < guardsSince && event.state !== 'guards');
  if (wasAway && !evictions.some(({ outcome }) => outcome !== undefined && outcome.at > guardsSince && outcome.at < since))
    return 'just back';
  const recent = evictions.filter((eviction) => eviction.resource === 'memory' && eviction.from <= at);
  if (recent.filter(({ from }) => from > since - budget.windowMs).length >= budget.max) return 'budget';
  const said = journal
    .filter(
      (record) => timeOf(record) <= at && /^(decision|outcome|alert)$/.test(record.type) && resourceOf(record.signal ?? '') === 'memory',
    )
    .at(-1);
  if (said?.alert !== undefined && PAUSES.includes(said.alert)) return said.alert;
  const alive = lives.some(({ workload, from, end }) => !protectedOnes.has(workload) && from < since && (end?.at ?? Infinity) > since);
  return alive ? undefined : 'nothing evictable';
}

/** With the lines around it, of the journal and of the driver, by time. */
function report({ at, what }: Violation, { journal, seen, promised: { seed } }: Evidence): string {
  const lines = [
    ...journal.map((record) => ({
      at: timeOf(record),
      text: `journal ${record.type} ${String(record.decision ?? record.alert ?? '')} ${record.message ?? ''}`,
    })),
    ...seen.map(({ at: when, ...event }) => ({ at: when, text: `driver  ${JSON.stringify(event)}` })),
  ].sort((a, b) => a.at - b.at);
  const index = lines.findIndex((line) => line.at >= at);
  const middle = index === -1 ? lines.length : index;
  const around = lines.slice(Math.max(0, middle - AROUND), middle + AROUND);
  const stamp = (time: number): string => new Date(time).toISOString().slice(11, 23);
  return [`seed ${seed}, ${stamp(at)}: ${what}`, ...around.map((line) => `    ${stamp(line.at)} ${line.text.slice(0, 300)}`)].join('\n');
}
