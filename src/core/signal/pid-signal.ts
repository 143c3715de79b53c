import type { Measure, ResourceDefinition } from './signal-definition.js';

const nothing = (): bigint => 0n;
/** Kubernetes has no request for processes. */
const PROCESSES: Measure = { usage: (_, stats) => stats.processes, requestNano: nothing, subtractedNano: nothing };

export const pidAvailable = {
  name: 'pid.available',
  operator: '<',
  unit: 'processes',
  kubelet: true,
  resource: 'pids',
  condition: 'PIDPressure',
  measure: () => PROCESSES,
  priorityFirst: true,
  absentOnWindows: 'Windows does not limit process ids; too many processes show in memory.available',
} as const satisfies ResourceDefinition;
