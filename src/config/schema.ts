import * as z from 'zod/mini';
import { COMPATIBILITIES, DEPARTURES } from '../core/departure.js';
import { FILESYSTEM_ROLES } from '../core/layout.js';
import type { Rule } from '../core/rule.js';
import type { ShutdownGracePeriod } from '../core/shutdown-config.js';
import type { ThresholdKind } from '../core/threshold.js';
import { liftRefusal } from './lift.js';
import { nodePathText } from './node-path.js';
import { reclaimEntry, RECLAIM_KEYS } from './reclaim.js';
import { PRESSURE_WINDOW_NS, type ThresholdEntry } from './listed-thresholds.js';
import { flag, integer, MAX_INT32, parsed, pattern, refuse, seconds, text, textOf } from './scalar.js';
import { bytesText, capacityText, cgroupText, directoryText, durationText, journalSizeText, listenText } from './text.js';
import { source, SOURCE_KEYS } from './source-entry.js';
import { whenOperands } from './when.js';

// Generated validators pay off after thousands of documents; here one is read.
z.config({ jitless: true });

const NS_PER_MS = 1_000_000n;
const NS_PER_HOUR = 3_600_000_000_000n;
const NS_PER_SECOND = 1_000_000_000n;
const MAX_DURATION_NS = 2n ** 63n - 1n;

const ENFORCEABLE = [
  'none',
  'pods',
  'system-reserved',
  'kube-reserved',
  'system-reserved-compressible',
  'kube-reserved-compressible',
] as const;
const THRESHOLD_KINDS = ['hard', 'soft'] as const satisfies readonly ThresholdKind[];
export const OOM_SCORE_ADJ_MODES = ['off', 'qos', 'rank'] as const;

/** Entries are read one by one afterwards (thresholds.ts). null: nothing was written, which is said there. */
const bySignal = z.optional(
  z.record(
    z.string(),
    z.transform((input: unknown, payload) => textOf(input ?? '', payload)),
  ),
);

/** Any sign: what is wrong with one is said with the others (shutdown.ts). */
const shutdownDuration = parsed((input) => durationText(input, -MAX_DURATION_NS, MAX_DURATION_NS));

/** What is left out is 0, as in the kubelet. */
const shutdownGracePeriod = z.pipe(
  z.strictObject({
    priority: z.optional(integer(-MAX_INT32 - 1, MAX_INT32)),
    shutdownGracePeriodSeconds: z.optional(integer(-MAX_INT32 - 1, MAX_INT32)),
  }),
  z.transform(({ priority = 0, shutdownGracePeriodSeconds: seconds = 0 }): ShutdownGracePeriod => {
    return { priority, gracePeriodNs: BigInt(seconds) * NS_PER_SECOND };
  }),
);

/** KubeletConfiguration's that count here. */
const kubeletKeys = {
  evictionHard: bySignal,
  evictionSoft: bySignal,
  evictionSoftGracePeriod: bySignal,
  evictionMinimumReclaim: bySignal,
  evictionPressureTransitionPeriod: z.optional(parsed((input) => durationText(input, 0n, MAX_DURATION_NS))),
  evictionMaxPodGracePeriod: z.optional(seconds),
  /** What a kubelet may enforce; only whether `pods` is among it says something here. */
  enforceNodeAllocatable: z.optional(z.array(z.enum(ENFORCEABLE))),
  mergeDefaultEvictionSettings: z.optional(flag),
  shutdownGracePeriod: z.optional(shutdownDuration),
  shutdownGracePeriodCriticalPods: z.optional(shutdownDuration),
  shutdownGracePeriodByPodPriority: z.optional(z.array(shutdownGracePeriod)),
};

const directory = z.strictObject({ path: parsed(directoryText) });

const rule = z.pipe(
  z.strictObject({
    match: z.strictObject({ name: z.optional(pattern), path: z.optional(pattern), labels: z.optional(z.record(z.string(), pattern)) }),
    critical: z.optional(flag),
    liftProtection: z.optional(flag),
    priority: z.optional(integer(-MAX_INT32 - 1, MAX_INT32)),
    requests: z.optional(z.strictObject({ memory: z.optional(parsed(bytesText)) })),
    terminationGracePeriodSeconds: z.optional(seconds),
    directories: z.optional(z.array(directory)),
  }),
  z.transform(({ requests, terminationGracePeriodSeconds, liftProtection, ...rest }, payload): Rule => {
    const refused = liftProtection === true ? liftRefusal(rest) : undefined;
    if (refused) return refuse(payload, refused.input, 'EVICTD_CONFIG_LIFT', refused.message, refused.hint, refused.path);
    const rule = {
      ...rest,
      ...(liftProtection === true ? { liftProtection } : {}),
      ...(requests?.memory === undefined ? {} : { requestsMemory: requests.memory }),
      ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodNs: terminationGracePeriodSeconds }),
    };
    return rule as Rule; // zod's optional keys are absent where they are not set
  }),
);

/** Checked entry by entry, so that one that is wrong does not hide what is wrong with another. */
const thresholdEntry = z.pipe(
  z.strictObject({
    when: parsed(whenOperands),
    kind: z.enum(THRESHOLD_KINDS),
    for: z.optional(parsed((input) => durationText(input, 0n, MAX_DURATION_NS))),
  }),
  z.transform(({ when, kind, for: held }, payload): ThresholdEntry => {
    if (kind === 'hard' || held !== undefined) return { when, kind, gracePeriodNs: held ?? 0n };
    const message = 'a soft threshold needs for: how long it must be met before anybody is evicted';
    return refuse(payload, kind, 'EVICTD_CONFIG_GRACE_PERIOD', message, 'add for: 10s, or write kind: hard');
  }),
);

/** kind: EvictdConfiguration. Every key may be absent. */
export const evictdSchema = z.strictObject({
  apiVersion: z.optional(text),
  kind: z.optional(text),
  compatibility: z.optional(z.enum(COMPATIBILITIES)),
  departures: z.optional(z.strictObject(Object.fromEntries(DEPARTURES.map((name) => [name, z.optional(flag)])))),
  ...kubeletKeys,
  thresholds: z.optional(z.array(thresholdEntry)),
  pressureWindow: z.optional(parsed((input) => durationText(input, PRESSURE_WINDOW_NS.least, PRESSURE_WINDOW_NS.most))),
  allocatable: z.optional(z.strictObject({ cgroup: parsed(cgroupText), capacity: parsed(capacityText) })),
  monitoringInterval: z.optional(parsed((input) => durationText(input, 100n * NS_PER_MS, NS_PER_HOUR))),
  node: z.optional(z.strictObject({ cgroup: z.optional(parsed(cgroupText)) })),
  filesystems: z.optional(
    z.strictObject({
      nodefs: z.optional(parsed((input) => nodePathText(input, '/var'))),
      imagefs: z.optional(parsed((input) => nodePathText(input, '/var/lib/containerd'))),
      containerfs: z.optional(parsed((input) => nodePathText(input, '/var/lib/containerd'))),
    }),
  ),
  workloads: z.optional(z.array(source)),
  rules: z.optional(z.array(rule)),
  reclaim: z.optional(z.array(reclaimEntry)),
  oomScoreAdj: z.optional(z.enum(OOM_SCORE_ADJ_MODES)),
  metrics: z.optional(z.strictObject({ listen: z.optional(parsed((input) => ({ address: listenText(input) }))) })),
  journal: z.optional(z.strictObject({ maxSize: z.optional(parsed(journalSizeText)), maxFiles: z.optional(integer(2, 1000)) })),
  stateDirectory: z.optional(parsed((input) => nodePathText(input, '/var/lib/evictd'))),
  runtimeDirectory: z.optional(parsed((input) => nodePathText(input, '/run/evictd'))),
  log: z.optional(
    z.strictObject({
      format: z.optional(z.enum(['auto', 'text', 'systemd', 'json'])),
      level: z.optional(z.enum(['debug', 'info', 'warn', 'error'])),
    }),
  ),
});

/** A KubeletConfiguration (kubelet.config.k8s.io/v1beta1): the fields about eviction and shutdown; what else it holds is the kubelet's. */
export const kubeletSchema = z.object(kubeletKeys);

export type Settings = z.output<typeof evictdSchema>;

/** Keys that a map of the schema takes, for suggestions. */
export const KEYS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(evictdSchema.shape),
  departures: DEPARTURES,
  'shutdownGracePeriodByPodPriority[]': ['priority', 'shutdownGracePeriodSeconds'],
  allocatable: ['cgroup', 'capacity'],
  node: ['cgroup'],
  filesystems: FILESYSTEM_ROLES,
  'thresholds[]': ['when', 'kind', 'for'],
  ...SOURCE_KEYS,
  'rules[]': ['match', 'critical', 'liftProtection', 'priority', 'requests', 'terminationGracePeriodSeconds', 'directories'],
  'rules[].directories[]': ['path'],
  'rules[].match': ['name', 'path', 'labels'],
  'rules[].requests': ['memory'],
  'reclaim[]': RECLAIM_KEYS,
  metrics: ['listen'],
  journal: ['maxSize', 'maxFiles'],
  log: ['format', 'level'],
};
