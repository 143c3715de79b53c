import type { WorkloadSource } from '../monitor/ports.js';

/** The source of the configuration in force. */
export function replaceable(current: () => WorkloadSource): WorkloadSource {
  return {
    candidates: () => current().candidates(),
    refresh: () => {
      current().refresh();
    },
    holding: (cgroup) => current().holding(cgroup),
    problems: () => current().problems(),
    close: () => {
      current().close();
    },
  };
}
