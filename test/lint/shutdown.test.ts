import { expect, test } from 'vitest';
import { lintShutdown } from '../../src/lint/shutdown.js';
import { SECOND } from '../core/support.js';
import { NO_SHUTDOWN, subject } from './support.js';

test.each<[rule: string, shutdown: Partial<typeof NO_SHUTDOWN>, key: string | undefined]>([
  ['nothing is set', {}, undefined],
  ['two periods', { shutdownGracePeriodNs: 30n * SECOND, shutdownGracePeriodCriticalPodsNs: 10n * SECOND }, 'shutdownGracePeriod'],
  [
    'groups by priority',
    { shutdownGracePeriodByPodPriority: [{ priority: 0, gracePeriodNs: 10n * SECOND }] },
    'shutdownGracePeriodByPodPriority',
  ],
])('what is not acted on is said once: %s', (_rule, shutdown, key) => {
  const found = lintShutdown(subject([], { shutdown: { ...NO_SHUTDOWN, ...shutdown } }));
  expect(found.map((finding) => [finding.level, finding.code, finding.key])).toEqual(
    key === undefined ? [] : [['warn', 'EVICTD_LINT_SHUTDOWN', key]],
  );
});
