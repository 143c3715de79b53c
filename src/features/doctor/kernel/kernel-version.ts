import { broken, degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { KernelFacts, KernelFeature } from '../../../host/facts/kernel-facts.js';

const ID = 'kernel.version';

/** Sources: man 2 pidfd_open; Documentation/admin-guide/cgroup-v2.rst; man 2 process_mrelease. */
const FEATURES: Readonly<Record<KernelFeature, { readonly since: string; readonly without: string }>> = {
  pidfd: { since: '5.3', without: 'evictd cannot end processes safely' },
  'cgroup.kill': { since: '5.14', without: 'evictd ends a cgroup process by process' },
  process_mrelease: { since: '5.15', without: 'the memory of a victim is freed only when it is scheduled' },
};

/** Features are tested, not derived from the version: distributions backport them, sandboxes remove them. */
export function checkKernelVersion({ release, features }: KernelFacts): Check {
  const names = Object.keys(FEATURES) as KernelFeature[];
  const missing = names.filter((name) => features[name] === false);
  const details = { release, features };
  if (missing.length === 0) {
    const there = names.filter((name) => features[name]);
    return ok(ID, `Linux ${release}${there.length === 0 ? '' : `: ${there.join(', ')}`}`, details);
  }
  const lacking = missing.map((name) => `${name} (Linux ${FEATURES[name].since}): ${FEATURES[name].without}`).join('; ');
  const latest = FEATURES[missing.at(-1) ?? 'pidfd'].since;
  const fix = `boot Linux ${latest} or later; in a sandbox, allow ${missing.join(', ')} in its system call filter`;
  return (missing.includes('pidfd') ? broken : degraded)(ID, `Linux ${release} lacks ${lacking}`, fix, details);
}

export const kernelVersionCheck = defineCheck(ID, ['kernel'], ({ kernel }) => checkKernelVersion(kernel));
