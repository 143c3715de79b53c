import { gcTerminating } from '../../src/core/cluster/pod-gc.js';
import { parseDuration } from '../../src/core/quantity/duration.js';
import {
  migrateConfig,
  periodRequestedNs,
  SHUTDOWN_GATES,
  shutdownGracePeriods,
  validateShutdownConfig,
  type ShutdownConfig,
  type ShutdownGates,
  type ShutdownGracePeriod,
} from '../../src/core/workload/shutdown-config.js';
import { groupByPriority, type ShutdownWorkload, shutdownTimeline } from '../../src/features/shutdown/shutdown-plan.js';
import { clusterNodeOf, clusterPodOf } from '../../src/kubernetes/cluster-document.js';
import { workloadOfPod } from '../../src/kubernetes/pod.js';
import { shutdownStatus } from './kubelet/status.js';
import { isObject, type Json, type JsonObject } from './json.js';
import { compareKeys, VectorFormatError, type Check } from './vector.js';

const NS_PER_SECOND = 1_000_000_000n;
const NS_PER_MS = 1_000_000n;

const KINDS: Readonly<Record<string, (input: JsonObject) => JsonObject>> = {
  migrateConfig: (input) => {
    const periods = migrateConfig(duration(input.shutdownGracePeriod), duration(input.shutdownGracePeriodCriticalPods));
    return { enabled: periods.length > 0, shutdownGracePeriodByPodPriority: periods.map(periodJson) };
  },
  shutdownPlan: (input) => {
    const periods = shutdownGracePeriods(configOf(input), gatesOf(input));
    const phases = new Map(list(input.pods).map((pod) => [workloadOfPod(pod).id, clusterPodOf(pod).phase]));
    const groups = groupByPriority(periods, list(input.pods).map(workloadOfPod)).map((group) => ({
      ...periodJson(group),
      pods: group.workloads.map((ended) => podJson(ended, phases.get(ended.workload.id) ?? '')),
    }));
    return { enabled: periods.length > 0, groups, periodRequestedSeconds: Number(periodRequestedNs(periods) / NS_PER_SECOND) };
  },
  shutdownTimeline: (input) => {
    const pods = list(input.pods).map((described) => {
      if (!isObject(described)) throw new VectorFormatError('"pods" must be a list of objects');
      return { pod: described.pod, workload: workloadOfPod(described.pod), exitsAfterNs: integer(described.exitsAfterMs) * NS_PER_MS };
    });
    const of = new Map(pods.map((each) => [each.workload.id, each]));
    const periods = shutdownGracePeriods(configOf(input), gatesOf(input));
    const groups = groupByPriority(
      periods,
      pods.map(({ workload }) => workload),
    );
    const timeline = shutdownTimeline(groups, ({ workload }) => of.get(workload.id)?.exitsAfterNs ?? 0n);
    const kills = timeline.flatMap(({ group, startsAtNs }) =>
      group.workloads.map((ended) => {
        const { pod, gracePeriodSeconds, phaseAfter } = podJson(ended, clusterPodOf(of.get(ended.workload.id)?.pod).phase);
        return { atMs: Number(startsAtNs / NS_PER_MS), gracePeriodSeconds, phaseAfter, pod };
      }),
    );
    return {
      enabled: periods.length > 0,
      finishedAtMs: Number((timeline.at(-1)?.endsAtNs ?? 0n) / NS_PER_MS),
      kills: kills.sort((a, b) => a.atMs - b.atMs || (a.pod < b.pod ? -1 : 1)),
    };
  },
  validateShutdownConfig: (input) => {
    const errors = validateShutdownConfig(configOf(input), gatesOf(input)).map(({ message }) => `invalid configuration: ${message}`);
    return { errors, valid: errors.length === 0 };
  },
  podGC: (input) => {
    const { forceDeleted, markedFailed } = gcTerminating(list(input.pods).map(clusterPodOf), list(input.nodes).map(clusterNodeOf));
    const names = (pods: typeof forceDeleted): string[] => pods.map(({ name }) => name).sort();
    return { forceDeleted: names(forceDeleted), markedFailed: names(markedFailed) };
  },
};

export const checkShutdown: Check = ({ line: { kind, input, expect } }) => {
  const run = typeof kind === 'string' && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (run === undefined) throw new VectorFormatError(`"kind" must be one of ${Object.keys(KINDS).join(', ')}`);
  if (!isObject(input) || !isObject(expect)) throw new VectorFormatError('"input" and "expect" must be objects');
  return compareKeys(printed(expect), printed(run(input)));
};

function podJson(ended: ShutdownWorkload, phaseBefore: string) {
  const { workload, gracePeriodNs } = ended;
  const { phase, reason, message, conditions } = shutdownStatus(workload, phaseBefore);
  return {
    pod: workload.name,
    gracePeriodSeconds: Number(gracePeriodNs / NS_PER_SECOND),
    phaseAfter: phase,
    reason,
    message,
    disruptionTargetReason: conditions.find(({ type }) => type === 'DisruptionTarget')?.reason ?? null,
  };
}

function periodJson({ priority, gracePeriodNs }: ShutdownGracePeriod) {
  return { priority, shutdownGracePeriodSeconds: Number(gracePeriodNs / NS_PER_SECOND) };
}

function configOf(input: JsonObject): ShutdownConfig {
  return {
    shutdownGracePeriodNs: duration(input.shutdownGracePeriod),
    shutdownGracePeriodCriticalPodsNs: duration(input.shutdownGracePeriodCriticalPods),
    shutdownGracePeriodByPodPriority: list(input.shutdownGracePeriodByPodPriority).map((entry) => {
      if (!isObject(entry)) throw new VectorFormatError('"shutdownGracePeriodByPodPriority" must be a list of objects');
      return { priority: Number(entry.priority), gracePeriodNs: integer(entry.shutdownGracePeriodSeconds) * NS_PER_SECOND };
    }),
  };
}

function gatesOf({ featureGates = {} }: JsonObject): ShutdownGates {
  if (!isObject(featureGates)) throw new VectorFormatError('"featureGates" must be an object');
  return { ...SHUTDOWN_GATES, ...featureGates };
}

function duration(value: Json | undefined): bigint {
  if (typeof value !== 'string') throw new VectorFormatError('a duration must be a text');
  return parseDuration(value);
}

function integer(value: Json | undefined): bigint {
  if (typeof value !== 'number' && typeof value !== 'bigint') throw new VectorFormatError('an integer is expected');
  return BigInt(value);
}

/** Missing is empty. */
function list(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new VectorFormatError('a list is expected');
  return value as readonly Json[];
}

/** Each key's value as text, so that lists compare; the order of keys never matters. */
function printed(object: JsonObject): JsonObject {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, member]) => [key, sorted(member)]),
    );
  };
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, JSON.stringify(sorted(value))]));
}
