import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import type { Truth } from '../../../src/core/policy/condition.js';
import { evaluateCondition, measuredValues } from '../../../src/core/policy/evaluate-condition.js';
import { conditionOf } from '../condition/conditions.js';
import { historyOf, readingsFor, SECOND_NS, truthOf, type Series } from './scopes.js';

const MI = 2 ** 20;

describe('a level', () => {
  const rows: [text: string, cgroup: Series, node: Series, truth: Truth][] = [
    ['memory.current > 100Mi', { 0: { 'memory.current': 100 * MI } }, {}, false],
    ['memory.current > 100Mi', { 0: { 'memory.current': 100 * MI + 1 } }, {}, true],
    ['memory.current >= 100Mi', { 0: { 'memory.current': 100 * MI } }, {}, true],
    ['memory.current < 100Mi', { 0: { 'memory.current': 100 * MI } }, {}, false],
    ['memory.current <= 100Mi', { 0: { 'memory.current': 100 * MI } }, {}, true],
    ['memory.current <= 100Mi', { 0: { 'memory.current': 100 * MI + 1 } }, {}, false],
    ['memory.current > 100Mi', { 0: {} }, {}, 'unknown'],
    ['memory.current > 100Mi', {}, {}, 'unknown'],
    ['memory.current > 90% of limit', { 0: { 'memory.current': 91, 'memory.max': 100 } }, {}, true],
    ['memory.current > 90% of limit', { 0: { 'memory.current': 90, 'memory.max': 100 } }, {}, false],
    ['memory.current > 90% of limit', { 0: { 'memory.current': 91 } }, {}, 'unknown'],
    ['memory.current > 90% of memory.total', { 0: { 'memory.current': 91 } }, { 0: { 'memory.available.capacity': 100 } }, true],
    ['memory.available < 10%', { 0: {} }, { 0: { 'memory.available': 9, 'memory.available.capacity': 100 } }, true],
    ['memory.available < 10%', { 0: {} }, { 0: { 'memory.available': 10, 'memory.available.capacity': 100 } }, false],
    ['memory.available < 10%', { 0: {} }, { 0: { 'memory.available': 9 } }, 'unknown'],
    ['node.memory.current > 90% of memory.total', {}, { 0: { 'memory.available': 9, 'memory.available.capacity': 100 } }, true],
    ['node.memory.swap > 5k', {}, { 0: { 'swap.available': 4000, 'swap.available.capacity': 9000 } }, false],
    ['node.memory.swap > 5k', {}, { 0: { 'swap.available': 3999, 'swap.available.capacity': 9000 } }, true],
    ['memory.pressure.full.avg10 > 40%', { 0: { 'memory.pressure.full.avg10': 40 } }, {}, false],
    ['memory.pressure.full.avg10 > 40%', { 0: { 'memory.pressure.full.avg10': 40.01 } }, {}, true],
    ['age > 1m', { 0: { age: 61 } }, {}, true],
    ['age > 1m', { 0: { age: 61 }, 1: { age: 3 } }, {}, false],
    ['memory.max exists', { 0: { 'memory.max': 1 } }, {}, true],
    ['memory.max exists', { 0: {} }, {}, false],
    ['memory.max exists', {}, {}, 'unknown'],
    ['node.memory.swap exists', {}, { 0: { 'swap.available': 1 } }, false],
  ];
  test.each(rows)('%s: %j, %j: %s', (text, cgroup, node, truth) => {
    expect(truthOf(text, cgroup, node)).toBe(truth);
  });
});

describe('a change over a window', () => {
  const current = (...values: (number | undefined)[]): Series =>
    Object.fromEntries(values.map((value, second) => [second, value === undefined ? {} : { 'memory.current': value * MI }]));
  /** For 1 s of the last 2 s, and not at all in the 8 s before. */
  const stalledAfterRest = {
    0: { 'memory.pressure.full.total': 5 },
    9: { 'memory.pressure.full.total': 5 },
    10: { 'memory.pressure.full.total': 1_000_005 },
  };
  const rows: [text: string, cgroup: Series, truth: Truth][] = [
    ['memory.growth > 20Mi/s over 2s', current(100, 120, 140), false],
    ['memory.growth > 20Mi/s over 2s', current(100, 120, 141), true],
    ['memory.growth > 20Mi/s over 2s', current(100, 141), 'unknown'],
    ['memory.growth > 20Mi/s over 2s', current(0, 100, 120, 140), false],
    ['memory.growth > 40Mi over 2s', current(100, 120, 140), false],
    ['memory.growth > 39Mi over 2s', current(100, 120, 140), true],
    ['memory.growth > 40% over 2s', current(100, 120, 140), false],
    ['memory.growth > 39% over 2s', current(100, 120, 140), true],
    ['memory.growth > 39% over 2s', current(0, 120, 140), 'unknown'],
    ['memory.growth < 0 over 2s', current(140, 120, 100), true],
    ['memory.growth > 1Mi over 2s', current(undefined, 120, 140), 'unknown'],
    ['memory.growth > 1Mi over 2s', current(100, undefined, 140), true],
    ['pgscan > 100/s over 2s', { 0: { pgscan: 1000 }, 2: { pgscan: 1201 } }, true],
    ['pgscan > 100/s over 2s', { 0: { pgscan: 1000 }, 2: { pgscan: 1200 } }, false],
    ['memory.events.oom > 0 over 10s', { 0: { 'memory.events.oom': 3 }, 10: { 'memory.events.oom': 4 } }, true],
    ['memory.events.oom > 0 over 10s', { 0: { 'memory.events.oom': 3 }, 10: { 'memory.events.oom': 3 } }, false],
    ['memory.events.oom < 5 over 10s', { 0: { 'memory.events.oom': 3 }, 10: { 'memory.events.oom': 0 } }, 'unknown'],
    ['memory.pressure.full > 40%', { 0: { 'memory.pressure.full.total': 0 }, 2: { 'memory.pressure.full.total': 800_000 } }, false],
    ['memory.pressure.full > 40%', { 0: { 'memory.pressure.full.total': 0 }, 2: { 'memory.pressure.full.total': 800_001 } }, true],
    ['memory.pressure.full > 40%', { 0: { 'memory.pressure.full.total': 0 }, 4: { 'memory.pressure.full.total': 800_001 } }, false],
    // After a rest: interpolated at the start of the window.
    ['memory.pressure.full > 49%', stalledAfterRest, true],
    ['memory.pressure.full > 51%', stalledAfterRest, false],
    ['pgscan > 49/s over 2s', { 0: { pgscan: 0 }, 10: { pgscan: 0 }, 11: { pgscan: 100 } }, true],
    ['memory.growth > 49Mi over 2s', { 0: { 'memory.current': 0 }, 10: {}, 11: { 'memory.current': 275 * MI } }, true],
    ['memory.growth > 51Mi over 2s', { 0: { 'memory.current': 0 }, 10: {}, 11: { 'memory.current': 275 * MI } }, false],
    ['memory.growth > 24% over 2s', { 0: { 'memory.current': 100 }, 4: { 'memory.current': 150 } }, false],
    ['memory.growth > 19% over 2s', { 0: { 'memory.current': 100 }, 4: { 'memory.current': 150 } }, true],
  ];
  test.each(rows)('%s: %j: %s', (text, cgroup, truth) => {
    expect(truthOf(text, cgroup)).toBe(truth);
  });
});

describe('a trend', () => {
  const stalled = (...totals: number[]): Series =>
    Object.fromEntries(totals.map((total, index) => [index * 5, { 'memory.pressure.full.total': total }]));
  const averages = (...values: number[]): Series =>
    Object.fromEntries(values.map((value, second) => [second, { 'memory.pressure.full.avg10': value }]));
  const current = (...values: number[]): Series => Object.fromEntries(values.map((value, second) => [second, { 'memory.current': value }]));
  const rows: [text: string, cgroup: Series, truth: Truth][] = [
    ['memory.pressure.full falling', stalled(0, 1000, 1849), true],
    ['memory.pressure.full falling', stalled(0, 1000, 1850), false],
    ['memory.pressure.full rising', stalled(0, 1000, 1849), false],
    ['memory.pressure.full falling', stalled(0, 1000, 2000), false],
    ['memory.pressure.full rising', stalled(0, 1000, 2000), false],
    ['memory.pressure.full rising', stalled(0, 1000, 2150), false],
    ['memory.pressure.full rising', stalled(0, 1000, 2151), true],
    ['memory.pressure.full.avg10 falling over 2s', averages(0, 40, 34), false],
    ['memory.pressure.full.avg10 falling over 2s', averages(0, 40, 33), true],
    ['pgscan falling over 2s', { 0: { pgscan: 0 }, 1: { pgscan: 100 }, 2: { pgscan: 185 } }, false],
    ['pgscan falling over 2s', { 0: { pgscan: 0 }, 1: { pgscan: 100 }, 2: { pgscan: 184 } }, true],
    ['memory.pressure.full falling', stalled(0, 500), 'unknown'],
    ['memory.current rising over 4s', current(9, 5, 5, 5, 6), true],
    ['memory.current rising over 4s', current(9, 5, 5, 5, 5), false],
    ['memory.current falling over 4s', current(9, 6, 6, 5, 6), true],
    ['memory.current falling over 4s', { 0: { 'memory.current': 9 }, 4: { 'memory.current': 1 } }, 'unknown'],
    ['memory.current falling over 4s', { 0: { 'memory.current': 9 }, 2: {}, 4: { 'memory.current': 1 } }, 'unknown'],
    ['memory.growth rising over 4s', { 0: { 'memory.current': 0 }, 2: { 'memory.current': 10 }, 4: { 'memory.current': 22 } }, true],
    ['memory.growth falling over 4s', { 0: { 'memory.current': 30 }, 2: { 'memory.current': 20 }, 4: { 'memory.current': 8 } }, true],
    ['memory.growth rising over 4s', { 0: { 'memory.current': 0 }, 2: { 'memory.current': 10 }, 4: { 'memory.current': 20 } }, false],
  ];
  test.each(rows)('%s: %j: %s', (text, cgroup, truth) => {
    expect(truthOf(text, cgroup)).toBe(truth);
  });
});

describe('an unknown reading never makes a condition true', () => {
  const [yes, no, open] = ['age > 1m', 'age < 1m', 'memory.max > 1Mi'];
  test.each<[text: string, truth: Truth]>([
    [`!${open}`, 'unknown'],
    [`!${yes}`, false],
    [`!${no}`, true],
    [`${yes} & ${open}`, 'unknown'],
    [`${open} & ${no}`, false],
    [`${no} & ${open}`, false],
    [`${open} | ${yes}`, true],
    [`${no} | ${open}`, 'unknown'],
    [`${open} | ${no}`, 'unknown'],
    [`${yes} & ${yes}`, true],
    [`${no} | ${no}`, false],
    [`!(${open} & ${no})`, true],
  ])('%s: %s', (text, truth) => {
    expect(truthOf(text, { 0: { age: 100 } })).toBe(truth);
  });

  test("De Morgan's laws hold for the three truth values", () => {
    const one = fc.constantFrom(yes, no, open);
    fc.assert(
      fc.property(one, one, (a, b) => {
        expect(truthOf(`!(${a} & ${b})`, { 0: { age: 100 } })).toBe(truthOf(`!${a} | !${b}`, { 0: { age: 100 } }));
      }),
    );
  });
});

describe('a condition that names a cgroup', () => {
  const [there, gone] = ['cgroup(/there)', 'cgroup(/gone)'];
  test.each<[text: string, truth: Truth, unread: Truth]>([
    [`${there}.memory.current > 1Mi`, true, 'unknown'],
    [`${there}.memory.current < 1Mi`, false, 'unknown'],
    [`${there}.memory.growth > 1Mi/s over 3s`, true, 'unknown'],
    [`${there}.memory.current rising over 4s`, true, 'unknown'],
    [`memory.current < 50% of ${there}.memory.current`, true, 'unknown'],
    [`memory.current > 50% of ${there}.memory.current`, false, 'unknown'],
    [`${there} exists`, true, 'unknown'],
    [`${there}.memory.max exists`, false, 'unknown'],
    [`${gone}.memory.current > 1Mi`, 'unknown', 'unknown'],
    [`!(${gone}.memory.current > 1Mi)`, 'unknown', 'unknown'],
    ['cgroup(/new.slice) exists', true, 'unknown'],
    ['!cgroup(/new.slice) exists', false, 'unknown'],
    ['cgroup(/new.slice).memory.max exists', false, 'unknown'],
    [`${gone} exists`, false, 'unknown'],
    [`!${gone} exists`, true, 'unknown'],
    [`${gone}.memory.max exists`, false, 'unknown'],
  ])('%s: %s, and %s without readings', (text, truth, unread) => {
    const levels = [10, 10, 64, 64, 64].map((mi, index) => [index, { 'memory.current': mi * MI, age: index }]);
    const named = historyOf(Object.fromEntries(levels) as Series, 4n * SECOND_NS, 'cgroup');
    const own = historyOf({ 4: { 'memory.current': 5 * MI } }, 0n, 'cgroup');
    // systemd has not said yet when this one was started, so its age is missing.
    const ageless = historyOf({ 4: { 'memory.current': MI } }, 0n, 'cgroup');
    if (named === undefined || own === undefined || ageless === undefined) throw new Error('no history');
    const paths = new Map([
      ['/there', named],
      ['/new.slice', ageless],
    ]);
    const condition = conditionOf(text, 'cgroup');
    expect(evaluateCondition(condition, { cgroup: own, named: paths })).toBe(truth);
    expect(evaluateCondition(condition, { cgroup: own })).toBe(unread);
  });
});

test('the condition reports the values that it compared', () => {
  const condition = conditionOf('memory.growth > 20Mi/s over 2s & !(memory.available < 10%) & memory.max < 1Gi & age falling', 'cgroup');
  const readings = readingsFor(
    condition,
    { 0: { 'memory.current': 0 }, 2: { 'memory.current': 64 * MI } },
    { 0: { 'memory.available': 5 } },
  );
  expect(measuredValues(condition, readings).map(({ test: { metric }, value }) => [metric.name, value])).toEqual([
    ['memory.growth', 32 * MI],
    ['memory.available', 5],
    ['memory.max', undefined],
  ]);
  expect(evaluateCondition(condition, readings)).toBe('unknown');
});
