import { degraded, ok, unseen, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';
import type { WindowsServiceFacts } from '../facts/windows-facts.js';

const ID = 'service.manager';

/** The state of evictd in the service manager of Windows. */
export function checkService(service: WindowsServiceFacts): Check {
  if (isUnseen(service)) return unseen(ID, 'whether evictd is a service', service);
  const { state } = service;
  if (!('pid' in service)) return degraded(ID, 'evictd is not a service: it does not start at boot', 'evictd install --now', { state });
  const details = { state, pid: service.pid };
  if (state === 'running') return ok(ID, `the service evictd is running (process ${String(service.pid)})`, details);
  return degraded(ID, `the service evictd is ${state}`, 'net start evictd; %ProgramData%\\evictd\\evictd.log has the reason', details);
}

export const windowsServiceCheck = defineCheck(ID, ['windowsService'], ({ windowsService }) => checkService(windowsService));
