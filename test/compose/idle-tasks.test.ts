import { expect, test } from 'vitest';
import { idleTasks } from '../../src/compose/idle-tasks.js';
import type { Effect } from '../../src/core/decide/effect.js';
import type { StepReport, Wake } from '../../src/monitor/ports/ports.js';

const report = (source: Wake['source'], effects: readonly Effect[] = []): StepReport =>
  ({ wake: { source, atNs: 0n }, effects }) as unknown as StepReport;
const acted: Effect = { kind: 'error', message: 'anything' };

test.each<[when: string, reports: readonly StepReport[], times: number]>([
  ['idle tasks run after a tick', [report('tick')], 1],
  ['idle tasks run after a step with effects', [report('sampler', [acted])], 1],
  ['idle tasks do not run after other steps, which can follow each other closely', [report('sampler'), report('look')], 0],
  ['idle tasks run once for two steps without a pause between them', [report('tick'), report('sampler', [acted])], 1],
])('%s', async (_when, reports, times) => {
  const called: string[] = [];
  const idle = idleTasks([() => called.push('task')]);
  for (const each of reports) idle.stepped(each);
  called.push('the step is over');
  await Promise.resolve();
  expect(called).toEqual(['the step is over', ...Array<string>(times).fill('task')]);
  idle.stepped(report('tick'));
  await Promise.resolve();
  expect(called).toHaveLength(times + 2);
});
