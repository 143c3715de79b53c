import * as z from 'zod/mini';
import type { EvictionInFlight } from '../core/decide/eviction.js';
import { CONDITION_TYPES, RESOURCES, SIGNALS } from '../core/signal/signal.js';
import type { State } from '../core/decide/state.js';

/**
 * A part of the loop's state that is kept over a restart. Its type and initial value are those of core/decide/state.ts.
 */
interface SavedPart<T> {
  /** Checks what was read from disk. Called only then: zod takes milliseconds to build its schemas. */
  readonly schema: () => z.ZodMiniType;
  /**
   * A text that differs after a change that must not be lost. Left out: the part is saved with the next change of
   * another one.
   */
  readonly change?: (value: T) => string;
  /** What is written; left out: the value. */
  readonly saved?: (value: T) => T;
  /** Its value where the state does not fit into the file; left out: the part is always written. */
  readonly ifTooLong?: T;
}

const integer = (): z.ZodMiniType => z.bigint();
const integersByText = (): z.ZodMiniType => z.map(z.string(), z.bigint());

/**
 * Everything else is found out anew: readings, the layout, and node-level reclaim, which ends with its process and
 * begins again while its threshold is met.
 */
const SAVED_PARTS = {
  baselines: {
    schema: () => z.map(z.enum(SIGNALS), growthBase()),
    ifTooLong: new Map(),
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
  failedKills: { schema: integersByText, change: (until) => [...until].join(), ifTooLong: new Map() },
  withoutYield: { schema: () => z.map(z.enum(SIGNALS), z.bigint()), change: (values) => [...values].join() },
  evictionTimes: {
    schema: () =>
      z.map(
        z.enum(RESOURCES),
        z.array(object({ decision: z.number(), atNs: z.bigint(), priority: z.number(), victim: z.optional(z.string()) })),
      ),
    change: (times) => [...times].map(([resource, counted]) => `${resource} ${counted.map(({ decision }) => decision).join()}`).join(' '),
  },
  unitEvictions: { schema: () => z.map(z.string(), z.array(z.bigint())) },
  held: {
    schema: () => z.map(z.string(), hold()),
    change: (held) => [...held.values()].map(({ unit, decision }) => `${unit} ${String(decision)}`).join(),
  },
  settled: { schema: () => z.map(z.string(), z.string()), change: (settled) => [...settled.keys()].join(), ifTooLong: new Map() },
  decisions: { schema: () => z.number(), change: String },
} satisfies { readonly [K in keyof State]?: SavedPart<State[K]> };

type SavedKey = keyof typeof SAVED_PARTS;
export type SavedParts = Pick<State, SavedKey>;
const PARTS = Object.entries(SAVED_PARTS) as [SavedKey, SavedPart<unknown>][];

export function savedParts(state: SavedParts): SavedParts {
  return Object.fromEntries(PARTS.map(([key, { saved }]) => [key, saved ? saved(state[key]) : state[key]])) as unknown as SavedParts;
}

/** The same state without one more of the parts that can be left out where not all fits, the largest first. */
export function* shortened<S extends SavedParts>(state: S): Iterable<S> {
  let shorter = state;
  for (const [key, { ifTooLong }] of PARTS) if (ifTooLong !== undefined) yield (shorter = { ...shorter, [key]: ifTooLong });
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
  const times = object({
    crossingNs: z.bigint(),
    wakeNs: z.optional(z.bigint()),
    decisionNs: z.bigint(),
    signalNs: z.optional(z.bigint()),
    killNs: z.optional(z.bigint()),
  });
  return object({
    clocks: object({ monotonicNs: z.bigint(), bootNs: z.bigint() }),
    state: object(Object.fromEntries(PARTS.map(([key, { schema }]) => [key, z.optional(schema())]))),
    signals: z.map(z.number(), object({ times, sent: z.optional(z.enum(['signalNs', 'killNs'])) })),
    sections: object({}),
  });
}

/** With these keys and any others. To zod a Map or a Set is an object, too. */
function object(shape: z.core.$ZodShape): z.ZodMiniType {
  return z.pipe(
    z.custom((value) => !(value instanceof Map || value instanceof Set)),
    z.looseObject(shape),
  );
}

function kinds(forms: Readonly<Record<string, z.core.$ZodShape>>): z.ZodMiniType {
  const [first, ...others] = Object.entries(forms).map(([kind, shape]) => z.looseObject({ kind: z.literal(kind), ...shape }));
  return first === undefined ? z.never() : z.discriminatedUnion('kind', [first, ...others]);
}

function quantity(): z.ZodMiniType {
  return object({ text: z.string(), nano: z.bigint(), format: z.string() });
}

function operand() {
  const value = kinds({ quantity: { quantity: quantity() }, percentage: { fraction: z.number(), text: z.string() } });
  return { signal: z.enum(SIGNALS), value };
}

function threshold(): z.ZodMiniType {
  return object({
    ...operand(),
    gracePeriodNs: z.bigint(),
    minReclaim: z.optional(operand().value),
    also: z.optional(z.array(object(operand()))),
    kind: z.optional(z.enum(['hard', 'soft'])),
  });
}

function episode(): z.ZodMiniType {
  return object({ threshold: threshold(), timesMet: z.number(), clearSinceNs: z.optional(z.bigint()) });
}

function observation(): z.ZodMiniType {
  return object({ available: z.bigint(), capacity: z.bigint(), timeNs: z.optional(z.bigint()), source: z.string() });
}

function workload(): z.ZodMiniType {
  return object({
    id: z.string(),
    name: z.string(),
    path: z.string(),
    priority: z.number(),
    requests: object({ memory: z.bigint(), ephemeralStorage: z.bigint(), inodes: z.bigint() }),
    limits: object({ memory: z.optional(z.bigint()), ephemeralStorage: z.optional(z.bigint()) }),
    qosClass: z.string(),
    terminationGracePeriodNs: z.optional(z.bigint()),
    startOrder: z.bigint(),
    protection: z.optional(object({})),
    pod: z.optional(object({})),
    unit: z.optional(object({})),
    runtime: z.optional(object({})),
  });
}

function holding(): z.ZodMiniType {
  const amount = object({ bytes: z.bigint(), inodes: z.bigint() });
  return object({ uses: amount, frees: amount, atNs: z.bigint() });
}

function stats(): z.ZodMiniType {
  const known = z.optional(z.union([z.literal('measuring'), holding()]));
  return object({
    workingSetBytes: z.optional(z.bigint()),
    staysBytes: z.optional(z.bigint()),
    swapBytes: z.optional(z.bigint()),
    usageBytes: z.optional(z.bigint()),
    processes: z.optional(z.bigint()),
    ephemeralStorageBytes: z.optional(z.bigint()),
    containers: z.array(object({})),
    volumes: z.array(object({})),
    disks: z.optional(object({ nodefs: known, imagefs: known, containerfs: known })),
  });
}

function growthBase(): z.ZodMiniType {
  const amounts = (): z.ZodMiniType => z.map(z.string(), z.bigint());
  const outside = { cgroups: amounts(), isPartial: z.boolean(), counters: amounts(), above: z.set(z.string()) };
  return object({
    available: z.bigint(),
    held: z.map(z.string(), object({ amount: z.optional(z.bigint()), stays: z.optional(z.bigint()) })),
    outside: z.optional(object(outside)),
    atNs: z.bigint(),
    since: kinds({
      eviction: { decision: z.number(), freed: z.optional(z.bigint()), endedAtNs: z.optional(z.bigint()) },
      'no-yield': { relief: z.bigint() },
      leak: { freed: z.bigint() },
    }),
  });
}

function hold(): z.ZodMiniType {
  return object({
    unit: z.string(),
    decision: z.number(),
    start: z.array(z.string()),
    unstarted: z.array(z.string()),
    condition: z.enum(CONDITION_TYPES),
    untilNs: z.optional(z.bigint()),
    startRequested: z.optional(z.boolean()),
  });
}

function cause(): z.ZodMiniType {
  const joined = z.array(object({ operand: object(operand()), observation: z.optional(observation()) }));
  const breach = kinds({
    emptyDir: { volume: z.string(), limit: quantity() },
    pod: { limit: quantity() },
    container: { container: z.string(), limit: quantity() },
  });
  return kinds({
    threshold: { threshold: threshold(), observation: observation(), limit: z.bigint(), joined: z.optional(joined) },
    'storage-limit': { breach },
    policy: { policy: z.string(), scope: z.string(), condition: z.string(), graceNs: z.bigint(), memory: z.optional(observation()) },
  });
}

function decision(): z.ZodMiniType {
  const names = z.array(z.string());
  const stop = kinds({
    stop: { dependants: names, triggers: names, timers: names, running: names, affected: names, restarts: z.boolean() },
    signal: { affected: names },
  });
  return object({
    serial: z.number(),
    resource: z.enum(RESOURCES),
    cause: cause(),
    victim: object({
      place: z.number(),
      workload: workload(),
      stats: z.optional(stats()),
      usage: z.optional(z.bigint()),
      requestNano: z.bigint(),
      exceedsRequest: z.boolean(),
      priority: z.number(),
      aboveRequestNano: z.bigint(),
      stays: z.optional(z.bigint()),
      holding: z.optional(holding()),
      process: z.optional(object({ pid: z.number(), startTicks: z.bigint(), command: z.string(), anonBytes: z.bigint() })),
    }),
    graceNs: z.bigint(),
    ranking: z.array(object({})),
    unreadable: z.array(object({})),
    decidedAtNs: z.bigint(),
    dryRun: z.boolean(),
    repeats: z.optional(z.literal(true)),
    standingOrder: z.optional(object({ preparedAtNs: z.bigint(), crossedAtNs: z.bigint(), signalledAtNs: z.bigint() })),
    unit: z.optional(object({ evictions: z.number(), stop: z.optional(stop), hold: z.optional(hold()) })),
  });
}

function eviction(): z.ZodMiniType {
  return object({
    decision: decision(),
    phase: z.enum(['terminating', 'dying']),
    phaseSinceNs: z.bigint(),
    peakUsageBytes: z.bigint(),
    usageBytes: z.bigint(),
    usageStillSinceNs: z.bigint(),
    processes: z.optional(z.number()),
    swapBytes: z.optional(z.bigint()),
    processorTicks: z.optional(z.bigint()),
    nodeMost: z.optional(z.bigint()),
    exitedSinceNs: z.optional(z.bigint()),
    risen: z.optional(object({ available: z.bigint(), atNs: z.bigint() })),
  });
}

function phaseText({ decision: { serial }, phase, phaseSinceNs, exitedSinceNs }: EvictionInFlight): string {
  return `${String(serial)} ${exitedSinceNs === undefined ? phase : 'exited'} ${String(phaseSinceNs)}`;
}

/** The rankings are in the journal, and too long to be written twice. */
function withoutRankings(evictions: readonly EvictionInFlight[]): readonly EvictionInFlight[] {
  return evictions.map((one) => ({ ...one, decision: { ...one.decision, ranking: [], unreadable: [] } }));
}
