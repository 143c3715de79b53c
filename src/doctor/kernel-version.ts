import { broken, degraded, ok, type Check } from './check.js';
import type { KernelFacts, KernelFeature } from './facts/kernel.js';

const ID = 'kernel.version';

/** Since when the kernel has it (man 2 pidfd_open; Documentation/admin-guide/cgroup-v2.rst; man 2 process_mrelease), and what goes without it. */
const FEATURES: Readonly<Record<KernelFeature, { readonly since: string; readonly without: string }>> = {
  pidfd: { since: '5.3', without: 'no process can be ended safely' },
  'cgroup.kill': { since: '5.14', without: 'a cgroup is ended process by process' },
  process_mrelease: { since: '5.15', without: 'the memory of a victim comes back only when it is scheduled' },
};

/** What evictd needs of the kernel. Tried rather than concluded from the version: distributions add features to old versions, and sandboxes take them away. */
export function checkKernelVersion({ release, features }: KernelFacts): Check {
  const names = Object.keys(FEATURES) as KernelFeature[];
  const missing = names.filter((name) => features[name] === false);
  const details = { release, features };
  if (missing.length === 0) {
    const there = names.filter((name) => features[name]);
    return ok(ID, `Linux ${release}${there.length === 0 ? '' : `: ${there.join(', ')}`}`, details);
  }
  const said = missing.map((name) => `${name} (Linux ${FEATURES[name].since}): ${FEATURES[name].without}`).join('; ');
  const latest = FEATURES[missing.at(-1) ?? 'pidfd'].since;
  const fix = `boot Linux ${latest} or later; in a sandbox, let its system call filter pass ${missing.join(', ')}`;
  return (missing.includes('pidfd') ? broken : degraded)(ID, `Linux ${release} is without ${said}`, fix, details);
}
