import { test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { NodeFacts } from '../../../../src/features/doctor/machine-facts.js';
import { nodeCheck } from '../../../../src/features/doctor/checks/node.js';
import { expectCheck, GIB, nodeFacts } from '../support.js';

test.each<[rule: string, facts: Partial<NodeFacts>, status: CheckStatus, summary: RegExp]>([
  ['the machine', {}, 'ok', /^machine, 8GiB$/],
  ['a cgroup', { name: '/a', isMachine: false, capacities: new Map([['memory.available', GIB]]) }, 'ok', /^\/a, 1GiB$/],
  ['MemAvailable is read', { estimated: true }, 'ok', /^machine, 8GiB$/],
  ['MemAvailable is missing', { estimated: 'missing' }, 'degraded', /^machine, 8GiB: \/proc\/meminfo has no MemAvailable, /],
  [
    'the node cgroup does not exist',
    { missing: { message: 'node cgroup /a does not exist', hint: 'make it' } },
    'broken',
    /does not exist/,
  ],
  ['the memory of the node cannot be read', { capacities: new Map() }, 'broken', /cannot read its memory/],
])('the check node.memory: %s', (_rule, facts, status, summary) => {
  expectCheck(nodeCheck.judge({ node: nodeFacts(facts) })[0], 'node.memory', status, summary);
});
