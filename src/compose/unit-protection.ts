import type { Config } from '../config/config.js';
import { isBelow } from '../core/cgroup.js';
import { protectedName } from '../core/protected-units.js';
import type { KnownUnits } from '../core/unit-stop.js';
import { compileRules } from '../workloads/rules.js';

/** `besidesCritical`: what rules call critical is none of them. */
export type UnitProtection = (unit: Parameters<KnownUnits['isProtected']>[0], besidesCritical?: boolean) => boolean;

/**
 * Which units are not to be stopped with another one, whether or not they are workloads: those that rules call critical, those that are on the list, and the one that
 * evictd lives in.
 *
 * @param own  evictd's cgroup where systemd sees it; undefined: not known
 */
export function unitProtection({ rules }: Pick<Config, 'rules'>, own: string | undefined): UnitProtection {
  const effectOf = compileRules(rules);
  return ({ name, controlGroup }, besidesCritical = false) => {
    if (own !== undefined && controlGroup !== '' && (controlGroup === own || isBelow(own, controlGroup))) return true;
    const { critical, liftProtection: ownLift } = effectOf({ name, path: controlGroup });
    const started = whatItStarts(name);
    const liftProtection = ownLift || effectOf({ name: started, path: `/system.slice/${started}` }).liftProtection;
    const listed = protectedName(name) ?? protectedName(started);
    return (critical && !besidesCritical) || (listed !== undefined && (listed.always === true || !liftProtection));
  };
}

/** Without its socket a service of that name is as good as gone for whoever needs it. */
function whatItStarts(name: string): string {
  return name.replace(/\.(socket|path)$/, '.service');
}
