import { hasCapability } from '../process/capabilities.js';
import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { KernelLogFacts } from '../../../host/facts/kernel-facts.js';
import type { SubjectFacts } from '../../../host/facts/process-facts.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';

const ID = 'kernel.log';

/** Whether evictd can read OOM kills from /dev/kmsg. */
export function checkKernelLog({ refused, restricted }: KernelLogFacts, { kind, effective }: SubjectFacts): Check {
  const details = { refused: refused ?? null, restricted: restricted ?? null };
  if (kind === 'this process' || isUnseen(effective)) {
    if (refused === undefined) return ok(ID, '/dev/kmsg is readable', details);
    return degraded(ID, `cannot read OOM kills from /dev/kmsg: ${refused}`, 'run evictd as root, with CAP_SYSLOG', details);
  }
  if (restricted === false || hasCapability(effective, 'CAP_SYSLOG')) return ok(ID, 'the running evictd can read /dev/kmsg', details);
  const summary = 'the running evictd cannot read OOM kills from /dev/kmsg: it lacks CAP_SYSLOG, and kernel.dmesg_restrict is on';
  return degraded(ID, summary, 'add CAP_SYSLOG to CapabilityBoundingSet of its unit', details);
}

export const kernelLogCheck = defineCheck(ID, ['kernelLog', 'subject'], ({ kernelLog, subject }) => checkKernelLog(kernelLog, subject));
