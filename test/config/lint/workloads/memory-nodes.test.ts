import { expect, test } from 'vitest';
import { lintMemoryNodes } from '../../../../src/config/lint/workloads/memory-nodes.js';
import type { PresentWorkload } from '../../../../src/config/lint/machine.js';
import type { ConfiguredPolicy } from '../../../../src/core/policy/configured-policy.js';
import { departuresOf, type Departures } from '../../../../src/core/decide/departures.js';
import type { Threshold } from '../../../../src/core/threshold/threshold.js';
import { threshold } from '../../../core/support.js';
import { conditionOf } from '../../../core/condition/conditions.js';
import { machine, present, subject } from '../support.js';

test.each<[rule: string, workloads: readonly PresentWorkload[] | undefined, messages: readonly RegExp[]]>([
  ['unknown workloads', undefined, []],
  ['no workload is bound to a memory node', [present('web')], []],
  ['the cpuset of one workload is unknown', [present('web'), present('db', { memoryNodes: 'unknown' })], [/ to db are not known: neither/]],
  [
    'the cpuset of several workloads is unknown, and one workload is bound',
    [...['a', 'b'].map((name) => present(name, { memoryNodes: 'unknown' })), present('c', { memoryNodes: [0] })],
    [/^c is bound/, / to a, and of 1 more workloads are not known/],
  ],
  [
    'the cpuset of a workload without processes is unknown',
    [present('db', { memoryNodes: 'unknown', unevictable: { kind: 'vacant', text: 'empty' } })],
    [],
  ],
  ['one', [present('web'), present('db', { memoryNodes: [1] })], [/^db is bound to memory node 1: if/]],
  [
    'several',
    [present('db', { memoryNodes: [0, 2] }), present('web', { memoryNodes: [1] })],
    [/^db is bound to memory node 0 and 2, and 1 more workloads are bound: if/],
  ],
])('workloads that a cpuset binds: %s', (_rule, workloads, messages) => {
  const found = lintMemoryNodes(subject([]), machine({ workloads: workloads && { present: workloads, sources: [] } }));
  expect(found.map(({ code }) => code)).toEqual(messages.map(() => 'EVICTD_LINT_MEMORY_NODES'));
  expect(found.map(({ message }) => message)).toEqual(messages.map((message) => expect.stringMatching(message) as string));
});

test.each<[rule: string, thresholds: readonly Threshold[], departures: Partial<Departures>, isWatched: boolean]>([
  ['a hard threshold', [threshold('memory.available', '100Mi')], {}, true],
  ['a soft threshold', [threshold('memory.available', '100Mi', { graceSeconds: 1 })], {}, false],
  ['the departure is off', [threshold('memory.available', '100Mi')], { 'memory-nodes': false }, false],
])('workloads that a cpuset binds are watched by default: %s', (_rule, thresholds, switched, isWatched) => {
  const bound = machine({ workloads: { present: [present('db', { memoryNodes: [1] })], sources: [] } });
  const found = lintMemoryNodes(subject(thresholds, { departures: departuresOf('evictd', switched) }), bound);
  expect(found.length === 0).toBe(isWatched);
});

test.each<[scope: string | undefined, isWatched: boolean]>([
  ['/db', true],
  ['/**', true],
  ['/web', false],
  ['/db/inner', false],
  ['/', false], // not bound itself: the metric has no value there
  [undefined, false],
])('a policy of %s watches the memory nodes of the bound workload /db/main: %s', (cgroup, isWatched) => {
  const policies: ConfiguredPolicy[] = [
    {
      name: 'bound',
      ...(cgroup !== undefined && { scope: { cgroup } }),
      when: conditionOf('memory.boundNodes.available < 5%', 'cgroup'),
      forNs: 0n,
      cooldownNs: 0n,
      then: [{ kind: 'notify' }],
    },
  ];
  const bound = { ...present('main', { memoryNodes: [1], boundAbove: ['/db'] }), path: '/db/main' };
  const found = lintMemoryNodes(subject([], { policies }), machine({ workloads: { present: [bound], sources: [] } }));
  expect(found.length === 0).toBe(isWatched);
});
