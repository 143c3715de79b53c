import { broken, ok, unseen, type Check } from './check.js';
import type { RightsFacts } from './facts/windows.js';
import { isUnseen } from './facts/unseen.js';

const ID = 'process.rights';

/** Without SeDebugPrivilege processes of others are seen, and may not be ended. Mostly an administrator has it. */
export function checkRights({ isAdministrator, debugPrivilege }: RightsFacts): Check {
  if (isUnseen(debugPrivilege)) return unseen(ID, 'whether processes of other users may be ended', debugPrivilege);
  const details = { mayEndOthers: debugPrivilege, isAdministrator };
  if (debugPrivilege) return ok(ID, 'processes of all users may be ended (SeDebugPrivilege is enabled)', details);
  const said = 'only processes of this user may be ended';
  return isAdministrator
    ? broken(
        ID,
        `${said}: this administrator does not have SeDebugPrivilege`,
        'run it as the service, which is the system and has it; or look at who may debug programs (secpol.msc, user rights assignment)',
        details,
      )
    : broken(ID, said, 'run it as an administrator, or as the service', details);
}
