import * as z from 'zod/mini';
import type { EvictionInFlight } from '../core/decide/eviction.js';
import { briefDrain } from '../core/drain/brief-drain.js';
import { briefTaintEvictions, taintEvictionsOf } from './brief-taint-evictions.js';
import { taintText } from '../core/disruption/taint.js';
import { CONDITION_TYPES, RESOURCES, SIGNALS } from '../core/signal/signal.js';
import type { State } from '../core/decide/state.js';
import type { BudgetedEviction } from '../core/budget/eviction-budget.js';
import type { SentSignals } from '../monitor/ports/sent-signals.js';
import {
  anyObject,
  briefEvictions,
  disruption,
  drain,
  episode,
  eviction,
  growthBase,
  hold,
  object,
  operatorPause,
  taint,
  threshold,
} from './saved-schemas.js';

/**
 * A part of the loop's state that is kept over a restart. Its type and initial value are those of core/decide/state.ts.
 */
type SavedPart<T> = PartOptions<T> & (AsItIs<T> | AsWritten<T>);

interface PartOptions<T> {
  /**
   * A text that differs after a change that must not be lost. Left out: the part is saved with the next change of
   * another one.
   */
  readonly change?: (value: T) => string;
  /** Its value where the state does not fit into the file, and what the next evictd then does not know; left out: always written. */
  readonly ifTooLong?: { readonly value: T; readonly unknown: string };
}

interface AsItIs<T> {
  /** Checks what was read from disk. Called only then: zod takes milliseconds to build its schemas. */
  readonly schema: () => z.ZodMiniType<T>;
  /** What is written; left out: the value. */
  readonly saved?: (value: T) => T;
  readonly restored?: undefined;
}

/** In another form in the file. */
interface AsWritten<T> {
  readonly schema: () => z.ZodMiniType;
  readonly saved: (value: T) => unknown;
  readonly restored: (saved: never) => T;
}

/**
 * Found out anew: readings, the layout, what follows from them, and node-level reclaim, which ends with its process and
 * begins again while its threshold is met. What the API server has not answered is asked again.
 */
type FoundAnew = keyof Pick<
  State,
  | 'layout'
  | 'lastObservations'
  | 'reclaiming'
  | 'collectedAt'
  | 'measurementAwaitedSince'
  | 'unansweredEvictions'
  | 'relievedSince'
  | 'taintsJudged'
  | 'policies'
>;

const integer = () => z.bigint();
const integersByText = () => z.map(z.string(), z.bigint());

/** Every other key of the state. */
const SAVED_PARTS = {
  baselines: {
    schema: () => z.map(z.enum(SIGNALS), growthBase()),
    ifTooLong: { value: new Map(), unknown: 'what has grown since the last eviction' },
  },
  lastStepNs: { schema: integer },
  episodes: { schema: () => z.map(z.string(), threshold()) },
  reported: { schema: () => z.map(z.string(), episode()), change: (reported) => [...reported.keys()].join() },
  firstObservedAt: { schema: integersByText, change: (times) => [...times].join() },
  lastSeenAt: { schema: integersByText },
  conditionsLastObservedAt: { schema: () => z.map(z.enum(CONDITION_TYPES), z.bigint()) },
  conditions: { schema: () => z.array(z.enum(CONDITION_TYPES)), change: (conditions) => conditions.join() },
  thresholdsMet: { schema: () => z.array(threshold()), change: (met) => String(met.length) },
  evictions: { schema: () => z.array(eviction()), change: (evictions) => evictions.map(phaseText).join(), saved: withoutRankings },
  relievedNs: { schema: integer, change: (atNs) => String(atNs) },
  failedKills: {
    schema: integersByText,
    change: (until) => [...until].join(),
    ifTooLong: { value: new Map(), unknown: 'which workloads could not be ended' },
  },
  refusedEvictions: {
    schema: integersByText,
    change: (until) => [...until].join(),
    ifTooLong: { value: new Map(), unknown: 'which evictions a budget of the cluster has refused' },
  },
  withoutYield: { schema: () => z.map(z.enum(SIGNALS), z.bigint()), change: (values) => [...values].join() },
  evictionTimes: {
    schema: () =>
      z.map(
        z.enum(RESOURCES),
        z.array(object<BudgetedEviction>({ decision: z.number(), atNs: z.bigint(), priority: z.number(), victim: z.optional(z.string()) })),
      ),
    change: (times) => [...times].map(([resource, counted]) => `${resource} ${counted.map(({ decision }) => decision).join()}`).join(' '),
  },
  unitEvictions: {
    schema: () => z.map(z.string(), z.array(z.bigint())),
    ifTooLong: { value: new Map(), unknown: 'how often units were evicted in the last ten minutes' },
  },
  held: {
    schema: () => z.map(z.string(), hold()),
    change: (held) => [...held.values()].map(({ unit, decision }) => `${unit} ${String(decision)}`).join(),
  },
  settled: {
    schema: () => z.map(z.string(), z.string()),
    change: (settled) => [...settled.keys()].join(),
    ifTooLong: { value: new Map(), unknown: 'which alerts it has made' },
  },
  pauses: {
    schema: () => z.map(z.string(), operatorPause()),
    change: (pauses) => [...pauses].map(([path, { endsBootNs }]) => `${path} ${String(endsBootNs)}`).join(),
  },
  disruptedBudgets: {
    schema: () =>
      z.map(z.string(), object<{ readonly expected: number; readonly atNs: bigint }>({ expected: z.number(), atNs: z.bigint() })),
  },
  taints: { schema: () => z.array(taint()), change: (taints) => taints.map(taintText).join() },
  taintEvictions: {
    schema: briefEvictions,
    saved: briefTaintEvictions,
    restored: taintEvictionsOf,
    change: (evictions) => [...evictions].map(([id, { dueNs }]) => `${id} ${String(dueNs)}`).join(),
    ifTooLong: { value: new Map(), unknown: 'how long workloads have tolerated taints: their time would begin anew' },
  },
  disruptions: {
    schema: () => z.map(z.string(), disruption()),
    // Those of a taint and of a drain are found again. A preemption is asked for again.
    saved: (disruptions) => new Map([...disruptions].filter(([, { reason }]) => reason === 'eviction')),
    change: (disruptions) =>
      [...disruptions].flatMap(([id, { reason, graceNs }]) => (reason === 'eviction' ? [`${id} ${String(graceNs)}`] : [])).join(),
  },
  drain: {
    schema: () => z.optional(drain()),
    saved: (value) => value && briefDrain(value),
    // lookedNs: a look also renews the expected numbers of budgets.
    change: (value) => `${String(value?.over)} ${String(value?.lookedNs)} ${String(value?.pending.length)} ${String(value?.total)}`,
  },
  decisions: { schema: () => z.number(), change: String },
} satisfies { readonly [K in Exclude<keyof State, FoundAnew>]: SavedPart<State[K]> };

type SavedKey = keyof typeof SAVED_PARTS;
export type SavedParts = Pick<State, SavedKey>;
const PARTS = Object.entries(SAVED_PARTS) as [SavedKey, SavedPart<unknown>][];

export function savedParts(state: SavedParts): SavedParts {
  return Object.fromEntries(PARTS.map(([key, { saved }]) => [key, saved ? saved(state[key]) : state[key]])) as unknown as SavedParts;
}

/** The same state without one more of the parts that can be left out where not all fits, the largest first. */
export function* shortened<S extends SavedParts>(state: S): Iterable<{ readonly shorter: S; readonly unknown: readonly string[] }> {
  let shorter = state;
  const unknown: string[] = [];
  for (const [key, { ifTooLong }] of PARTS) {
    if (ifTooLong === undefined) continue;
    shorter = { ...shorter, [key]: ifTooLong.value };
    yield { shorter, unknown: [...unknown, ifTooLong.unknown] };
    unknown.push(ifTooLong.unknown);
  }
}

/** What `savedParts` has written, as a part of a state. */
export function restoredParts(saved: Partial<SavedParts>): Partial<SavedParts> {
  const restored = PARTS.flatMap(([key, part]) => (part.restored && key in saved ? [[key, part.restored(saved[key] as never)]] : []));
  return { ...saved, ...(Object.fromEntries(restored) as Partial<SavedParts>) };
}

/**
 * A text that differs after every change that must not be lost. The times at which something was last seen move all the
 * time, and are not in it.
 */
export function significance(state: SavedParts): string {
  return PARTS.flatMap(([key, { change }]) => change?.(state[key]) ?? []).join('\n');
}

/**
 * What is wrong with a saved state that was read from disk, by the first place: 'state.evictions[0].phase'; undefined:
 * nothing. Any part may be missing, as an older evictd wrote it, and unknown keys are allowed. The value itself is
 * used, not what zod returns: zod drops a key `__proto__`.
 */
export function savedStateProblem(value: unknown): string | undefined {
  schema ??= savedStateSchema();
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  return issue && placeText(issue.path);
}

let schema: z.ZodMiniType | undefined;

function placeText(path: readonly PropertyKey[]): string {
  return (
    path.map((key, at) => (typeof key === 'number' ? `[${String(key)}]` : `${at === 0 ? '' : '.'}${String(key)}`)).join('') || 'the whole'
  );
}

function savedStateSchema(): z.ZodMiniType {
  const times = object<SentSignals['times']>({
    crossingNs: z.bigint(),
    wakeNs: z.optional(z.bigint()),
    decisionNs: z.bigint(),
    signalNs: z.optional(z.bigint()),
    killNs: z.optional(z.bigint()),
  });
  const state: object = Object.fromEntries(PARTS.map(([key, { schema }]) => [key, z.optional(schema())]));
  return object<Record<'clocks' | 'state' | 'sections', object> & { readonly signals: ReadonlyMap<number, SentSignals> }>({
    clocks: object<Record<'monotonicNs' | 'bootNs', bigint>>({ monotonicNs: z.bigint(), bootNs: z.bigint() }),
    state: object(state),
    signals: z.map(z.number(), object<SentSignals>({ times, sent: z.optional(z.enum(['signalNs', 'killNs'])) })),
    sections: anyObject(),
  });
}

function phaseText({ decision: { serial }, phase, phaseSinceNs, exitedSinceNs }: EvictionInFlight): string {
  return `${String(serial)} ${exitedSinceNs === undefined ? phase : 'exited'} ${String(phaseSinceNs)}`;
}

/** The rankings are in the journal, and too long to be written twice. */
function withoutRankings(evictions: readonly EvictionInFlight[]): readonly EvictionInFlight[] {
  return evictions.map((one) => ({ ...one, decision: { ...one.decision, ranking: [], unreadable: [] } }));
}
