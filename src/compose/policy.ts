import type { Config } from '../config/config.js';
import { normalCgroupPath } from '../core/cgroup.js';
import { COLLECTIONS } from '../core/layout.js';
import { MACHINE_RESOURCES } from '../core/signal.js';
import type { Policy } from '../core/state.js';

/**
 * What a configuration says about deciding, on a machine: its workloads are cgroups, and nothing but evicting them frees anything.
 *
 * @param shuttingDown  the machine goes down
 */
export function policyOf(config: Config, dryRun: boolean, shuttingDown = false): Policy {
  return {
    thresholds: config.thresholds,
    pressureTransitionPeriodNs: config.pressureTransitionPeriodNs,
    maxPodGracePeriodNs: config.maxPodGracePeriodNs,
    departures: config.departures,
    monitoringIntervalNs: config.monitoringIntervalNs,
    pressureWindowNs: config.pressureWindowNs,
    hasWorkloadSource: config.workloads.length > 0,
    evictable: MACHINE_RESOURCES,
    ...(config.allocatable && { allocatableCgroup: normalCgroupPath(config.allocatable.cgroup) }),
    collections: new Set(config.workloads.some((source) => 'cri' in source) ? COLLECTIONS : []),
    reclaimSteps: config.reclaim,
    localStorageCapacityIsolation: false,
    dryRun,
    ...(shuttingDown && { shuttingDown }),
  };
}
