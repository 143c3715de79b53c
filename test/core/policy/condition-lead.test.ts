import { expect, test } from 'vitest';
import { conditionLeadS } from '../../../src/core/policy/condition-lead.js';
import { evaluateCondition } from '../../../src/core/policy/evaluate-condition.js';
import { historyIn, NO_PASSES, rememberPass } from '../../../src/core/policy/scope-history.js';
import { fc } from '../../support/property.js';
import { conditionOf } from '../condition/conditions.js';
import { historyOf, passesOf, reading, type Series } from './scopes.js';

const GIB = 2 ** 30;
const RATE = 10 * GIB;
const node = reading(0, { 'memory.available': 30 * GIB, 'memory.available.capacity': 40 * GIB, 'io.pressure.some.avg10': 20 }, 'node');
const cgroups = [
  { 'memory.current': 1 * GIB, 'memory.max': 9 * GIB, 'memory.pressure.full.avg60': 0, processes: 3 },
  { 'memory.current': 4 * GIB, 'memory.max': 9 * GIB, 'memory.pressure.full.avg60': 10, 'memory.anon': GIB },
].map((values) => reading(0, values));

test.each<[condition: string, seconds: number]>([
  ['memory.available < 10Gi', 2],
  ['memory.available <= 25%', 2],
  ['memory.available < 31Gi', 0],
  ['memory.available > 20Gi', 0],
  ['memory.current > 24Gi', 2],
  ['memory.current > 3Gi', 0],
  ['memory.current < 1Gi', 0],
  ['memory.current > 90% of memory.max', 0], // a limit may be lowered at once
  ['memory.max > 90Gi', 0],
  ['memory.anon > 90Gi', 0], // not known of each
  ['processes > 1000', 0],
  ['memory.pressure.full.avg60 > 40%', 60 * Math.log(0.9 / 0.6) - 2],
  ['memory.pressure.full.avg60 > 11%', 0],
  ['memory.pressure.full.avg60 >= 100%', Infinity],
  ['node.io.pressure.some.avg10 > 60%', 10 * Math.log(2) - 2],
  ['memory.current > 24Gi & memory.available < 20Gi', 2],
  ['memory.current > 24Gi & processes > 5', 2],
  ['memory.current > 24Gi | memory.available < 20Gi', 1],
  ['memory.current > 24Gi | processes > 5', 0],
  ['!(memory.current > 24Gi)', 0],
  ['memory.growth > 1Gi over 10s', 0],
  ['cgroup(/x).memory.current > 90Gi', 0],
])('%s cannot become true for %d s', (condition, seconds) => {
  expect(conditionLeadS(conditionOf(condition, 'cgroup'), { node: { readings: [node] }, scope: cgroups, passes: [] }, RATE)).toBeCloseTo(
    seconds,
  );
});

const WATCHED = new Set(['memory.pressure.full']);
const stalled = (...seconds: readonly number[]): Series =>
  Object.fromEntries(
    seconds.map((of, index) => [index * 10, { 'memory.pressure.full.total': of * 1e6, 'memory.pressure.full.avg10': of }]),
  );

test.each<[rule: string, condition: string, node: Series, cgroup: Series, seconds: number]>([
  ['so long all tasks have to stall', 'memory.pressure.full > 40% over 10s', {}, stalled(0, 1), 3],
  ['since the start of the window, or before', 'memory.pressure.full > 40% over 4s', {}, stalled(0, 1, 2), 0.6],
  ['no cgroup knows its window yet', 'memory.pressure.full > 40% over 10s', {}, stalled(0), 0],
  ['a trigger of the node says nothing of a cgroup', 'memory.pressure.full > 40% over 10s', {}, stalled(0, 0), 4],
  ['a trigger wakes first', 'node.memory.pressure.full > 40% over 10s', stalled(0, 1.9), {}, Infinity],
  ['it may have fired', 'node.memory.pressure.full > 40% over 10s', stalled(0, 2), {}, 2],
  ['it is reached', 'node.memory.pressure.full > 40% over 10s', stalled(0, 5), {}, 0],
  ['no trigger', 'node.memory.pressure.some > 40% over 10s', stalled(0, 0), {}, 0],
  ['an average, too', 'node.memory.pressure.full.avg10 > 40%', stalled(0, 19), {}, Infinity],
  ['an average that it may have passed', 'node.memory.pressure.full.avg10 > 40%', stalled(0, 20), {}, 10 * Math.log(0.8 / 0.6) - 2],
  ['pressure that falls', 'node.memory.pressure.full < 40% over 10s', stalled(0, 0), {}, 0],
  ['its window does not count', 'memory.pressure.full > 40% over 10s & age > 1m', {}, stalled(0, 1), 3],
  ['the window of another test does', 'memory.pressure.full > 40% over 10s & memory.growth > 1Gi over 2s', {}, stalled(0, 1), 1],
])('pressure over a window: %s: %s', (_rule, text, ofNode, ofCgroup, seconds) => {
  const passes = passesOf({ '/a': ofCgroup, '/quiet': stalled(...Object.keys(ofCgroup).map(() => 0)) }, 10_000_000_000n);
  const scope = [...(passes.at(-1)?.readings.values() ?? [])];
  const readings = { node: historyOf(ofNode, 10_000_000_000n, 'node'), scope, passes };
  const lead = conditionLeadS(conditionOf(text, 'cgroup'), { ...readings, watchedPressure: WATCHED }, RATE);
  expect(lead).toBeCloseTo(seconds);
});

test('a cgroup without a reading may fill from 0, and a scope or node without any reading may meet the condition at once', () => {
  const condition = conditionOf('memory.current > 20Gi', 'cgroup');
  expect(conditionLeadS(condition, { node: undefined, scope: [], passes: [] }, RATE)).toBe(2);
  expect(conditionLeadS(condition, { node: undefined, scope: undefined, passes: [] }, RATE)).toBe(0);
  expect(conditionLeadS(conditionOf('memory.available < 1Gi', 'node'), { node: undefined, scope: undefined, passes: [] }, RATE)).toBe(0);
});

test('no possible rate of filling makes the condition true before the computed time', () => {
  const gibibytes = fc.integer({ min: 1, max: 40 });
  const percent = fc.integer({ min: 1, max: 99 });
  const one = fc.oneof(
    gibibytes.map((limit) => `memory.current > ${String(limit)}Gi`),
    gibibytes.map((limit) => `memory.available < ${String(limit)}Gi`),
    percent.map((limit) => `memory.available <= ${String(limit)}%`),
    percent.map((limit) => `memory.pressure.full.avg10 >= ${String(limit)}%`),
    percent.map((limit) => `node.io.pressure.some.avg60 > ${String(limit)}%`),
  );
  const any = fc.oneof(
    one,
    fc.tuple(one, fc.constantFrom('&', '|'), one).map((parts) => parts.join(' ')),
  );
  const values = fc.record({ used: gibibytes, stalled: percent });
  fc.assert(
    fc.property(
      any,
      values,
      fc.array(values, { maxLength: 3 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (text, ofNode, of, part) => {
        const condition = conditionOf(text, 'cgroup');
        const cgroup = (used: number, average: number) =>
          reading(0, { 'memory.current': used * GIB, 'memory.pressure.full.avg10': average });
        const machine = (used: number, average: number) =>
          reading(
            0,
            { 'memory.available': (40 - used) * GIB, 'memory.available.capacity': 40 * GIB, 'io.pressure.some.avg60': average },
            'node',
          );
        const scope = of.map(({ used, stalled }) => cgroup(used, stalled));
        const lead = conditionLeadS(condition, { node: { readings: [machine(ofNode.used, ofNode.stalled)] }, scope, passes: [] }, RATE);
        if (lead === 0) return;
        const seconds = part * Math.min(lead, 100);
        const filled = (used: number): number => used + 10 * seconds;
        // The kernel has not said yet what stalled in the last two seconds.
        const stalls = (average: number, over: number): number => 100 - (100 - average) * Math.exp(-(seconds + 2) / over);
        const later = [...of, { used: 0, stalled: 0 }].map(({ used, stalled }) => cgroup(filled(used), stalls(stalled, 10)));
        const node = { readings: [machine(filled(ofNode.used), stalls(ofNode.stalled, 60))] };
        for (const each of later) expect(evaluateCondition(condition, { cgroup: { readings: [each] }, node })).toBe(false);
      },
    ),
    { numRuns: 500 },
  );
});

test('until then no stall that is possible makes a window of pressure true', () => {
  const part = fc.double({ min: 0, max: 0.999, noNaN: true });
  const past = fc.array(fc.record({ seconds: fc.integer({ min: 1, max: 12 }), stalled: part }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(past, fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 20 }), part, (gaps, limit, window, until) => {
      const windowNs = BigInt(window) * 1_000_000_000n;
      let [atS, stalledS] = [0, 0];
      const at = () => reading(atS, { 'memory.pressure.full.total': stalledS * 1e6 });
      let [scope, passes] = [[at()], NO_PASSES];
      passes = rememberPass(passes, [scope], windowNs);
      for (const { seconds, stalled } of gaps) {
        [atS, stalledS] = [atS + seconds, stalledS + seconds * stalled];
        scope = [at()];
        passes = rememberPass(passes, [scope], windowNs);
      }
      const condition = conditionOf(`memory.pressure.full > ${String(limit)}% over ${String(window)}s`, 'cgroup');
      const lead = conditionLeadS(condition, { node: undefined, scope, passes }, RATE);
      if (lead === 0) return;
      [atS, stalledS] = [atS + lead * until, stalledS + lead * until];
      expect(evaluateCondition(condition, { cgroup: historyIn(passes, at()) })).not.toBe(true);
    }),
    { numRuns: 500 },
  );
});
