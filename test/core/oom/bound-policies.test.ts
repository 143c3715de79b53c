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

test('there is one policy for each set of nodes, with only victims that may use no other nodes', () => {
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
  ['a soft threshold is not used', [threshold('memory.available', '100Mi', { graceSeconds: 1 })], undefined],
  ['a joined threshold is not used', [{ ...HARD, also: [threshold('pid.available', '10')] }], undefined],
  ['a threshold of another signal is not used', [threshold('pid.available', '10')], undefined],
])('the policies use the hard threshold of memory.available: %s', (_rule, thresholds, amount) => {
  const condition = amount && [short('/a', amount), ['/a']];
  expect(made([bound('/a', [1])], thresholds)).toEqual(condition === undefined ? {} : { 'memory-node-1': condition });
});
