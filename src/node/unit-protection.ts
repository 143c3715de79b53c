import type { Config } from '../config/config.js';
import { isBelow } from '../core/workload/cgroup.js';
import { protectedName } from '../core/systemd/protected-units.js';
import type { UnitProtection } from '../workloads/systemd/unit-stops.js';
import { compileRules } from '../workloads/workload-rules.js';

/**
 * Units that must not be stopped along with another unit, whether or not they are workloads: critical ones by the
 * rules, those on the list of protected units, and evictd's own.
 *
 * @param own  evictd's cgroup in the hierarchy of systemd; undefined: not known
 */
export function unitProtection({ rules }: Pick<Config, 'rules'>, own: string | undefined): UnitProtection {
  const effectOf = compileRules(rules);
  return ({ name, controlGroup }, besidesCritical = false) => {
    if (own !== undefined && controlGroup !== '' && (controlGroup === own || isBelow(own, controlGroup))) return true;
    const { critical, liftProtection: ownLift } = effectOf({ name, path: controlGroup });
    const started = startedBy(name);
    const liftProtection = ownLift || effectOf({ name: started, path: `/system.slice/${started}` }).liftProtection;
    const listed = protectedName(name) ?? protectedName(started);
    return (critical && !besidesCritical) || (listed !== undefined && (listed.always === true || !liftProtection));
  };
}

/** The service that a socket or path unit starts: without its socket a service is unreachable. */
function startedBy(name: string): string {
  return name.replace(/\.(socket|path)$/, '.service');
}
