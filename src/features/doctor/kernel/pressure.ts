import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { PressureFacts } from '../../../host/facts/kernel-facts.js';

const ID = 'kernel.pressure';

export function checkPressure({ state, built, parameter }: PressureFacts): Check {
  const details = { state, built: built ?? null, parameter: parameter ?? null };
  if (state === 'on') return ok(ID, 'PSI is on', details);
  const why = whyOff({ built, parameter });
  const lost = 'pressure thresholds are never met, and memory stalls do not wake evictd';
  return degraded(ID, `PSI is off${why.text}: ${lost}`, why.fix, details);
}

/** RHEL's kernels are built with PSI off by default (CONFIG_PSI_DEFAULT_DISABLED), Debian's with PSI on. */
function whyOff({ built, parameter }: Pick<PressureFacts, 'built' | 'parameter'>): { readonly text: string; readonly fix: string } {
  const boot =
    'boot with psi=1: add it to GRUB_CMDLINE_LINUX and run update-grub (Debian), or grubby --update-kernel=ALL --args=psi=1 (RHEL)';
  if (built === 'without')
    return { text: ', the kernel was built without it', fix: 'boot a kernel with CONFIG_PSI=y (Linux 4.20 or later)' };
  if (parameter === '0') return { text: ', the kernel command line has psi=0', fix: boot.replace('add it to', 'instead of psi=0 in') };
  if (built === 'off by default') return { text: ', the kernel disables it by default', fix: boot };
  return { text: '', fix: `${boot}; it needs a kernel with CONFIG_PSI=y (Linux 4.20 or later)` };
}

export const pressureCheck = defineCheck(ID, ['pressure'], ({ pressure }) => checkPressure(pressure));
