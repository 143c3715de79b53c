import { expect, test } from 'vitest';
import type { StepInput } from '../../../src/core/decide/step-input.js';
import { candidates, Mi, observations, policy, SECOND, workload } from '../support.js';
import { Timeline } from '../timeline.js';
import { condition, KILL, NOTIFY, ofCgroup, reading, using } from './policies.js';

// A workload may end by itself between the reading of the condition and the choice of the victim.

const [first, second] = [workload('first', { path: '/a/first' }), workload('second', { path: '/a/second' })];
const found = candidates([first, 300n * Mi], [second, 200n * Mi]);
const ALL: ReturnType<StepInput['candidates']> = { ...found, veto: ({ id }) => (id === first.id ? { kind: 'removed' } : undefined) };

const look = (kibibytes: number | undefined): Pick<StepInput, 'policyRecheck'> => {
  const { policyReadings } = using(kibibytes);
  return policyReadings ? { policyRecheck: policyReadings } : {};
};

function said(after: Partial<StepInput>, overrides: Parameters<typeof ofCgroup>[1] = {}, departures = policy([]).departures) {
  const run = new Timeline(policy([], { policies: [ofCgroup([KILL], overrides)], departures }), ALL);
  const texts = run.effects(0, { 'memory.available': 500n * Mi }, {}, { ...using(101), ...after });
  return { texts, isDueSoon: (run.dueAtNs ?? 60n * SECOND) < SECOND / 10n };
}

const EVICTED = { texts: ['evict second grace 0'], isDueSoon: false };
const NOT_EVICTED = { texts: [], isDueSoon: true };

test.each<[what: string, after: Partial<StepInput>, expected: object]>([
  ['still holds', look(101), EVICTED],
  ['has ceased with the first workload', look(100), NOT_EVICTED],
  ['has ceased with the whole scope', look(undefined), NOT_EVICTED],
  ['cannot be read any more', { policyRecheck: () => undefined }, NOT_EVICTED],
  ['was not read again, as in a recording of an earlier version', {}, EVICTED],
])('the next best workload is evicted only if the condition still holds: the condition %s', (_what, after, expected) => {
  expect(said(after)).toEqual(expected);
});

test.each<[what: string, available: bigint, expected: object]>([
  ['the node is still short', 400n, EVICTED],
  ['the node is not short any more', 600n, NOT_EVICTED],
])('a condition of the node is judged by a fresh reading: %s', (_what, available, expected) => {
  // With a window, so that readings are remembered.
  const when = condition('memory.available < 500Mi | memory.available falling over 1m', 'node');
  const { scope: _, ...ofNode } = ofCgroup([KILL], { when });
  const run = new Timeline(policy([], { policies: [ofNode] }), ALL);
  const after = { policyRecheck: () => ({ scopes: new Map() }), recheck: () => observations(1n, { 'memory.available': available * Mi }) };
  const texts = run.effects(0, { 'memory.available': 400n * Mi }, {}, { policyReadings: () => ({ scopes: new Map() }), ...after });
  expect({ texts, isDueSoon: (run.dueAtNs ?? 60n * SECOND) < SECOND / 10n }).toEqual(expected);
});

test.each<[what: string, again: number | undefined, expected: object]>([
  ['the cgroup is still above its limit', 200, EVICTED],
  ['the cgroup is not above its limit any more', 100, NOT_EVICTED],
  ['gone', undefined, NOT_EVICTED],
])('a condition of a named cgroup is judged by a fresh reading: %s', (_what, again, expected) => {
  const when = condition('cgroup(/b).processes > 100', 'cgroup');
  const readings = (processes: number | undefined) => () => ({
    scopes: new Map([['p', [reading('/a', 0n, {})]]]),
    named: processes === undefined ? [] : [reading('/b', 0n, { processes })],
  });
  expect(said({ policyReadings: readings(200), policyRecheck: readings(again) }, { when })).toEqual(expected);
});

test('without the departure recheck the fresh reading does not count', () => {
  expect(said(look(100), {}, { ...policy([]).departures, recheck: false })).toEqual(EVICTED);
});

test('the condition is not read again where no workload is to be evicted', () => {
  const run = new Timeline(policy([], { policies: [ofCgroup([NOTIFY])] }), ALL);
  const refuse = (): never => {
    throw new Error('read again');
  };
  expect(run.effects(0, {}, {}, { ...using(101), policyRecheck: refuse, recheck: refuse })).toEqual(['notify', 'end p: exhausted']);
});
