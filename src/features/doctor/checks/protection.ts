import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { degraded, ok, type Detail, command, fixText } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { unifiedFix } from './cgroup.js';
import { type CgroupProtection, hasSystemd, isUnseen } from '../../../host/facts.js';

const INSTALL = `${command('evictd install')} makes a top-level evictd.slice and a service, both with MemoryMin`;
const BY_HAND = 'set memory.min of its cgroup and of all above';

/**
 * memory.min protects only as far as every ancestor has it (admin-guide/cgroup-v2.rst): a service in system.slice has
 * none.
 */
export const memoryMinCheck = defineCheck(
  'service.memory-min',
  ['subject', 'cgroup', 'service'],
  ({ subject: { kind, cgroups }, cgroup: { memory }, service }, id) => {
    if (memory === undefined) return [];
    const fix = hasSystemd(service) ? INSTALL : BY_HAND;
    if (memory.version === 1)
      return [degraded(id, "cgroup v1 has no memory.min: the kernel may reclaim evictd's memory", unifiedFix(service))];
    if (kind === 'this process') return [ok(id, `evictd does not run; ${fixText(fix)}`)];
    if (cgroups === undefined || cgroups.length === 0) {
      return [
        degraded(id, 'the running evictd is in the root cgroup, or in one that is not visible here: its memory is not protected', fix),
      ];
    }
    const details = { cgroups: cgroups.map(detailOf) };
    const bare = cgroups.filter(({ minBytes }) => minBytes === undefined || minBytes === 0n).map(({ path }) => path);
    const chain = cgroups.map(({ path, minBytes }) => `${path} ${minBytes === undefined ? '?' : amountOfBytes(minBytes)}`).join(', ');
    if (bare.length > 0)
      return [degraded(id, `memory.min is not set in ${bare.join(', ')}: no memory is protected (${chain})`, fix, details)];
    const least = cgroups.reduce((min, { minBytes = 0n }) => (minBytes < min ? minBytes : min), cgroups[0]?.minBytes ?? 0n);
    const usage = cgroups[0]?.usageBytes;
    if (usage !== undefined && usage > least) {
      return [
        degraded(
          id,
          `memory.min protects ${amountOfBytes(least)} of ${amountOfBytes(usage)} (${chain})`,
          hasSystemd(service) ? 'raise MemoryMin of the slice and of the service' : BY_HAND,
          details,
        ),
      ];
    }
    return [ok(id, `${chain}${usage === undefined ? '' : `; evictd uses ${amountOfBytes(usage)}`}`, details)];
  },
);

function detailOf({ path, minBytes, usageBytes }: CgroupProtection): Detail {
  return {
    path,
    minBytes: minBytes === undefined ? null : jsonInteger(minBytes),
    usageBytes: usageBytes === undefined ? null : jsonInteger(usageBytes),
  };
}

/** The kernel subtracts 90 % of all memory from the score, so almost every other process comes first. */
const SAFE = -900;

/** oom_score_adj of the running evictd: that of this process means nothing. */
export const oomScoreAdjCheck = defineCheck(
  'service.oom-score-adj',
  ['subject', 'service'],
  ({ subject: { kind, pid, oomScoreAdj }, service }, id) => {
    if (kind === 'this process' || isUnseen(oomScoreAdj)) return [];
    const details = { oomScoreAdj };
    if (oomScoreAdj <= SAFE) return [ok(id, `oom_score_adj is ${String(oomScoreAdj)}`, details)];
    const summary = `oom_score_adj is ${String(oomScoreAdj)}: the kernel's OOM killer may kill evictd`;
    const fix = hasSystemd(service)
      ? 'set OOMScoreAdjust=-999 in its unit, as evictd install does'
      : command(`echo -999 >/proc/${String(pid)}/oom_score_adj`);
    return [degraded(id, summary, fix, details)];
  },
);
