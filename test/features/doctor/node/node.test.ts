import { describe, expect, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { NodeFacts, NotifierFacts } from '../../../../src/features/doctor/machine-facts.js';
import { nodeCheck, notifiersCheck } from '../../../../src/features/doctor/checks/node.js';
import { expectCheck, GIB, hard, nodeFacts } from '../support.js';

test.each<[rule: string, facts: Partial<NodeFacts>, status: CheckStatus, summary: RegExp]>([
  ['the machine', {}, 'ok', /^machine, 8GiB$/],
  ['a cgroup', { name: '/a', isMachine: false, capacities: new Map([['memory.available', GIB]]) }, 'ok', /^\/a, 1GiB$/],
  ['MemAvailable is read', { estimated: true }, 'ok', /^machine, 8GiB$/],
  ['MemAvailable is missing', { estimated: 'missing' }, 'degraded', /^machine, 8GiB: \/proc\/meminfo has no MemAvailable, /],
  ['it does not exist', { missing: { message: 'node cgroup /a does not exist', hint: 'make it' } }, 'broken', /does not exist/],
  ['its memory is not readable', { capacities: new Map() }, 'broken', /cannot read its memory/],
])('node.memory: %s', (_rule, facts, status, summary) => {
  expectCheck(nodeCheck.judge({ node: nodeFacts(facts) })[0], 'node.memory', status, summary);
});

describe('notifier.memory.available', () => {
  const notifier = (mechanism: string, facts: Partial<NotifierFacts> = {}): NotifierFacts => {
    return {
      mechanism,
      signal: 'memory.available',
      target: `T of ${mechanism}`,
      live: true,
      reason: undefined,
      hint: undefined,
      essential: false,
      ...facts,
    };
  };
  const refused = { live: false, reason: 'EROFS', hint: 'mount it writable' };

  test.each<[rule: string, notifiers: readonly NotifierFacts[], status: CheckStatus, summary: RegExp, fix: RegExp]>([
    [
      'two are live',
      [notifier('memcg_threshold', { essential: true }), notifier('sampler')],
      'ok',
      /<500Mi: memcg_threshold \(T of memcg_threshold\), sampler \(T of sampler\)$/,
      /^$/,
    ],
    [
      'one is refused, and another stands in',
      [notifier('memcg_threshold', refused), notifier('sampler')],
      'ok',
      /sampler \(T of sampler\); memcg_threshold cannot be armed: EROFS$/,
      /^$/,
    ],
    [
      'an essential one is refused',
      [notifier('sampler', { ...refused, essential: true }), notifier('psi_trigger')],
      'degraded',
      /psi_trigger.*; sampler cannot be armed: EROFS/,
      /^mount it writable$/,
    ],
    [
      'none is live',
      [notifier('sampler', { ...refused, essential: true, hint: undefined })],
      'degraded',
      /only polled every 10 s: sampler cannot be armed: EROFS/,
      /monitoringInterval/,
    ],
    ['there is none', [], 'degraded', /only polled every 10 s: no notifier exists/, /monitoringInterval/],
  ])('%s', (_rule, notifiers, status, summary, fix) => {
    const [check] = notifiersCheck.judge({ node: nodeFacts({ notifiers }) });
    expectCheck(check, 'notifier.memory.available', status, summary);
    expect(check?.fix ?? '').toMatch(fix);
  });
});

test('a check for each signal with a threshold; a signal that does not exist is ok', () => {
  const thresholds = hard('memory.available<500Mi,swap.available<10%');
  const checks = notifiersCheck.judge({
    node: nodeFacts({ thresholds, notifiers: [], absent: new Map([['swap.available', 'this machine has no swap']]) }),
  });
  expect(checks.map(({ id, status }) => [id, status])).toEqual([
    ['notifier.memory.available', 'degraded'],
    ['notifier.swap.available', 'ok'],
  ]);
  expect(notifiersCheck.judge({ node: nodeFacts({ notifiers: undefined }) })).toEqual([]);
});
