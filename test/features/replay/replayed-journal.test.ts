import { expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import { ReplayedRecords } from '../../../src/features/replay/replayed-journal.js';
import type { RecordedStep } from '../../../src/recording/recording-format.js';
import { Mi, policy, SECOND, threshold, workload } from '../../core/support.js';
import { recorder, SimulatedRun, type Usages } from '../../recording/recorded-run.js';

test('the spans of a standing order begin at its own crossing, not at the wake of the main thread', async () => {
  const batch = workload('batch');
  const usages: Usages = (second) => [[batch, BigInt(second) * 10n * Mi]];
  const { reports } = await new SimulatedRun(recorder(), policy([threshold('memory.available', '256Mi')]), usages).until(200);
  const decided = reports.find(({ effects }) => effects.some(({ kind }) => kind === 'evict'))?.input.nowNs ?? 0n;
  // A second later a reading has its signal.
  const signalledAtNs = decided + SECOND;
  const standingOrder = { preparedAtNs: decided, crossedAtNs: signalledAtNs - SECOND / 4n, signalledAtNs };
  const ordered = (effect: Effect): Effect =>
    effect.kind === 'evict' ? { ...effect, decision: { ...effect.decision, standingOrder } } : effect;

  const replayed = new ReplayedRecords();
  for (const { wake, input, effects } of reports) replayed.add({ wake, input } as RecordedStep, effects.map(ordered), '');
  const [outcome] = replayed.records.filter(({ record }) => record.type === 'outcome');
  expect(outcome?.record.spansMs).toMatchObject({ crossingToSignal: 250, decisionToSignal: 0 });
});
