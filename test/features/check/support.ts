import type { Observations } from '../../../src/core/signal/observation.js';
import type { Signal } from '../../../src/core/signal/signal.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import { checkReport, type CheckInput, type CheckReport } from '../../../src/features/check/check-report.js';
import type { NotifierState } from '../../../src/monitor/ports/ports.js';
import { Gi, Mi, SECOND, threshold } from '../../core/support.js';

/** 12:00:05 UTC; the monotonic clock stands at 100 s. */
export const clock = { monotonicNs: 100n * SECOND, wallMs: Date.UTC(2026, 10, 21, 12, 0, 5) };

export const thresholds: readonly Threshold[] = [
  threshold('memory.available', '100Mi'),
  threshold('memory.available', '5%', { graceSeconds: 30 }),
  threshold('nodefs.available', '10%'),
  threshold('pid.available', '100'),
];

/** Read 5 s before the clock of the report. */
export function reading(
  values: Partial<Record<Signal, readonly [available: bigint, capacity: bigint]>>,
  missing: Partial<Record<Signal, string>> = {},
): Observations {
  const observed = Object.entries(values).map(([signal, [available, capacity]]) => {
    return [signal as Signal, { available, capacity, timeNs: 95n * SECOND, source: `${signal} of a test` }] as const;
  });
  return { observed: new Map(observed), missing: new Map(Object.entries(missing) as [Signal, string][]) };
}

export const calm = reading({
  'memory.available': [15n * Gi, 16n * Gi],
  'nodefs.available': [120n * Gi, 200n * Gi],
  'pid.available': [32_000n, 32_768n],
});
export const short = reading({
  'memory.available': [50n * Mi, 16n * Gi],
  'nodefs.available': [120n * Gi, 200n * Gi],
  'pid.available': [32_000n, 32_768n],
});
export const unread = reading(
  { 'memory.available': [15n * Gi, 16n * Gi], 'pid.available': [32_000n, 32_768n] },
  { 'nodefs.available': '/var: no answer for 1 s' },
);

export const live: NotifierState = {
  mechanism: 'memcg_threshold',
  signal: 'memory.available',
  target: 'memory.usage_in_bytes of /',
  live: true,
  reason: undefined,
  hint: undefined,
  essential: true,
};
export const dead: NotifierState = {
  ...live,
  mechanism: 'psi_trigger',
  target: '/proc/pressure/memory',
  live: false,
  reason: 'EPERM',
  hint: 'run as root',
  essential: false,
};

export function report(observations: Observations, overrides: Partial<CheckInput> = {}): CheckReport {
  return checkReport({
    node: { name: 'machine', cgroup: undefined, cgroupVersion: 1 },
    observations,
    thresholds,
    notifiers: [live],
    problems: [],
    notices: [],
    clock,
    ...overrides,
  });
}
