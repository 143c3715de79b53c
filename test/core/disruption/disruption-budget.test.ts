import { describe, expect, test } from 'vitest';
import {
  askedOnce,
  budgetStatus,
  violatedBudgets,
  type DisruptionLimit,
  type PolicyBudget,
} from '../../../src/core/disruption/disruption-budget.js';
import type { DisruptionReason } from '../../../src/core/disruption/disruption-cause.js';
import { decisionMessage } from '../../../src/core/message/message.js';
import type { Candidates, Protection, Workload } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

function limit(text: string): DisruptionLimit {
  const [of = '', amount = ''] = text.split(' ');
  return { of: of as DisruptionLimit['of'], value: parseInt(amount, 10), isPercentage: amount.endsWith('%') };
}

function budget(name: string, text: string, match = 'web-*', rest: Partial<PolicyBudget> = {}): PolicyBudget {
  return { name, match: { name: match }, limit: limit(text), unhealthyPolicy: 'IfHealthyBudget', os: 'linux', ...rest };
}

describe('what a budget permits, as the disruption controller counts', () => {
  test.each<[rule: string, limit: string, present: number, healthy: number, desired: number, allowed: number, expected?: number]>([
    ['one workload more than must be available', 'minAvailable 2', 3, 3, 2, 1],
    ['exactly what must be available', 'minAvailable 2', 3, 2, 2, 0],
    ['fewer than must be available', 'minAvailable 2', 3, 1, 2, 0],
    ['a percentage is rounded up', 'minAvailable 50%', 3, 3, 2, 1],
    ['one percent of one workload is one workload', 'minAvailable 1%', 1, 1, 1, 0],
    ['one workload may be unavailable', 'maxUnavailable 1', 3, 3, 2, 1],
    ['one workload is already unavailable', 'maxUnavailable 1', 3, 2, 2, 0],
    ['more workloads may be unavailable than there are', 'maxUnavailable 5', 3, 3, 0, 3],
    ['a percentage that may be unavailable is rounded up, too', 'maxUnavailable 30%', 3, 3, 2, 1],
    ['no workload may be unavailable', 'maxUnavailable 0', 3, 3, 3, 0],
    ['a configured number is the base of a percentage', 'minAvailable 50%', 2, 2, 2, 0, 4],
    ['a configured number is the base of maxUnavailable, too', 'maxUnavailable 1', 2, 2, 2, 0, 3],
  ])('%s', (_rule, text, present, healthy, desiredHealthy, disruptionsAllowed, expected) => {
    const made = budgetStatus({ limit: limit(text), ...(expected !== undefined && { expected }) }, present, healthy);
    expect(made).toEqual({ expected: expected ?? present, currentHealthy: healthy, desiredHealthy, disruptionsAllowed });
  });
});

describe('an eviction for node pressure', () => {
  const SHORT = { 'memory.available': 50n * Mi };
  const THREE = candidates([workload('web-1'), 300n * Mi], [workload('web-2'), 200n * Mi], [workload('db'), 10n * Mi]);

  function decided(budgets: readonly PolicyBudget[], all: Candidates = THREE) {
    const made = new Timeline(policy([threshold('memory.available', '100Mi')], { disruptionBudgets: budgets }), all);
    const [evict] = made.at(1, SHORT).filter(({ kind }) => kind === 'evict');
    return { made, decision: evict?.kind === 'evict' ? evict.decision : undefined };
  }

  const protectedOnes = candidates([workload('web-1'), 300n * Mi], [workload('db', { protection: { kind: 'critical' } }), 10n * Mi]);

  test.each<[rule: string, budgets: readonly PolicyBudget[], violates: readonly string[] | undefined, all?: Candidates]>([
    ['permitted', [budget('web', 'minAvailable 1')], undefined],
    ['the budget does not permit the eviction', [budget('web', 'minAvailable 2')], ['web']],
    ['a budget of other workloads', [budget('db', 'minAvailable 1', 'db')], undefined],
    [
      'every budget that does not permit it',
      [budget('a', 'minAvailable 2'), budget('b', 'maxUnavailable 1'), budget('c', 'maxUnavailable 0')],
      ['a', 'c'],
    ],
    ['a protected workload counts', [budget('web', 'minAvailable 1', '*')], undefined, protectedOnes],
  ])('%s', (_rule, budgets, violates, all) => {
    const { decision } = decided(budgets, all);
    expect(decision?.victim.workload.name).toBe('web-1');
    expect(decision?.violates).toEqual(violates);
  });

  test('is made against the budget, and says so', () => {
    const { decision } = decided([budget('web', 'minAvailable 2')]);
    expect(decision && decisionMessage(decision)).toMatch(/; violates the disruption budget web, which node pressure does not respect$/);
  });

  test('examines only the processes of its victim, because the signal comes first', () => {
    const examined: string[] = [];
    const veto = ({ name }: Workload): undefined => void examined.push(name);
    expect(decided([budget('web', 'minAvailable 2')], { ...THREE, veto }).decision?.violates).toEqual(['web']);
    expect(new Set(examined)).toEqual(new Set(['web-1']));
  });

  test('a workload that is being evicted is not healthy', () => {
    const budgets = [budget('web', 'minAvailable 1')];
    const violated = (...ending: string[]) => violatedBudgets(budgets, workload('web-2'), { ...askedOnce(THREE), ending: new Set(ending) });
    expect(violated()).toEqual([]);
    expect(violated('id-web-1')).toEqual(['web']);
    expect(violated('id-web-1', 'id-web-2')).toEqual([]); // it is being ended itself
  });
});

describe('evictions that an operator requests', () => {
  const TEN = [1, 2, 3].map((index) => [workload(`web-${String(index)}`), 10n * Mi] as [ReturnType<typeof workload>, bigint]);
  const evict = (...workloads: string[]) => ({
    request: { kind: 'evict', workloads, cause: { kind: 'disruption', reason: 'eviction', message: 'an operator asked for it' } } as const,
  });
  const made = (...budgets: PolicyBudget[]) => new Timeline(policy([], { disruptionBudgets: budgets }), candidates(...TEN));

  test('need the permission of the budget, which counts workloads that are being evicted', () => {
    const run = made(budget('web', 'minAvailable 2'));
    expect(run.effects(1, {}, {}, evict('id-web-1', 'id-web-2'))).toEqual(['evict web-1 grace 30']);
    expect(run.effects(2, {}, {}, evict('id-web-2'))).toEqual([]);
    expect(run.state.disruptions.size).toBe(0); // they are not done later
  });

  test('keep evicted workloads expected for an hour, so that several evictions cannot use up a budget unseen', () => {
    const run = made(budget('web', 'maxUnavailable 1'));
    expect(run.effects(1, {}, {}, evict('id-web-1'))).toEqual(['evict web-1 grace 30']);
    run.effects(2, {}, { 1: { processes: 0 } });
    run.candidates = candidates(...TEN.slice(1));
    expect(run.effects(3, {}, {}, evict('id-web-2'))).toEqual([]);
    expect(run.effects(3600, {}, {}, evict('id-web-2'))).toEqual([]);
    expect(run.effects(3601, {}, {}, evict('id-web-2'))).toEqual(['evict web-2 grace 30']);
  });

  test('do not count a workload without processes', () => {
    const run = made(budget('web', 'minAvailable 2'));
    run.candidates = { ...run.candidates, veto: ({ name }): Protection | undefined => (name === 'web-2' ? { kind: 'vacant' } : undefined) };
    expect(run.effects(1, {}, {}, evict('id-web-1'))).toEqual([]);
  });

  test.each<[rule: string, rest: Partial<PolicyBudget>, id: string, state: string, evicted: boolean]>([
    ['the unit does not count as healthy', {}, 'id-web-1', 'activating', false],
    ['the eviction of the unit itself needs no budget', {}, 'id-web-3', 'failed', true],
    [
      'the eviction of the unit is refused while too few units are healthy',
      { limit: limit('minAvailable 3') },
      'id-web-3',
      'deactivating',
      false,
    ],
    [
      'unless its budget always permits that',
      { limit: limit('minAvailable 3'), unhealthyPolicy: 'AlwaysAllow' },
      'id-web-3',
      'failed',
      true,
    ],
  ])('of a unit that is not up: %s', (_rule, rest, id, state, evicted) => {
    const run = made(budget('web', 'minAvailable 2', 'web-*', rest));
    run.candidates = candidates(...TEN.slice(0, 2), [workload('web-3', { unit: { name: 'web-3', manager: 'system', state } }), 1n]);
    expect(run.effects(1, {}, {}, evict(id))).toEqual(evicted ? [`evict ${id.slice(3)} grace 30`] : []);
  });

  test('count another workload that has replaced an evicted one', () => {
    const run = made(budget('web', 'maxUnavailable 1'));
    run.effects(1, {}, {}, evict('id-web-1'));
    run.effects(2, {}, { 1: { processes: 0 } });
    run.candidates = candidates(...TEN.slice(1), [workload('web-4'), 1n]);
    expect(run.effects(3, {}, {}, evict('id-web-2'))).toEqual(['evict web-2 grace 30']);
  });

  const disrupting = (reason: DisruptionReason, ...workloads: string[]) => {
    const { request } = evict(...workloads);
    return { request: { ...request, cause: { ...request.cause, reason } } };
  };

  test.each([
    ['taint', /; violates the disruption budget web, which a disruption by taint does not respect$/],
    ['preemption', /; violates the disruption budget web: what the budgets permit is not enough$/],
  ] as const)('report it if a %s violates the budget', (reason, says) => {
    const run = made(budget('web', 'minAvailable 3'));
    const [decided] = run.at(1, {}, {}, disrupting(reason, 'id-web-1'));
    expect(decided?.kind === 'evict' && decisionMessage(decided.decision)).toMatch(says);
  });

  test('the victim of a preemption is expected for an hour, too, and a later violation of the budget is reported', () => {
    const run = made(budget('web', 'maxUnavailable 1'));
    run.effects(1, {}, {}, disrupting('preemption', 'id-web-1'));
    run.effects(2, {}, { 1: { processes: 0 } });
    run.candidates = candidates(...TEN.slice(1));
    expect(run.effects(3, {}, {}, evict('id-web-2'))).toEqual([]);
    const [decided] = run.at(4, {}, {}, disrupting('taint', 'id-web-2'));
    expect(decided?.kind === 'evict' && decided.decision.violates).toEqual(['web']);
  });
});
