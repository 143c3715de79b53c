import * as z from 'zod/mini';
import type { GrowthBase, Held } from '../core/budget/growth-base.js';
import type { Decision, EvictionInFlight } from '../core/decide/eviction.js';
import type { DiskAmount, DiskHolding } from '../core/disk/disk-amount.js';
import type { Drain, DrainedWorkload } from '../core/drain/drain.js';
import type { OperatorPause } from '../core/pause/operator-pause.js';
import type { Quantity } from '../core/quantity/quantity.js';
import type { EvictionCause } from '../core/rank/eviction-cause.js';
import type { Observation } from '../core/signal/observation.js';
import type { StorageBreach } from '../core/disk/storage-limit.js';
import type { RankedWorkload } from '../core/rank/rank.js';
import type { Hold } from '../core/systemd/unit-hold.js';
import { SIGNAL_REASONS, type UnitStop } from '../core/systemd/unit-stop.js';
import type { ReportedEpisode } from '../core/threshold/reported-episode.js';
import type { JoinedReading } from '../core/threshold/joined-readings.js';
import type { Operand, ResourceThreshold, Threshold, ThresholdValue } from '../core/threshold/threshold.js';
import type { ContainerStats, UnreadableWorkload, VolumeStats, Workload, WorkloadStats } from '../core/workload/workload.js';
import type { BriefTaintEvictions } from './brief-taint-evictions.js';
import { DISRUPTION_REASONS, type DisruptionCause } from '../core/disruption/disruption-cause.js';
import { TAINT_EFFECTS, type Taint } from '../core/disruption/taint.js';
import { CONDITION_TYPES, RESOURCES, RESOURCE_SIGNALS, SIGNALS } from '../core/signal/signal.js';

// What is read from disk is checked by these. Each call builds a schema, which takes zod a while.

/** A schema for each key of T, of its type. A key that T need not have may be left out: it is not checked then. */
type Shape<T> = {
  readonly [K in keyof T]: undefined extends T[K] ? z.ZodMiniOptional<z.ZodMiniType<Exclude<T[K], undefined>>> : z.ZodMiniType<T[K]>;
};
type Forms<T extends { readonly kind: string }> = { readonly [K in T['kind']]: Shape<Omit<Extract<T, { readonly kind: K }>, 'kind'>> };

/** With these keys and any others. To zod a Map or a Set is an object, too. */
export function object<T>(shape: NoInfer<Shape<T>>): z.ZodMiniType<T> {
  const isPlain = z.custom((value) => !(value instanceof Map || value instanceof Set));
  return z.pipe(isPlain, z.looseObject(shape as z.core.$ZodShape)) as unknown as z.ZodMiniType<T>;
}

/** Its keys are not checked: the journal has them, or their owner checks them. */
export function anyObject<T>(): z.ZodMiniType<T> {
  return object<T>({} as Shape<T>);
}

function kinds<T extends { readonly kind: string }>(forms: NoInfer<Forms<T>>): z.ZodMiniType<T> {
  const shapes = Object.entries<z.core.$ZodShape>(forms as never);
  const [first, ...others] = shapes.map(([kind, shape]) => z.looseObject({ kind: z.literal(kind), ...shape }));
  return (first === undefined ? z.never() : z.discriminatedUnion('kind', [first, ...others])) as unknown as z.ZodMiniType<T>;
}

function quantity(): z.ZodMiniType<Quantity> {
  return object({ text: z.string(), nano: z.bigint(), format: z.enum(['BinarySI', 'DecimalSI', 'DecimalExponent']) });
}

function operand(): Shape<Operand> {
  const value = kinds<ThresholdValue>({ quantity: { quantity: quantity() }, percentage: { fraction: z.number(), text: z.string() } });
  return { signal: z.enum(SIGNALS), value };
}

function thresholdShape(): Shape<Threshold> {
  return {
    ...operand(),
    gracePeriodNs: z.bigint(),
    minReclaim: z.optional(operand().value),
    also: z.optional(z.array(object<Operand>(operand()))),
    kind: z.optional(z.enum(['hard', 'soft'])),
  };
}

export function threshold(): z.ZodMiniType<Threshold> {
  return object(thresholdShape());
}

export function episode(): z.ZodMiniType<ReportedEpisode> {
  return object({ threshold: threshold(), timesMet: z.number(), clearSinceNs: z.optional(z.bigint()) });
}

function observation(): z.ZodMiniType<Observation> {
  return object({ available: z.bigint(), capacity: z.bigint(), timeNs: z.optional(z.bigint()), source: z.string() });
}

function workload(): z.ZodMiniType<Workload> {
  return object({
    id: z.string(),
    name: z.string(),
    path: z.string(),
    priority: z.number(),
    requests: object({ memory: z.bigint(), ephemeralStorage: z.bigint(), inodes: z.bigint() }),
    limits: object({ memory: z.optional(z.bigint()), ephemeralStorage: z.optional(z.bigint()) }),
    qosClass: z.enum(['Guaranteed', 'Burstable', 'BestEffort']),
    terminationGracePeriodNs: z.optional(z.bigint()),
    startOrder: z.bigint(),
    protection: z.optional(anyObject()),
    pod: z.optional(anyObject()),
    unit: z.optional(anyObject()),
    runtime: z.optional(anyObject()),
    kubernetes: z.optional(object({ uid: z.string(), namespace: z.string(), name: z.string(), labels: anyObject(), priority: z.number() })),
  });
}

function holding(): z.ZodMiniType<DiskHolding> {
  const amount = object<DiskAmount>({ bytes: z.bigint(), inodes: z.bigint() });
  return object({ uses: amount, frees: amount, atNs: z.bigint() });
}

function stats(): z.ZodMiniType<WorkloadStats> {
  const known = z.optional(z.union([z.literal('measuring'), holding()]));
  return object({
    workingSetBytes: z.optional(z.bigint()),
    staysBytes: z.optional(z.bigint()),
    swapBytes: z.optional(z.bigint()),
    usageBytes: z.optional(z.bigint()),
    processes: z.optional(z.bigint()),
    ephemeralStorageBytes: z.optional(z.bigint()),
    containers: z.array(anyObject<ContainerStats>()),
    volumes: z.array(anyObject<VolumeStats>()),
    disks: z.optional(object({ nodefs: known, imagefs: known, containerfs: known })),
  });
}

export function growthBase(): z.ZodMiniType<GrowthBase> {
  const amounts = () => z.map(z.string(), z.bigint());
  const outside = {
    cgroups: amounts(),
    othersAtMost: z.bigint(),
    unread: z.array(z.string()),
    counters: amounts(),
    tmpfs: z.optional(amounts()),
    above: z.set(z.string()),
  };
  const ended = { decision: z.number(), freed: z.optional(z.bigint()), endedAtNs: z.optional(z.bigint()) };
  return object({
    available: z.bigint(),
    held: z.map(z.string(), object<Held>({ amount: z.optional(z.bigint()), stays: z.optional(z.bigint()) })),
    outside: z.optional(object(outside)),
    atNs: z.bigint(),
    since: kinds({
      eviction: ended,
      'no-yield': { relief: z.bigint(), last: z.optional(object({ kind: z.literal('eviction'), ...ended })) },
      leak: { freed: z.bigint() },
    }),
  });
}

export function operatorPause(): z.ZodMiniType<OperatorPause> {
  return object({
    by: z.optional(z.string()),
    reason: z.string(),
    workload: z.optional(object({ name: z.string(), path: z.string() })),
    beganBootNs: z.bigint(),
    endsBootNs: z.bigint(),
    atNs: z.bigint(),
  });
}

export function taint(): z.ZodMiniType<Taint> {
  return object({ key: z.string(), value: z.string(), effect: z.enum(TAINT_EFFECTS) });
}

export function briefEvictions(): z.ZodMiniType<BriefTaintEvictions> {
  const times = object<BriefTaintEvictions[number][0]>({ taint: z.string(), createdNs: z.bigint(), dueNs: z.bigint() });
  const workload = z.union([
    z.tuple([z.string()]),
    z.tuple([z.string(), z.string()]),
    z.tuple([z.string(), z.nullable(z.string()), z.string()]),
  ]);
  return z.array(z.tuple([times, z.array(workload)]));
}

function disruptionShape(): Shape<Omit<DisruptionCause, 'kind'>> {
  return { reason: z.enum(DISRUPTION_REASONS), message: z.string(), graceNs: z.optional(z.bigint()), by: z.optional(z.string()) };
}

export function disruption(): z.ZodMiniType<DisruptionCause> {
  return object({ kind: z.literal('disruption'), ...disruptionShape() });
}

export function drain(): z.ZodMiniType<Drain> {
  const one = object<DrainedWorkload>({
    id: z.string(),
    name: z.string(),
    path: z.string(),
    decision: z.optional(z.number()),
    waits: z.optional(z.string()),
  });
  return object({
    ...{
      beganNs: z.bigint(),
      endsNs: z.optional(z.bigint()),
      by: z.optional(z.string()),
      graceNs: z.optional(z.bigint()),
      lookedNs: z.bigint(),
      changedNs: z.optional(z.bigint()),
    },
    ...{
      awaited: z.optional(z.array(z.string())),
      pending: z.array(one),
      unnamed: z.optional(z.array(z.union([z.tuple([z.string()]), z.tuple([z.string(), z.number()])]))),
      total: z.number(),
      over: z.optional(z.enum(['drained', 'timeout', 'cordoned'])),
    },
  });
}

export function hold(): z.ZodMiniType<Hold> {
  return object({
    unit: z.string(),
    decision: z.number(),
    start: z.array(z.string()),
    unstarted: z.array(z.string()),
    condition: z.enum(CONDITION_TYPES),
    untilNs: z.optional(z.bigint()),
    startRequested: z.optional(z.literal(true)),
  });
}

function cause(): z.ZodMiniType<EvictionCause> {
  const resourceThreshold = object<ResourceThreshold>({ ...thresholdShape(), signal: z.enum(RESOURCE_SIGNALS) });
  const joined = z.array(object<JoinedReading>({ operand: object<Operand>(operand()), observation: z.optional(observation()) }));
  const breach = kinds<StorageBreach>({
    emptyDir: { volume: z.string(), limit: quantity() },
    pod: { limit: quantity() },
    container: { container: z.string(), limit: quantity() },
  });
  return kinds({
    threshold: {
      ...{ threshold: resourceThreshold, observation: observation(), limit: z.bigint() },
      ...{ joined: z.optional(joined), memory: z.optional(observation()) },
    },
    'storage-limit': { breach },
    policy: {
      ...{ policy: z.string(), scope: z.string(), condition: z.string(), values: anyObject(), graceNs: z.bigint() },
      ...{ memory: z.optional(observation()), judgedBy: z.optional(z.enum(['swap', 'cgroup'])) },
    },
    disruption: disruptionShape(),
  });
}

function decision(): z.ZodMiniType<Decision> {
  const names = z.array(z.string());
  const stop = kinds<UnitStop>({
    stop: { dependants: names, triggers: names, timers: names, running: names, affected: names, restarts: z.boolean() },
    signal: { because: z.enum(SIGNAL_REASONS), unit: z.string(), affected: names },
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
      protection: z.optional(anyObject()),
      stays: z.optional(z.bigint()),
      holding: z.optional(holding()),
      process: z.optional(
        object({
          path: z.string(),
          pid: z.number(),
          startTicks: z.bigint(),
          command: z.string(),
          residentBytes: z.bigint(),
          anonBytes: z.bigint(),
          swapBytes: z.bigint(),
          oomScore: z.number(),
          group: z.optional(object({ path: z.string(), id: z.bigint(), anonBytes: z.bigint() })),
        }),
      ),
    }),
    graceNs: z.bigint(),
    ranking: z.array(anyObject<RankedWorkload>()),
    unreadable: z.array(anyObject<UnreadableWorkload>()),
    decidedAtNs: z.bigint(),
    dryRun: z.boolean(),
    repeats: z.optional(z.literal(true)),
    standingOrder: z.optional(object({ preparedAtNs: z.bigint(), crossedAtNs: z.bigint(), signalledAtNs: z.bigint() })),
    unit: z.optional(object({ evictions: z.number(), stop: z.optional(stop), hold: z.optional(hold()) })),
  });
}

export function eviction(): z.ZodMiniType<EvictionInFlight> {
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
