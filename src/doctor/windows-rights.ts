import { broken, ok, type Check } from './check.js';

const ID = 'process.rights';

/** Whoever is no administrator sees the processes of others, and may end none of them. */
export function checkRights(mayEndOthers: boolean): Check {
  if (mayEndOthers) return ok(ID, 'processes of all users may be ended', { mayEndOthers });
  return broken(ID, 'only processes of this user may be ended', 'run it as an administrator, as the service does', { mayEndOthers });
}
