import * as z from 'zod/mini';
import * as core from 'zod/v4/core';
import { COMPATIBILITIES, DEPARTURES } from '../../core/decide/departures.js';
import type { ShutdownGracePeriod } from '../../core/workload/shutdown-config.js';
import { shaped } from '../value/json-shape.js';
import type { KeyPath } from '../value/report.js';
import { PRESSURE_WINDOW_NS, thresholdEntry } from '../resolve/listed-thresholds.js';
import { policyEntry } from '../policies/policy-entry.js';
import { priorityClass } from '../resolve/priority-classes.js';
import { hooksSchema } from '../resolve/hooks.js';
import { kubernetesSchema } from '../resolve/kubernetes.js';
import { notificationsSchema } from '../resolve/notifications.js';
import { disruptionBudget } from '../resolve/disruption-budgets.js';
import { reclaimEntry } from '../resolve/reclaim-steps.js';
import { flag, integer, MAX_INT32, parsed, signedSeconds, text, textOf } from '../value/scalar.js';
import {
  capacityText,
  cgroupText,
  durationText,
  groupText,
  journalSizeText,
  listenText,
  MAX_DURATION_NS,
  nodePathText,
  taintOf,
} from '../value/value-text.js';
import { rule } from './workload-rules.js';
import { source } from './workload-sources.js';
import { NS_PER_MS, NS_PER_HOUR, NS_PER_SECOND } from '../../core/quantity/duration.js';

const MAX_EVICTIONS = 1_000;

const ENFORCEABLE = [
  'none',
  'pods',
  'system-reserved',
  'kube-reserved',
  'system-reserved-compressible',
  'kube-reserved-compressible',
] as const;
const OOM_SCORE_ADJ_MODES = ['off', 'qos', 'rank'] as const;

/** threshold-maps.ts parses the entries. null: no value, which threshold-maps.ts reports. */
const bySignal = z.optional(
  z.record(
    z.string(),
    shaped(
      z.transform((input: unknown, payload) => textOf(input ?? '', payload)),
      { type: ['string', 'number'] },
    ),
  ),
);

/** May be negative: shutdown-grace.ts checks the keys together. */
const shutdownDuration = parsed((input) => durationText(input, -MAX_DURATION_NS, MAX_DURATION_NS));

/** A missing key is 0, as in the kubelet. */
const shutdownGracePeriod = z.pipe(
  z.strictObject({
    priority: z.optional(integer(-MAX_INT32 - 1, MAX_INT32)),
    shutdownGracePeriodSeconds: z.optional(integer(-MAX_INT32 - 1, MAX_INT32)),
  }),
  z.transform(({ priority = 0, shutdownGracePeriodSeconds: seconds = 0 }): ShutdownGracePeriod => {
    return { priority, gracePeriodNs: BigInt(seconds) * NS_PER_SECOND };
  }),
);

/** A limit for workloads with at least this priority. */
const budgetBand = z.strictObject({ minPriority: integer(-MAX_INT32 - 1, MAX_INT32), max: integer(0, MAX_EVICTIONS) });

const evictionBudget = z.strictObject({
  max: z.optional(integer(0, MAX_EVICTIONS)),
  window: z.optional(parsed((input) => durationText(input, NS_PER_SECOND, 168n * NS_PER_HOUR))),
  bands: z.optional(z.array(budgetBand)),
});

/** The keys of KubeletConfiguration that evictd reads. */
const kubeletKeys = {
  evictionHard: bySignal,
  evictionSoft: bySignal,
  evictionSoftGracePeriod: bySignal,
  evictionMinimumReclaim: bySignal,
  evictionPressureTransitionPeriod: z.optional(parsed((input) => durationText(input, -MAX_DURATION_NS, MAX_DURATION_NS))),
  evictionMaxPodGracePeriod: z.optional(signedSeconds),
  /** evictd reads only whether `pods` is in it. */
  enforceNodeAllocatable: z.optional(z.array(z.enum(ENFORCEABLE))),
  mergeDefaultEvictionSettings: z.optional(flag),
  shutdownGracePeriod: z.optional(shutdownDuration),
  shutdownGracePeriodCriticalPods: z.optional(shutdownDuration),
  shutdownGracePeriodByPodPriority: z.optional(z.array(shutdownGracePeriod)),
};

/** kind: EvictdConfiguration. Every key is optional. */
export const evictdSchema = z.strictObject({
  apiVersion: z.optional(text),
  kind: z.optional(text),
  compatibility: z.optional(z.enum(COMPATIBILITIES)),
  departures: z.optional(z.strictObject(Object.fromEntries(DEPARTURES.map((name) => [name, z.optional(flag)])))),
  ...kubeletKeys,
  thresholds: z.optional(z.array(thresholdEntry)),
  pressureWindow: z.optional(parsed((input) => durationText(input, PRESSURE_WINDOW_NS.least, PRESSURE_WINDOW_NS.most))),
  evictionBudget: z.optional(evictionBudget),
  allocatable: z.optional(z.strictObject({ cgroup: parsed(cgroupText), capacity: z.optional(parsed(capacityText)) })),
  monitoringInterval: z.optional(parsed((input) => durationText(input, 100n * NS_PER_MS, NS_PER_HOUR))),
  standingOrder: z.optional(z.strictObject({ after: z.optional(parsed((input) => durationText(input, 0n, NS_PER_SECOND))) })),
  safeMode: z.optional(
    z.strictObject({
      crashes: z.optional(integer(0, 100)),
      within: z.optional(parsed((input) => durationText(input, NS_PER_SECOND, 24n * NS_PER_HOUR))),
    }),
  ),
  pause: z.optional(z.strictObject({ max: z.optional(parsed((input) => durationText(input, 0n, 168n * NS_PER_HOUR))) })),
  node: z.optional(z.strictObject({ cgroup: z.optional(parsed(cgroupText)) })),
  filesystems: z.optional(
    z.strictObject({
      nodefs: z.optional(parsed((input) => nodePathText(input, '/var'))),
      imagefs: z.optional(parsed((input) => nodePathText(input, '/var/lib/containerd'))),
      containerfs: z.optional(parsed((input) => nodePathText(input, '/var/lib/containerd'))),
    }),
  ),
  workloads: z.optional(z.array(source)),
  priorityClasses: z.optional(z.array(priorityClass)),
  rules: z.optional(z.array(rule)),
  taints: z.optional(z.array(parsed(taintOf))),
  disruptionBudgets: z.optional(z.array(disruptionBudget)),
  reclaim: z.optional(z.array(reclaimEntry)),
  policies: z.optional(z.array(policyEntry)),
  hooks: z.optional(hooksSchema),
  notifications: z.optional(notificationsSchema),
  kubernetes: z.optional(kubernetesSchema),
  oomScoreAdj: z.optional(z.enum(OOM_SCORE_ADJ_MODES)),
  metrics: z.optional(
    z.strictObject({
      listen: z.optional(parsed((input) => ({ address: listenText(input) }))),
      tokenFile: z.optional(parsed((input) => nodePathText(input, '/etc/evictd/token'))),
    }),
  ),
  controlSocket: z.optional(z.strictObject({ group: z.optional(parsed(groupText)) })),
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

/** The booleans of YAML 1.1, which a kubelet reads (sigs.k8s.io/yaml, goyaml.v2/resolve.go), and which YAML 1.2 has as texts. */
const WORDS_OF_YAML_1_1: ReadonlyMap<string, boolean> = new Map(
  [['y Y yes Yes YES on On ON', true] as const, ['n N no No NO off Off OFF', false] as const].flatMap(([words, value]) =>
    words.split(' ').map((word) => [word, value] as const),
  ),
);

/**
 * kind: KubeletConfiguration (kubelet.config.k8s.io/v1beta1): the keys about eviction and shutdown; others are ignored.
 */
export const kubeletSchema = z.object({
  ...kubeletKeys,
  mergeDefaultEvictionSettings: z.optional(
    z.pipe(
      z.transform((input) => WORDS_OF_YAML_1_1.get(String(input)) ?? input),
      flag,
    ),
  ),
});

export type Settings = z.output<typeof evictdSchema>;

/** The keys that a schema accepts in the map at `path`. */
export function keysAt(path: KeyPath, of: core.$ZodType = evictdSchema): readonly string[] {
  const at = path.reduce<core.$ZodType | undefined>((outer, key) => {
    const schema = unwrapped(outer);
    if (schema instanceof core.$ZodArray) return schema._zod.def.element;
    return schema instanceof core.$ZodObject ? (schema._zod.def.shape as core.$ZodShape)[String(key)] : undefined;
  }, of);
  const schema = unwrapped(at);
  return schema instanceof core.$ZodObject ? Object.keys(schema._zod.def.shape) : [];
}

/** The schema inside optional() and transforms. */
function unwrapped(schema: core.$ZodType | undefined): core.$ZodType | undefined {
  if (schema instanceof core.$ZodOptional) return unwrapped(schema._zod.def.innerType);
  if (!(schema instanceof core.$ZodPipe)) return schema;
  const { in: first, out } = schema._zod.def;
  return unwrapped(first instanceof core.$ZodTransform ? out : first);
}
