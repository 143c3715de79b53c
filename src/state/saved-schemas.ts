import * as z from 'zod/mini';
import { DISRUPTION_REASONS } from '../core/disruption/disruption-cause.js';
import { TAINT_EFFECTS } from '../core/disruption/taint.js';
import { CONDITION_TYPES, RESOURCES, SIGNALS } from '../core/signal/signal.js';

// What is read from disk is checked by these. Each call builds a schema, which takes zod a while.

/** With these keys and any others. To zod a Map or a Set is an object, too. */
export function object(shape: z.core.$ZodShape): z.ZodMiniType {
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

export function threshold(): z.ZodMiniType {
  return object({
    ...operand(),
    gracePeriodNs: z.bigint(),
    minReclaim: z.optional(operand().value),
    also: z.optional(z.array(object(operand()))),
    kind: z.optional(z.enum(['hard', 'soft'])),
  });
}

export function episode(): z.ZodMiniType {
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
    kubernetes: z.optional(object({ uid: z.string(), namespace: z.string(), name: z.string() })),
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

export function growthBase(): z.ZodMiniType {
  const amounts = (): z.ZodMiniType => z.map(z.string(), z.bigint());
  const outside = {
    cgroups: amounts(),
    othersAtMost: z.bigint(),
    unread: z.array(z.string()),
    counters: amounts(),
    above: z.set(z.string()),
  };
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

export function operatorPause(): z.ZodMiniType {
  return object({
    by: z.optional(z.string()),
    reason: z.string(),
    workload: z.optional(object({ name: z.string(), path: z.string() })),
    beganBootNs: z.bigint(),
    endsBootNs: z.bigint(),
    atNs: z.bigint(),
  });
}

export function taint(): z.ZodMiniType {
  return object({ key: z.string(), value: z.string(), effect: z.enum(TAINT_EFFECTS) });
}

export function briefEvictions(): z.ZodMiniType {
  const times = object({ taint: z.string(), createdNs: z.bigint(), dueNs: z.bigint() });
  const workload = z.union([
    z.tuple([z.string()]),
    z.tuple([z.string(), z.string()]),
    z.tuple([z.string(), z.nullable(z.string()), z.string()]),
  ]);
  return z.array(z.tuple([times, z.array(workload)]));
}

function disruptionShape() {
  return { reason: z.enum(DISRUPTION_REASONS), message: z.string(), graceNs: z.optional(z.bigint()), by: z.optional(z.string()) };
}

export function disruption(): z.ZodMiniType {
  return object({ kind: z.literal('disruption'), ...disruptionShape() });
}

export function drain(): z.ZodMiniType {
  const one = object({
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
      unnamed: z.optional(z.array(z.tuple([z.string()], z.number()))),
      total: z.number(),
      over: z.optional(z.enum(['drained', 'timeout', 'cordoned'])),
    },
  });
}

export function hold(): z.ZodMiniType {
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
    threshold: {
      ...{ threshold: threshold(), observation: observation(), limit: z.bigint() },
      ...{ joined: z.optional(joined), memory: z.optional(observation()) },
    },
    'storage-limit': { breach },
    policy: {
      ...{ policy: z.string(), scope: z.string(), condition: z.string(), graceNs: z.bigint() },
      ...{ memory: z.optional(observation()), judgedBy: z.optional(z.enum(['swap', 'cgroup'])) },
    },
    disruption: disruptionShape(),
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
      process: z.optional(
        object({
          pid: z.number(),
          startTicks: z.bigint(),
          command: z.string(),
          anonBytes: z.bigint(),
          group: z.optional(object({ path: z.string(), id: z.bigint(), anonBytes: z.bigint() })),
        }),
      ),
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

export function eviction(): z.ZodMiniType {
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
