import { expect, test } from 'vitest';
import { conditionText } from '../../../src/core/condition/condition-text.js';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { boundPolicies, type BoundWorkload } from '../../../src/core/oom/bound-policies.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import { threshold } from '../support.js';

const bound = (path: string, nodes: readonly number[], boundAt = path): BoundWorkload => ({ path, nodes, boundAt });
const HARD = threshold('memory.available', '100Mi');

const short = (path: string, amount: string): string => {
  const nodes = `cgroup(${path}).memory.boundNodes`;
  return `${nodes}.available < ${amount} & cgroup(${path}).memory.current >= 25% of ${nodes}.used`;
};

const made = (workloads: readonly BoundWorkload[], thresholds: readonly Threshold[] = [HARD]): object =>
  Object.fromEntries(
    boundPolicies(workloads, departuresOf('evictd'), thresholds).map(({ name, when, within }) => [
      name,
      [conditionText(when, 'node'), within],
    ]),
  );

test('one for each set of nodes, whose victims may use no others', () => {
  const read = (path: string): string => short(path, '100Mi');
  expect(made([bound('/db.slice/b', [1], '/db.slice'), bound('/db.slice/a', [1], '/db.slice'), bound('/web', [0, 1])])).toEqual({
    'memory-node-1': [read('/db.slice'), ['/db.slice']],
    'memory-node-0-1': [read('/web'), ['/db.slice', '/web']],
  });
  expect(made([bound('/b', [1]), bound('/a', [1])])).toEqual({ 'memory-node-1': [`${read('/a')} | ${read('/b')}`, ['/a', '/b']] });
  expect(made([])).toEqual({});
});

test.each<[rule: string, thresholds: readonly Threshold[], amount: string | undefined]>([
  ['a share of what the nodes have', [threshold('memory.available', '10%')], '10%'],
  ['no soft one', [threshold('memory.available', '100Mi', { graceSeconds: 1 })], undefined],
  ['no joined one', [{ ...HARD, also: [threshold('pid.available', '10')] }], undefined],
  ['none of another signal', [threshold('pid.available', '10')], undefined],
])('the hard threshold of memory.available: %s', (_rule, thresholds, amount) => {
  const condition = amount && [short('/a', amount), ['/a']];
  expect(made([bound('/a', [1])], thresholds)).toEqual(condition === undefined ? {} : { 'memory-node-1': condition });
});
