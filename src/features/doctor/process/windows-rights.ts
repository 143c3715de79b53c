import { broken, ok, unseen, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { RightsFacts } from '../facts/windows-facts.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';

const ID = 'process.rights';

/** Without SeDebugPrivilege evictd cannot end processes of other users. Usually an administrator has it. */
export function checkRights({ isAdministrator, debugPrivilege }: RightsFacts): Check {
  if (isUnseen(debugPrivilege)) return unseen(ID, 'whether evictd can end processes of other users', debugPrivilege);
  const details = { mayEndOthers: debugPrivilege, isAdministrator };
  if (debugPrivilege) return ok(ID, 'evictd can end processes of all users (SeDebugPrivilege is enabled)', details);
  const summary = 'evictd can end only processes of this user';
  return isAdministrator
    ? broken(
        ID,
        `${summary}: this administrator does not have SeDebugPrivilege`,
        'run evictd as the service, which has it; or grant "Debug programs" (secpol.msc, User Rights Assignment)',
        details,
      )
    : broken(ID, summary, 'run evictd as an administrator or as the service', details);
}

export const rightsCheck = defineCheck(ID, ['rights'], ({ rights }) => checkRights(rights));
