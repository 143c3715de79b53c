import { expect, test } from 'vitest';
import { actionTrigger } from '../../../src/core/policy/action-trigger.js';

test.each<[metrics: readonly string[], reason: string]>([
  [['memory.available', 'memory.pressure.full'], 'memory-pressure'],
  [['node.memory.pressure.some.avg10'], 'memory-pressure'],
  [['memory.available', 'swap.available'], 'memory-used'], // as systemd-oomd: both
  [['memory.anon.growth'], 'memory-used'],
  [['allocatableMemory.available'], 'memory-used'],
  [['swap.available'], 'swap-used'],
  [['memory.swap.growth', 'processes'], 'swap-used'],
  [['node.memory.swap'], 'swap-used'],
  [['io.pressure.full.avg60'], 'io-pressure'],
  [['cpu.pressure.some'], 'cpu-pressure'],
  [['pgscan', 'age'], 'pgscan'],
  [['memory.events.high'], 'memory.events.high'],
  [[], 'policy'],
])('%s: %s', (metrics, reason) => {
  expect(actionTrigger({ values: Object.fromEntries(metrics.map((name) => [name, 1])) })).toBe(reason);
});
