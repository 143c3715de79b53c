import { OOMD_DEFAULTS } from '../core/systemd/oomd-settings.js';
import type { ManagedOom } from '../monitor/ports/managed-oom.js';

/** The port where systemd-oomd could not act either: no unit is managed. */
export function noManagedOom(why: string): ManagedOom {
  const problem = {
    code: 'EVICTD_MANAGED_OOM_NONE',
    message: `managedOOM has no effect here: ${why}`,
    hint: 'as for systemd-oomd: boot systemd with cgroup v2 (systemd.unified_cgroup_hierarchy=1)',
  };
  return {
    look: () => undefined,
    read: () => ({ units: [], settings: OOMD_DEFAULTS, rules: [], isLeftToOomd: false }),
    problems: () => [problem],
    close: () => undefined,
  };
}
