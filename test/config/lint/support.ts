import { departuresOf } from '../../../src/core/decide/departures.js';
import type { ShutdownConfig } from '../../../src/core/workload/shutdown-config.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import type { MachineFacts, PresentWorkload } from '../../../src/config/lint/machine.js';
import type { LintSubject } from '../../../src/config/lint/lint-rule.js';
import { Gi, SECOND } from '../../core/support.js';

/** As it is by default. */
export const NO_SHUTDOWN: ShutdownConfig = {
  shutdownGracePeriodNs: 0n,
  shutdownGracePeriodCriticalPodsNs: 0n,
  shutdownGracePeriodByPodPriority: [],
};

export function subject(thresholds: readonly Threshold[], overrides: Partial<LintSubject> = {}): LintSubject {
  return {
    departures: departuresOf('evictd'),
    thresholds,
    evictionBudget: { max: 5, windowNs: 600n * SECOND, bands: [] },
    pressureTransitionPeriodNs: 300n * SECOND,
    maxPodGracePeriodNs: 10n * SECOND,
    monitoringIntervalNs: 10n * SECOND,
    maxPauseNs: 4n * 3600n * SECOND,
    workloads: [{ cgroup: '/workload.slice' }],
    rules: [],
    taints: [],
    disruptionBudgets: [],
    policies: [],
    shutdown: NO_SHUTDOWN,
    hooks: { preEvict: undefined, postEvict: undefined, prekill: undefined },
    standingOrderAfterNs: 5_000_000n,
    filesystems: { nodefs: '/' },
    allocatable: undefined,
    written: new Map(),
    ...overrides,
  };
}

/** 8 GiB of memory and nothing reserved, 1000 processes, a disk of 100 GiB. */
export function machine(overrides: Partial<MachineFacts> = {}): MachineFacts {
  return {
    capacities: new Map([
      ['memory.available', 8n * Gi],
      ['nodefs.available', 100n * Gi],
      ['pid.available', 1000n],
    ]),
    unreadable: new Map(),
    absent: new Map(),
    reserve: { totalBytes: 8n * Gi, minFreeBytes: 0n, hugePagesBytes: 0n, kernelBytes: 0n },
    polled: new Map(),
    workloads: undefined,
    ...overrides,
  };
}

/** Below /workload.slice. */
export function present(name: string, overrides: Partial<PresentWorkload> = {}): PresentWorkload {
  return { name, path: `/workload.slice/${name}`, matched: [], unevictable: undefined, ...overrides };
}
