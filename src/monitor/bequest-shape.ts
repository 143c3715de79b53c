import { CONDITION_TYPES, SIGNALS } from '../core/signal.js';
import type { Remembered } from '../core/takeover.js';
import { FLAG, INTEGER, kindOf, listOf, mapOf, NUMBER, objectOf, oneOf, optional, TEXT, type Shape } from './shape.js';

const signal = oneOf(SIGNALS);
const condition = oneOf(CONDITION_TYPES);

const quantity = objectOf({ text: TEXT, nano: INTEGER, format: TEXT });
const thresholdValue = kindOf({
  quantity: objectOf({ quantity }),
  percentage: objectOf({ fraction: NUMBER, text: TEXT }),
});
const operand = { signal, value: thresholdValue };
const threshold = objectOf({
  ...operand,
  gracePeriodNs: INTEGER,
  minReclaim: optional(thresholdValue),
  also: optional(listOf(objectOf(operand))),
  kind: optional(oneOf(['hard', 'soft'])),
});
const observation = objectOf({ available: INTEGER, capacity: INTEGER, timeNs: optional(INTEGER), source: TEXT });

const workload = objectOf({
  id: TEXT,
  name: TEXT,
  path: TEXT,
  priority: NUMBER,
  requests: objectOf({ memory: INTEGER, ephemeralStorage: INTEGER, inodes: INTEGER }),
  limits: objectOf({ memory: optional(INTEGER), ephemeralStorage: optional(INTEGER) }),
  qosClass: TEXT,
  terminationGracePeriodNs: optional(INTEGER),
  startOrder: INTEGER,
  protection: optional(objectOf({})),
  pod: optional(objectOf({})),
  unit: optional(objectOf({})),
  runtime: optional(objectOf({})),
});
const amount = objectOf({ bytes: INTEGER, inodes: INTEGER });
const holding = objectOf({ uses: amount, frees: amount, atNs: INTEGER });
const known: Shape = (value, at) => (value === 'measuring' ? undefined : holding(value, at));
const disks = objectOf({ nodefs: optional(known), imagefs: optional(known), containerfs: optional(known) });
const stats = objectOf({
  workingSetBytes: optional(INTEGER),
  usageBytes: optional(INTEGER),
  processes: optional(INTEGER),
  ephemeralStorageBytes: optional(INTEGER),
  containers: listOf(objectOf({})),
  volumes: listOf(objectOf({})),
  disks: optional(disks),
});
const hold = objectOf({
  unit: TEXT,
  decision: NUMBER,
  start: listOf(TEXT),
  owed: listOf(TEXT),
  condition,
  untilNs: optional(INTEGER),
  asked: optional(FLAG),
});
const names = listOf(TEXT);
const unitStop = kindOf({
  stop: objectOf({ dependants: names, triggers: names, timers: names, running: names, along: names, restarts: FLAG }),
  signal: objectOf({ along: names }),
});
const decision = objectOf({
  serial: NUMBER,
  resource: oneOf(['memory', 'ephemeral-storage', 'inodes', 'pids']),
  cause: kindOf({
    threshold: objectOf({
      threshold,
      observation,
      limit: INTEGER,
      joined: optional(listOf(objectOf({ operand: objectOf(operand), observation: optional(observation) }))),
    }),
    'storage-limit': objectOf({
      breach: kindOf({
        emptyDir: objectOf({ volume: TEXT, limit: quantity }),
        pod: objectOf({ limit: quantity }),
        container: objectOf({ container: TEXT, limit: quantity }),
      }),
    }),
  }),
  victim: objectOf({
    place: NUMBER,
    workload,
    stats: optional(stats),
    usage: optional(INTEGER),
    requestNano: INTEGER,
    exceedsRequest: FLAG,
    priority: NUMBER,
    aboveRequestNano: INTEGER,
    holding: optional(holding),
  }),
  graceNs: INTEGER,
  ranking: listOf(objectOf({})),
  unreadable: listOf(objectOf({})),
  decidedAtNs: INTEGER,
  dryRun: FLAG,
  unit: optional(objectOf({ evictions: NUMBER, stop: optional(unitStop), hold: optional(hold) })),
});
const eviction = objectOf({
  decision,
  phase: oneOf(['terminating', 'dying']),
  phaseSinceNs: INTEGER,
  peakUsageBytes: INTEGER,
  usageBytes: INTEGER,
  usageStillSinceNs: INTEGER,
  goneSinceNs: optional(INTEGER),
  risen: optional(objectOf({ available: INTEGER, atNs: INTEGER })),
});

/** Of a `Remembered`: every key of it, each of which an older evictd may not have remembered yet. */
const remembered = {
  lastStepNs: INTEGER,
  episodes: mapOf(TEXT, threshold),
  firstObservedAt: mapOf(TEXT, INTEGER),
  lastSeenAt: mapOf(TEXT, INTEGER),
  conditionsLastObservedAt: mapOf(condition, INTEGER),
  conditions: listOf(condition),
  thresholdsMet: listOf(threshold),
  evictions: listOf(eviction),
  relievedNs: INTEGER,
  failedKills: mapOf(TEXT, INTEGER),
  withoutYield: mapOf(signal, INTEGER),
  unitEvictions: mapOf(TEXT, listOf(INTEGER)),
  held: mapOf(TEXT, hold),
  settled: mapOf(TEXT, TEXT),
  decisions: NUMBER,
} satisfies Record<keyof Remembered, Shape>;

const times = objectOf({
  crossingNs: INTEGER,
  wakeNs: optional(INTEGER),
  decisionNs: INTEGER,
  signalNs: optional(INTEGER),
  killNs: optional(INTEGER),
});

/** What one evictd leaves to the next: whoever takes it over does not look again at what is in it. */
export const BEQUEST: Shape = objectOf({
  clocks: objectOf({ monotonicNs: INTEGER, bootNs: INTEGER }),
  remembered: objectOf(Object.fromEntries(Object.entries(remembered).map(([key, shape]) => [key, optional(shape)]))),
  signals: mapOf(NUMBER, objectOf({ times, sent: optional(oneOf(['signalNs', 'killNs'])) })),
  sections: objectOf({}),
});
