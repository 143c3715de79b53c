import { expect, test } from 'vitest';
import { SECOND } from '../../core/support.js';
import { errorOf, issuesOf, load } from '../scratch.js';

const KUBELET = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

test('there is no shutdown grace period by default', () => {
  expect(load({ 'config.yaml': '' }).config.shutdown).toEqual({
    shutdownGracePeriodNs: 0n,
    shutdownGracePeriodCriticalPodsNs: 0n,
    shutdownGracePeriodByPodPriority: [],
  });
});

test.each(['', KUBELET])('both kinds of configuration take the keys (%j)', (head) => {
  const plain = `${head}shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s\n`;
  const loaded = load({ 'config.yaml': plain });
  expect(loaded.config.shutdown).toMatchObject({
    shutdownGracePeriodNs: 30n * SECOND,
    shutdownGracePeriodCriticalPodsNs: 10n * SECOND,
  });
  expect(loaded.notices).toEqual([]);
  const byPriority = `${head}shutdownGracePeriodByPodPriority:\n- {priority: 1000, shutdownGracePeriodSeconds: 120}\n- {shutdownGracePeriodSeconds: 60}\n- {priority: -5}\n`;
  expect(load({ 'config.yaml': byPriority }).config.shutdown.shutdownGracePeriodByPodPriority).toEqual([
    { priority: 1000, gracePeriodNs: 120n * SECOND },
    { priority: 0, gracePeriodNs: 60n * SECOND },
    { priority: -5, gracePeriodNs: 0n },
  ]);
});

test('a later file replaces the groups', () => {
  const group = (priority: number) =>
    `shutdownGracePeriodByPodPriority: [{priority: ${String(priority)}, shutdownGracePeriodSeconds: 5}]\n`;
  const { config, origins } = load({ 'config.yaml': group(1), 'config.d/1.yaml': group(2) });
  expect(config.shutdown.shutdownGracePeriodByPodPriority.map(({ priority }) => priority)).toEqual([2]);
  expect(origins.get('shutdownGracePeriodByPodPriority')).toMatchObject({
    value: [{ priority: 2, shutdownGracePeriodSeconds: 5 }],
    origin: { kind: 'set', position: { line: 1, column: 35 } },
  });
});

test.each<[rule: string, yaml: string, issues: readonly string[]]>([
  ['longer than the whole', 'shutdownGracePeriod: 10s\nshutdownGracePeriodCriticalPods: 30s', ['config.yaml:2:34']],
  ['a part of a period that is not set', 'shutdownGracePeriodCriticalPods: 30s', ['config.yaml:1:34']],
  ['below a second', 'shutdownGracePeriod: 10s\nshutdownGracePeriodCriticalPods: 500ms', ['config.yaml:2:34']],
  ['negative', 'shutdownGracePeriod: -1s\nshutdownGracePeriodCriticalPods: -2s', ['config.yaml:1:22', 'config.yaml:2:34']],
  ['the whole is negative, and the part is not set', 'shutdownGracePeriod: -1s', ['config.yaml:1:22', 'config.yaml:1:22']],
  ['both forms are set', 'shutdownGracePeriod: 10s\nshutdownGracePeriodByPodPriority: [{priority: 0}]', ['config.yaml:2:35']],
])('a shutdown grace period is refused: %s', (_rule, yaml, issues) => {
  expect(issuesOf(() => load({ 'config.yaml': `${yaml}\n` }))).toEqual(issues.map((at) => `${at} EVICTD_CONFIG_SHUTDOWN`));
});

test('the message is that of the kubelet, and the hint says how to mend it', () => {
  const yaml = 'shutdownGracePeriod: 10s\nshutdownGracePeriodCriticalPods: 30s\n';
  expect(errorOf(() => load({ 'config.yaml': yaml })).issues).toMatchObject([
    {
      message: 'shutdownGracePeriodCriticalPods {30s} must be <= shutdownGracePeriod {10s}',
      hint: 'lower it, or raise shutdownGracePeriod, which includes it',
    },
  ]);
});

test.each<[rule: string, yaml: string, issue: string]>([
  [
    'text that is not a duration',
    'shutdownGracePeriod: 30\nshutdownGracePeriodCriticalPods: 10s',
    'config.yaml:1:22 EVICTD_CONFIG_DURATION',
  ],
  ['a value that is not a list', 'shutdownGracePeriodByPodPriority: {priority: 0}', 'config.yaml:1:35 EVICTD_CONFIG_TYPE'],
  [
    'a number that is not whole seconds',
    'shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10s}]',
    'config.yaml:1:78 EVICTD_CONFIG_TYPE',
  ],
  ['an unknown key', 'shutdownGracePeriodByPodPriority: [{prio: 0}]', 'config.yaml:1:37 EVICTD_CONFIG_UNKNOWN_KEY'],
])('a wrong value is reported once: %s', (_rule, yaml, issue) => {
  expect(issuesOf(() => load({ 'config.yaml': `${yaml}\n` }))).toEqual([issue]);
});
