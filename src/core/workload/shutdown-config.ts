import { formatDuration, NS_PER_SECOND } from '../quantity/duration.js';
import { SYSTEM_CRITICAL_PRIORITY } from './workload.js';

/** The grace period for workloads from this priority up to the next entry's. */
export interface ShutdownGracePeriod {
  readonly priority: number;
  /** Whole seconds; negative: none. */
  readonly gracePeriodNs: bigint;
}

/** KubeletConfiguration's fields; 0n and an empty list: not set. */
export interface ShutdownConfig {
  readonly shutdownGracePeriodNs: bigint;
  /** The last part of shutdownGracePeriodNs. */
  readonly shutdownGracePeriodCriticalPodsNs: bigint;
  readonly shutdownGracePeriodByPodPriority: readonly ShutdownGracePeriod[];
}

/** The kubelet's feature gates. */
export interface ShutdownGates {
  readonly GracefulNodeShutdown: boolean;
  readonly GracefulNodeShutdownBasedOnPodPriority: boolean;
}

export const SHUTDOWN_GATES: ShutdownGates = { GracefulNodeShutdown: true, GracefulNodeShutdownBasedOnPodPriority: true };

/** The message is the kubelet's without `invalid configuration: `. */
export interface ShutdownConfigError {
  readonly key: 'shutdownGracePeriod' | 'shutdownGracePeriodCriticalPods' | 'shutdownGracePeriodByPodPriority';
  readonly message: string;
}

/**
 * kubelet: validation.go, ValidateKubeletConfiguration, v1.36.2. Duplicate priorities and negative seconds are valid.
 */
export function validateShutdownConfig(config: ShutdownConfig, gates: ShutdownGates = SHUTDOWN_GATES): ShutdownConfigError[] {
  const { shutdownGracePeriodNs: total, shutdownGracePeriodCriticalPodsNs: critical } = config;
  const isSet = total > 0n || critical > 0n;
  const byPriority = config.shutdownGracePeriodByPodPriority.length > 0;
  const errors: ShutdownConfigError[] = [];
  const wrong = (key: ShutdownConfigError['key'], message: string): number => errors.push({ key, message });
  if (gates.GracefulNodeShutdown) {
    if (critical > total) {
      const message = `shutdownGracePeriodCriticalPods {${formatDuration(critical)}} must be <= shutdownGracePeriod {${formatDuration(total)}}`;
      wrong('shutdownGracePeriodCriticalPods', message);
    }
    const least = (ns: bigint): string => `{${formatDuration(ns)}} must be either zero or otherwise >= 1 sec`;
    if (isTooShort(total)) wrong('shutdownGracePeriod', `shutdownGracePeriod ${least(total)}`);
    if (isTooShort(critical)) wrong('shutdownGracePeriodCriticalPods', `shutdownGracePeriodCriticalPods ${least(critical)}`);
  } else if (isSet) {
    const key = total > 0n ? 'shutdownGracePeriod' : 'shutdownGracePeriodCriticalPods';
    wrong(key, 'specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown');
  }
  if (byPriority && !gates.GracefulNodeShutdownBasedOnPodPriority) {
    const message = 'Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority';
    wrong('shutdownGracePeriodByPodPriority', message);
  } else if (byPriority && isSet) {
    const message = 'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time';
    wrong('shutdownGracePeriodByPodPriority', message);
  }
  return errors;
}

function isTooShort(ns: bigint): boolean {
  return ns < 0n || (ns > 0n && ns < NS_PER_SECOND);
}

/**
 * The lowest priority, which ends first, first. Empty: no workload is ended at a shutdown (kubelet:
 * nodeshutdown_manager_linux.go, NewManager).
 */
export function shutdownGracePeriods(config: ShutdownConfig, gates: ShutdownGates = SHUTDOWN_GATES): readonly ShutdownGracePeriod[] {
  if (!gates.GracefulNodeShutdown) return [];
  const byPriority = gates.GracefulNodeShutdownBasedOnPodPriority ? config.shutdownGracePeriodByPodPriority : [];
  if (byPriority.length > 0) return byPriority.toSorted((a, b) => a.priority - b.priority);
  return migrateConfig(config.shutdownGracePeriodNs, config.shutdownGracePeriodCriticalPodsNs);
}

/** Two groups from the two plain fields, rounded down to whole seconds (kubelet: migrateConfig). */
export function migrateConfig(shutdownGracePeriodNs: bigint, criticalNs: bigint): readonly ShutdownGracePeriod[] {
  const otherNs = shutdownGracePeriodNs - criticalNs;
  if (shutdownGracePeriodNs === 0n || otherNs < 0n || criticalNs < 0n) return [];
  return [
    { priority: 0, gracePeriodNs: wholeSeconds(otherNs) },
    { priority: SYSTEM_CRITICAL_PRIORITY, gracePeriodNs: wholeSeconds(criticalNs) },
  ];
}

/** The time of all groups together; 0n: evictd ends no workload at a shutdown. */
export function shutdownRequestedNs(config: ShutdownConfig): bigint {
  return periodRequestedNs(shutdownGracePeriods(config));
}

/** The delay for the inhibitor lock. */
export function periodRequestedNs(periods: readonly ShutdownGracePeriod[]): bigint {
  return periods.reduce((sum, { gracePeriodNs }) => sum + gracePeriodNs, 0n);
}

function wholeSeconds(ns: bigint): bigint {
  return ns - (ns % NS_PER_SECOND);
}
