import * as z from 'zod/mini';
import { COMPATIBILITIES, DEPARTURES } from '../core/departure.js';
import type { Rule } from '../core/rule.js';
import type { ThresholdKind } from '../core/threshold.js';
import { PRESSURE_WINDOW_NS } from './listed-thresholds.js';
import { flag, integer, MAX_INT32, parsed, pattern, seconds, text, textOf } from './scalar.js';
import { bytesText, capacityText, cgroupText, durationText, listenText, pathText } from './text.js';
import { whenOperands } from './when.js';

// Generated validators pay off after thousands of documents; here one is read.
z.config({ jitless: true });

const NS_PER_MS = 1_000_000n;
const NS_PER_HOUR = 3_600_000_000_000n;
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

const evictionKeys = {
  evictionHard: bySignal,
  evictionSoft: bySignal,
  evictionSoftGracePeriod: bySignal,
  evictionMinimumReclaim: bySignal,
  evictionPressureTransitionPeriod: z.optional(parsed((input) => durationText(input, 0n, MAX_DURATION_NS))),
  evictionMaxPodGracePeriod: z.optional(seconds),
  /** What a kubelet may enforce; only whether `pods` is among it says something here. */
  enforceNodeAllocatable: z.optional(z.array(z.enum(ENFORCEABLE))),
  mergeDefaultEvictionSettings: z.optional(flag),
};

const rule = z.pipe(
  z.strictObject({
    match: z.strictObject({ name: z.optional(pattern), path: z.optional(pattern) }),
    critical: z.optional(flag),
    priority: z.optional(integer(-MAX_INT32 - 1, MAX_INT32)),
    requests: z.optional(z.strictObject({ memory: z.optional(parsed(bytesText)) })),
    terminationGracePeriodSeconds: z.optional(seconds),
  }),
  z.transform(({ requests, terminationGracePeriodSeconds, ...rest }): Rule => {
    const rule = {
      ...rest,
      ...(requests?.memory === undefined ? {} : { requestsMemory: requests.memory }),
      ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodNs: terminationGracePeriodSeconds }),
    };
    return rule as Rule; // zod's optional keys are absent where they are not set
  }),
);

/** kind: EvictdConfiguration. Every key may be absent. */
export const evictdSchema = z.strictObject({
  apiVersion: z.optional(text),
  kind: z.optional(text),
  compatibility: z.optional(z.enum(COMPATIBILITIES)),
  departures: z.optional(z.strictObject(Object.fromEntries(DEPARTURES.map((name) => [name, z.optional(flag)])))),
  ...evictionKeys,
  thresholds: z.optional(
    z.array(
      z.strictObject({
        when: parsed(whenOperands),
        kind: z.enum(THRESHOLD_KINDS),
        for: z.optional(parsed((input) => durationText(input, 0n, MAX_DURATION_NS))),
      }),
    ),
  ),
  pressureWindow: z.optional(parsed((input) => durationText(input, PRESSURE_WINDOW_NS.least, PRESSURE_WINDOW_NS.most))),
  allocatable: z.optional(z.strictObject({ cgroup: parsed(cgroupText), capacity: parsed(capacityText) })),
  monitoringInterval: z.optional(parsed((input) => durationText(input, 100n * NS_PER_MS, NS_PER_HOUR))),
  node: z.optional(z.strictObject({ cgroup: z.optional(parsed(cgroupText)) })),
  filesystems: z.optional(z.strictObject({ nodefs: z.optional(parsed((input) => pathText(input, '/var'))) })),
  workloads: z.optional(z.array(z.strictObject({ cgroup: parsed(cgroupText) }))),
  rules: z.optional(z.array(rule)),
  oomScoreAdj: z.optional(z.enum(OOM_SCORE_ADJ_MODES)),
  metrics: z.optional(z.strictObject({ listen: z.optional(parsed((input) => ({ address: listenText(input) }))) })),
  stateDirectory: z.optional(parsed((input) => pathText(input, '/var/lib/evictd'))),
  runtimeDirectory: z.optional(parsed((input) => pathText(input, '/run/evictd'))),
  log: z.optional(
    z.strictObject({
      format: z.optional(z.enum(['auto', 'text', 'systemd', 'json'])),
      level: z.optional(z.enum(['debug', 'info', 'warn', 'error'])),
    }),
  ),
});

/** A KubeletConfiguration (kubelet.config.k8s.io/v1beta1): the fields about eviction; what else it holds is the kubelet's. */
export const kubeletSchema = z.object(evictionKeys);

export type Settings = z.output<typeof evictdSchema>;

/** Keys that a map of the schema takes, for suggestions. */
export const KEYS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(evictdSchema.shape),
  departures: DEPARTURES,
  allocatable: ['cgroup', 'capacity'],
  node: ['cgroup'],
  filesystems: ['nodefs'],
  'thresholds[]': ['when', 'kind', 'for'],
  'workloads[]': ['cgroup'],
  'rules[]': ['match', 'critical', 'priority', 'requests', 'terminationGracePeriodSeconds'],
  'rules[].match': ['name', 'path'],
  'rules[].requests': ['memory'],
  metrics: ['listen'],
  log: ['format', 'level'],
};
