import { hasCapability } from './capabilities.js';
import { degraded, ok, type Check } from './check.js';
import type { KernelLogFacts } from './facts/kernel.js';
import type { SubjectFacts } from './facts/process.js';
import { isUnseen } from './facts/unseen.js';

const ID = 'kernel.log';

/** Whether whom the kernel's OOM killer killed can be read from /dev/kmsg. */
export function checkKernelLog({ refused, restricted }: KernelLogFacts, { kind, effective }: SubjectFacts): Check {
  const details = { refused: refused ?? null, restricted: restricted ?? null };
  if (kind === 'this process' || isUnseen(effective)) {
    if (refused === undefined) return ok(ID, '/dev/kmsg can be read', details);
    return degraded(ID, `whom the kernel's OOM killer kills is not told: ${refused}`, 'run evictd as root, with CAP_SYSLOG', details);
  }
  if (restricted === false || hasCapability(effective, 'CAP_SYSLOG')) return ok(ID, 'the running evictd may read /dev/kmsg', details);
  const said = "the running evictd has not CAP_SYSLOG and kernel.dmesg_restrict is on: whom the kernel's OOM killer kills is not told";
  return degraded(ID, said, 'add CAP_SYSLOG to CapabilityBoundingSet of its unit', details);
}
