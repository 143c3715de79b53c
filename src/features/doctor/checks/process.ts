import { broken, ok, degraded, unseen } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { hasSystemd, isUnseen } from '../../../host/facts.js';

/** package.json, engines. */
const OLDEST = [20, 19] as const;

export const nodeVersionCheck = defineCheck('process.node', ['runtime'], ({ runtime: { node, arch } }, id) => {
  const [major = 0, minor = 0] = node.replace(/^v/, '').split('.').map(Number);
  const isNew = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  const details = { node, arch };
  if (isNew) return ok(id, `Node ${node} on ${arch}`, details);
  return broken(id, `Node ${node} is older than ${OLDEST.join('.')}`, `install Node ${OLDEST.join('.')} or later`, details);
});

/** The addon: without it evictd can neither watch nor evict. */
export const addonCheck = defineCheck('process.addon', ['runtime'], ({ runtime: { addon, abi, napi } }, id) => {
  if ('file' in addon) return ok(id, `${addon.file} loads (Node-API ${napi}, ABI ${abi})`, { file: addon.file, abi, napi });
  return broken(id, addon.failure, addon.hint ?? 'reinstall evictd', { failure: addon.failure, abi, napi });
});

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

export const capabilitiesCheck = defineCheck(
  'process.capabilities',
  ['subject', 'service'],
  ({ subject: { kind, pid, effective, uid, limits }, service }, id) => {
    if (isUnseen(effective)) return unseen(id, 'capabilities of evictd', effective);
    const mayLock = !isUnseen(limits) && limits.lockedBytes === Infinity;
    const missing = NEEDED.filter(({ name }) => !hasCapability(effective, name) && !(name === 'CAP_IPC_LOCK' && mayLock));
    const details = { subject: kind, pid, uid: isUnseen(uid) ? null : uid, missing: missing.map(({ name }) => name) };
    const process = kind === 'running' ? `the running evictd (process ${String(pid)})` : 'this process';
    if (missing.length === 0) return ok(id, `${process} has all capabilities that evictd uses`, details);
    const summary = `${process} lacks ${missing.map(({ name, purpose }) => `${name} (${purpose})`).join(', ')}`;
    const names = missing.map(({ name }) => name).join(' ');
    const fix =
      kind === 'running'
        ? hasSystemd(service)
          ? `add ${names} to CapabilityBoundingSet of its unit`
          : `start it with ${names}`
        : uid === 0
          ? `grant root ${names}, which this environment removes (in a container: --cap-add)`
          : 'run evictd as root';
    return (missing.some(({ name }) => name === 'CAP_KILL') ? broken : degraded)(id, summary, fix, details);
  },
);

/**
 * The share of the limit for workloads (native/reading.d.ts, CgroupTable). Beyond it evictd opens the files for each
 * reading, which takes several times as long.
 */
const SHARE = 0.5;

export const descriptorsCheck = defineCheck(
  'process.descriptors',
  ['subject', 'workloads', 'service'],
  ({ subject: { limits }, workloads: { listed, filesEach }, service }, id) => {
    if (isUnseen(limits)) return unseen(id, 'limit of open files', limits);
    const needed = listed.length * filesEach;
    const { openFiles } = limits;
    const details = { limit: openFiles === Infinity ? null : openFiles, needed };
    const limit = openFiles === Infinity ? 'none' : String(openFiles);
    const summary = `limit of open files: ${limit}; ${String(listed.length)} workloads need ${String(needed)}`;
    if (needed <= openFiles * SHARE) return ok(id, summary, details);
    const enough = String(2 ** Math.ceil(Math.log2(4 * needed)));
    const fix = hasSystemd(service) ? `set LimitNOFILE=${enough} in its unit` : `start it with ulimit -n ${enough}`;
    return degraded(id, `${summary}, more than half: evictd opens the others for each reading`, fix, details);
  },
);

/** SeDebugPrivilege: without it evictd cannot end processes of other users. Usually an administrator has it. */
export const rightsCheck = defineCheck('process.rights', ['rights'], ({ rights: { isAdministrator, debugPrivilege } }, id) => {
  if (isUnseen(debugPrivilege)) return unseen(id, 'whether evictd can end processes of other users', debugPrivilege);
  const details = { canSignalOthers: debugPrivilege, isAdministrator };
  if (debugPrivilege) return ok(id, 'evictd can end processes of all users (SeDebugPrivilege is enabled)', details);
  const summary = 'evictd can end only processes of this user';
  return isAdministrator
    ? broken(
        id,
        `${summary}: this administrator does not have SeDebugPrivilege`,
        'run evictd as the service, which has it; or grant "Debug programs" (secpol.msc, User Rights Assignment)',
        details,
      )
    : broken(id, summary, 'run evictd as an administrator or as the service', details);
});
