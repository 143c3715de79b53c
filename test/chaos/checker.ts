import { endedByEvictd, evidenceOf, looksOf, type Evidence, type Violation } from './evidence.js';
import type { JournalText } from './journal-lines.js';
import { kernelKills } from './kernel-kills.js';
import { ROUNDING_MS, type Promised, type Seen } from './seen.js';

export interface Verdict {
  /** Each with its time and the lines around it. */
  readonly violations: readonly string[];
  readonly evictions: number;
  /** Kills by the kernel's OOM killer that evictd could not prevent, by the reason. */
  readonly excused: Readonly<Record<string, number>>;
}

/** Results after which no signal was sent, or may have been. */
const UNSENT = ['vanished', 'abandoned'];
/** Results after which no process is left. */
const ENDED = ['killed', 'ineffective'];
const AROUND = 8;

/** One function for each promise. */
const PROMISES: readonly ((evidence: Evidence) => readonly Violation[])[] = [
  protectedStay,
  budgetHolds,
  oneAtATime,
  noVictimTwice,
  everySignalIsRecorded,
  everyDecisionHasOneOutcome,
  killedIsDead,
  signalsAreInOrder,
  ownLimitsAreToldApart,
  evictdStays,
  guardsAtTheEnd,
];

/** Compares what evictd says in its journal with what the driver saw. */
export function check({ records, broken }: JournalText, seen: readonly Seen[], promised: Promised): Verdict {
  const evidence = evidenceOf(records, seen, promised);
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
 * No window has more than `max` victims: from the earliest moment that the first one can have been decided at to the
 * record of the last one, so that neither a stopped evictd nor a busy machine makes the distance appear shorter than it
 * was. Several evictions of one workload, which was started again, have one victim.
 */
function budgetHolds({ evictions, promised: { budget } }: Evidence): Violation[] {
  const counted = evictions.filter(({ outcome }) => outcome === undefined || !UNSENT.includes(outcome.result));
  return counted.flatMap((last, index) => {
    const { resource, number, from } = last;
    const within = counted
      .slice(0, index + 1)
      .filter((other) => other.resource === resource && (other === last || from - other.notBefore < budget.windowMs));
    const victims = new Set(within.map(({ path }) => path));
    if (victims.size <= budget.max) return [];
    const seconds = ((from - (within[0]?.notBefore ?? from)) / 1000).toFixed(1);
    return [{ at: from, what: `decision ${number} has victim ${victims.size} for ${resource} within ${seconds} s` }];
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

/** A workload without a process since its eviction frees nothing. (The driver does not know each process of a unit or a fork bomb.) */
function noVictimTwice({ evictions, lives }: Evidence): Violation[] {
  return evictions.flatMap((eviction, index) => {
    const { victim, name, place, from, number } = eviction;
    const earlier = evictions
      .slice(0, index)
      .findLast(({ victim: other, outcome }) => other === victim && outcome && outcome.place < place && ENDED.includes(outcome.result));
    const its = lives.filter(({ workload }) => workload === victim);
    const again = its.some((life) => life.from > (earlier?.signals ?? 0) && life.from < from);
    if (earlier === undefined || its.length === 0 || again) return [];
    return [{ at: from, what: `decision ${number} has the same victim as ${earlier.number}, ${name}, which has no process since` }];
  });
}

function everySignalIsRecorded({ evictions, lives }: Evidence): Violation[] {
  return lives.filter(endedByEvictd).flatMap(({ workload, pid, from, end }) => {
    const process = `process ${pid} of ${workload} ended by ${end.signal ?? ''}`;
    const its = evictions.find(
      (eviction) => eviction.victim === workload && eviction.signals <= end.at + ROUNDING_MS && (eviction.outcome?.at ?? Infinity) >= from,
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
      .map((record) => ({ at: record.at, what: `an outcome without a decision: ${String(record.decision)}` })),
  ];
}

function killedIsDead({ evictions, lives, seen }: Evidence): Violation[] {
  const looks = looksOf(seen);
  return evictions.flatMap(({ number, name, victim, from, signals, outcome }) => {
    if (outcome === undefined || !ENDED.includes(outcome.result)) return [];
    return lives
      .filter((life) => life.workload === victim && life.from < signals)
      .filter(
        ({ pid, end }) =>
          end === undefined || looks.some(({ at, alive }) => at > outcome.at + ROUNDING_MS && at < end.at && alive.includes(pid)),
      )
      .map(({ pid }) => ({ at: from, what: `decision ${number} has killed ${name}, and its process ${pid} lives on` }));
  });
}

/** By the monotonic clock, whatever the wall clock does. A standing order comes into the journal later. */
function signalsAreInOrder({ evictions }: Evidence): Violation[] {
  const signalled = evictions.flatMap(({ number, from, isOrdered, signalledAt }) =>
    isOrdered || signalledAt === undefined ? [] : [{ number, from, signalledAt }],
  );
  return signalled.flatMap(({ number, from: at, signalledAt }, index) => [
    ...(signalledAt < (signalled[index - 1]?.signalledAt ?? 0)
      ? [{ at, what: `the signal of decision ${number} is before that of the one before it` }]
      : []),
    ...(signalledAt + ROUNDING_MS < at ? [{ at, what: `the signal of decision ${number} is before its record` }] : []),
  ]);
}

/** evictd counts no kill at a limit of a workload's own as one of the node. */
function ownLimitsAreToldApart({ journal, seen }: Evidence): Violation[] {
  const kills = seen.filter((event) => event.kind === 'kernel-kills');
  const own = new Set(kills.filter(({ limit }) => limit === 'own').map(({ workload }) => workload));
  for (const { workload, limit } of kills) if (limit === 'node') own.delete(workload);
  const names = new Map(
    seen.flatMap((event) => (event.kind === 'workload' || event.kind === 'renamed' ? [[event.name, event.workload]] : [])),
  );
  return journal
    .filter(({ type, limit }) => type === 'kernel-oom' && limit === 'node')
    .filter(({ workload }) => own.has(names.get(workload?.name ?? '') ?? ''))
    .map(({ at, workload }) => ({ at, what: `a kill at the own limit of ${workload?.name ?? ''} is recorded as one of the node` }));
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

/** With the lines around it, of the journal and of the driver, in the time of a clock that did not jump. */
function report({ at, what }: Violation, { journal, seen, promised: { seed } }: Evidence): string {
  const lines = [
    ...journal.map((record) => ({
      at: record.at,
      text: `journal ${record.type} ${String(record.decision ?? record.alert ?? '')} ${record.message ?? ''}`,
    })),
    ...seen
      .filter(({ kind }) => kind !== 'looked')
      .map(({ at: when, wall: _wall, ...event }) => ({ at: when, text: `driver  ${JSON.stringify(event)}` })),
  ].sort((a, b) => a.at - b.at);
  const index = lines.findIndex((line) => line.at >= at);
  const middle = index === -1 ? lines.length : index;
  const around = lines.slice(Math.max(0, middle - AROUND), middle + AROUND);
  const began = seen[0] ?? { at: 0, wall: 0 };
  const stamp = (time: number): string => new Date(time - began.at + began.wall).toISOString().slice(11, 23);
  return [`seed ${seed}, ${stamp(at)}: ${what}`, ...around.map((line) => `    ${stamp(line.at)} ${line.text.slice(0, 300)}`)].join('\n');
}
