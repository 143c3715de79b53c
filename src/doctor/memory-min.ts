import { amountOfBytes } from '../core/amount.js';
import { jsonInteger } from '../core/integer.js';
import { degraded, ok, type Check, type Detail } from './check.js';
import type { CgroupFacts } from './facts/cgroup.js';
import type { CgroupProtection, SubjectFacts } from './facts/process.js';

const ID = 'service.memory-min';

const INSTALL = 'evictd install: a top-level evictd.slice and a service, both with MemoryMin';

/**
 * Whether evictd's own memory stays when everything else is reclaimed. memory.min protects only as far as every ancestor has it (kernel,
 * admin-guide/cgroup-v2.rst, memory.min): a service in system.slice has none, whatever its own says.
 */
export function checkMemoryMin({ kind, cgroups }: SubjectFacts, { memory }: CgroupFacts): Check[] {
  if (memory === undefined) return [];
  if (memory.version === 1)
    return [
      degraded(ID, 'cgroup v1 has no memory.min: evictd is reclaimed like anybody else', 'boot with systemd.unified_cgroup_hierarchy=1'),
    ];
  if (kind === 'this process') return [ok(ID, `nobody to protect now; ${INSTALL}`)];
  if (cgroups === undefined || cgroups.length === 0) {
    return [
      degraded(
        ID,
        'the running evictd lives in the root cgroup, or in one that is not seen from here: nothing protects its memory',
        INSTALL,
      ),
    ];
  }
  const details = { cgroups: cgroups.map(detailOf) };
  const bare = cgroups.filter(({ minBytes }) => minBytes === undefined || minBytes === 0n).map(({ path }) => path);
  const chain = cgroups.map(({ path, minBytes }) => `${path} ${minBytes === undefined ? '?' : amountOfBytes(minBytes)}`).join(', ');
  if (bare.length > 0)
    return [degraded(ID, `memory.min is not set in ${bare.join(', ')}: nothing is protected (${chain})`, INSTALL, details)];
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
  return [ok(ID, `${chain}${usage === undefined ? '' : `; it uses ${amountOfBytes(usage)}`}`, details)];
}

function detailOf({ path, minBytes, usageBytes }: CgroupProtection): Detail {
  return {
    path,
    minBytes: minBytes === undefined ? null : jsonInteger(minBytes),
    usageBytes: usageBytes === undefined ? null : jsonInteger(usageBytes),
  };
}
