import { expect, test } from 'vitest';
import { lintMemoryNodes } from '../../../../src/config/lint/workloads/memory-nodes.js';
import type { PresentWorkload } from '../../../../src/config/lint/machine.js';
import type { ConfiguredPolicy } from '../../../../src/core/policy/configured-policy.js';
import { conditionOf } from '../../../core/condition/conditions.js';
import { machine, present, subject } from '../support.js';

test.each<[rule: string, workloads: readonly PresentWorkload[] | undefined, messages: readonly RegExp[]]>([
  ['unknown workloads', undefined, []],
  ['none is bound', [present('web')], []],
  ['one', [present('web'), present('db', { memoryNodes: [1] })], [/^db is bound to memory node 1: when/]],
  [
    'several',
    [present('db', { memoryNodes: [0, 2] }), present('web', { memoryNodes: [1] })],
    [/^db is bound to memory node 0 and 2, and 1 more workloads are bound: when/],
  ],
])('workloads that a cpuset binds: %s', (_rule, workloads, messages) => {
  const found = lintMemoryNodes(subject([]), machine({ workloads: workloads && { present: workloads, sources: [] } }));
  expect(found.map(({ code }) => code)).toEqual(messages.map(() => 'EVICTD_LINT_MEMORY_NODES'));
  expect(found.map(({ message }) => message)).toEqual(messages.map((message) => expect.stringMatching(message) as string));
});

test('workloads that a cpuset binds: a policy watches their nodes', () => {
  const policies: ConfiguredPolicy[] = [
    {
      name: 'bound',
      scope: { cgroup: '/db' },
      when: conditionOf('memory.boundNodes.available < 5%', 'cgroup'),
      forNs: 0n,
      cooldownNs: 0n,
      then: [{ kind: 'notify' }],
    },
  ];
  expect(
    lintMemoryNodes(subject([], { policies }), machine({ workloads: { present: [present('db', { memoryNodes: [1] })], sources: [] } })),
  ).toEqual([]);
});
