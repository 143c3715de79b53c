import { broken, degraded, ok, unseen, type Check } from './check.js';
import type { SubjectFacts } from './facts/process.js';
import { isUnseen } from './facts/unseen.js';

const ID = 'process.capabilities';

/** What each is for, most needed first. Bits: include/uapi/linux/capability.h. */
const NEEDED = [
  { name: 'CAP_KILL', bit: 5n, purpose: 'ending processes of other users' },
  { name: 'CAP_DAC_OVERRIDE', bit: 1n, purpose: 'cgroups and files of other users' },
  { name: 'CAP_SYS_RESOURCE', bit: 24n, purpose: 'pressure windows below 2 s, lowering oom_score_adj' },
  { name: 'CAP_SYSLOG', bit: 34n, purpose: "the kernel's log of OOM kills" },
  { name: 'CAP_SYS_PTRACE', bit: 19n, purpose: 'seeing which deleted files others hold open' },
  { name: 'CAP_IPC_LOCK', bit: 14n, purpose: 'keeping its machine code in memory; LimitMEMLOCK=infinity does the same' },
] as const;

type Name = (typeof NEEDED)[number]['name'];

/** Whether a process with these capabilities has one. */
export function hasCapability(effective: bigint, name: Name): boolean {
  return NEEDED.some((capability) => capability.name === name && ((effective >> capability.bit) & 1n) === 1n);
}

export function checkCapabilities({ kind, pid, effective, uid, limits }: SubjectFacts): Check {
  if (isUnseen(effective)) return unseen(ID, 'what evictd is allowed to do', effective);
  const mayLock = !isUnseen(limits) && limits.lockedBytes === Infinity;
  const missing = NEEDED.filter(({ name }) => !hasCapability(effective, name) && !(name === 'CAP_IPC_LOCK' && mayLock));
  const details = { subject: kind, pid, uid: isUnseen(uid) ? null : uid, missing: missing.map(({ name }) => name) };
  const who = kind === 'running' ? `the running evictd (process ${String(pid)})` : 'this process';
  if (missing.length === 0) return ok(ID, `${who} has all that evictd uses`, details);
  const said = `${who} has not ${missing.map(({ name, purpose }) => `${name} (${purpose})`).join(', ')}`;
  const names = missing.map(({ name }) => name).join(' ');
  const fix =
    kind === 'running'
      ? `add ${names} to CapabilityBoundingSet of its unit`
      : uid === 0
        ? `grant root ${names}: it was taken away here (in a container: --cap-add)`
        : 'run evictd as root';
  return (missing.some(({ name }) => name === 'CAP_KILL') ? broken : degraded)(ID, said, fix, details);
}
