import { shutdownGracePeriods } from '../core/shutdown-config.js';
import type { Finding } from './finding.js';
import type { LintSubject } from './subject.js';

/** The keys of a shutdown are the kubelet's, and nothing acts on them here. */
export function lintShutdown({ shutdown }: LintSubject): Finding[] {
  if (shutdownGracePeriods(shutdown).length === 0) return [];
  const key = shutdown.shutdownGracePeriodByPodPriority.length > 0 ? 'shutdownGracePeriodByPodPriority' : 'shutdownGracePeriod';
  return [
    {
      level: 'warn',
      code: 'EVICTD_LINT_SHUTDOWN',
      message: `${key} is understood, and not acted on yet: at a shutdown evictd ends nobody, \`evictd shutdown --plan\` shows whom it would`,
      hint: 'systemd stops every unit within its TimeoutStopSec; remove the key, or leave it for what is to come',
      key,
    },
  ];
}
