import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { degraded, ok, type Check, type Detail } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { CgroupFacts } from '../../../host/facts/cgroup-facts.js';
import type { CgroupProtection, SubjectFacts } from '../../../host/facts/process-facts.js';

const ID = 'service.memory-min';

const INSTALL = 'evictd install makes a top-level evictd.slice and a service, both with MemoryMin';

/**
 * memory.min protects only as far as every ancestor has it (admin-guide/cgroup-v2.rst): a service in system.slice has
 * none.
 */
export function checkMemoryMin({ kind, cgroups }: SubjectFacts, { memory }: CgroupFacts): Check[] {
  if (memory === undefined) return [];
  if (memory.version === 1)
    return [
      degraded(ID, "cgroup v1 has no memory.min: the kernel may reclaim evictd's memory", 'boot with systemd.unified_cgroup_hierarchy=1'),
    ];
  if (kind === 'this process') return [ok(ID, `evictd does not run; ${INSTALL}`)];
  if (cgroups === undefined || cgroups.length === 0) {
    return [
      degraded(ID, 'the running evictd is in the root cgroup, or in one that is not visible here: its memory is not protected', INSTALL),
    ];
  }
  const details = { cgroups: cgroups.map(detailOf) };
  const bare = cgroups.filter(({ minBytes }) => minBytes === undefined || minBytes === 0n).map(({ path }) => path);
  const chain = cgroups.map(({ path, minBytes }) => `${path} ${minBytes === undefined ? '?' : amountOfBytes(minBytes)}`).join(', ');
  if (bare.length > 0)
    return [degraded(ID, `memory.min is not set in ${bare.join(', ')}: no memory is protected (${chain})`, INSTALL, details)];
  const least = cgroups.reduce((min, { minBytes = 0n }) => (minBytes < min ? minBytes : min), cgroups[0]?.minBytes ?? 0n);
  const usage = cgroups[0]?.usageBytes;
  if (usage !== undefined && usage > least) {
    return [
      degraded(
        ID,
        `memory.min protects ${amountOfBytes(least)} of ${amountOfBytes(usage)} (${chain})`,
        'raise MemoryMin of the slice and of the service',
        details,
      ),
    ];
  }
  return [ok(ID, `${chain}${usage === undefined ? '' : `; evictd uses ${amountOfBytes(usage)}`}`, details)];
}

function detailOf({ path, minBytes, usageBytes }: CgroupProtection): Detail {
  return {
    path,
    minBytes: minBytes === undefined ? null : jsonInteger(minBytes),
    usageBytes: usageBytes === undefined ? null : jsonInteger(usageBytes),
  };
}

export const memoryMinCheck = defineCheck(ID, ['subject', 'cgroup'], ({ subject, cgroup }) => checkMemoryMin(subject, cgroup));
