import { broken, degraded, ok, unseen, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { SubjectFacts } from '../../../host/facts/process-facts.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';

const ID = 'process.capabilities';

/** The most important first. Bits: include/uapi/linux/capability.h. */
const NEEDED = [
  { name: 'CAP_KILL', bit: 5n, purpose: 'to end processes of other users' },
  { name: 'CAP_DAC_OVERRIDE', bit: 1n, purpose: 'to access cgroups and files of other users' },
  { name: 'CAP_SYS_RESOURCE', bit: 24n, purpose: 'for pressure windows below 2 s and to lower oom_score_adj' },
  { name: 'CAP_SYSLOG', bit: 34n, purpose: 'to read OOM kills from /dev/kmsg' },
  { name: 'CAP_SYS_PTRACE', bit: 19n, purpose: 'to find deleted files that other processes hold open' },
  { name: 'CAP_IPC_LOCK', bit: 14n, purpose: 'to lock its code in memory; LimitMEMLOCK=infinity does the same' },
] as const;

type Name = (typeof NEEDED)[number]['name'];

export function hasCapability(effective: bigint, name: Name): boolean {
  return NEEDED.some((capability) => capability.name === name && ((effective >> capability.bit) & 1n) === 1n);
}

export function checkCapabilities({ kind, pid, effective, uid, limits }: SubjectFacts): Check {
  if (isUnseen(effective)) return unseen(ID, 'capabilities of evictd', effective);
  const mayLock = !isUnseen(limits) && limits.lockedBytes === Infinity;
  const missing = NEEDED.filter(({ name }) => !hasCapability(effective, name) && !(name === 'CAP_IPC_LOCK' && mayLock));
  const details = { subject: kind, pid, uid: isUnseen(uid) ? null : uid, missing: missing.map(({ name }) => name) };
  const process = kind === 'running' ? `the running evictd (process ${String(pid)})` : 'this process';
  if (missing.length === 0) return ok(ID, `${process} has all capabilities that evictd uses`, details);
  const summary = `${process} lacks ${missing.map(({ name, purpose }) => `${name} (${purpose})`).join(', ')}`;
  const names = missing.map(({ name }) => name).join(' ');
  const fix =
    kind === 'running'
      ? `add ${names} to CapabilityBoundingSet of its unit`
      : uid === 0
        ? `grant root ${names}, which this environment removes (in a container: --cap-add)`
        : 'run evictd as root';
  return (missing.some(({ name }) => name === 'CAP_KILL') ? broken : degraded)(ID, summary, fix, details);
}

export const capabilitiesCheck = defineCheck(ID, ['subject'], ({ subject }) => checkCapabilities(subject));
