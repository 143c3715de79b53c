import { expect, test } from 'vitest';
import type { Observation } from '../../../src/core/signal/observation.js';
import { isPressure, WHOLE_SHARE, type Signal } from '../../../src/core/signal/signal.js';
import { initialState, type State } from '../../../src/core/decide/state.js';
import { step } from '../../../src/core/decide/step.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import { listed } from '../listed.js';
import { candidates, Gi, input, Mi, policy, SECOND, threshold, without, workload } from '../support.js';

/** Ends after this; each pass is a tenth of a second after the other, and each victim is gone at the next. */
const END_S = 30;
const STEP_NS = SECOND / 10n;

/** Seconds at which a workload is evicted while these values are read: amounts in MiB of 1 GiB, pressure in percent. */
function evictionsAt(
  thresholds: readonly Threshold[],
  reading: (seconds: number) => Partial<Record<Signal, number>>,
  departures = policy([]).departures,
): number[] {
  const all = candidates(
    ...Array.from({ length: 100 }, (_, index) => [workload(`w${String(index)}`), 300n * Mi] as [ReturnType<typeof workload>, bigint]),
  );
  const rules = policy(thresholds, { pressureWindowNs: 2n * SECOND, departures });
  let state: State = initialState;
  const at: number[] = [];
  for (let nowNs = 0n; nowNs <= BigInt(END_S) * SECOND; nowNs += STEP_NS) {
    const seconds = Number(nowNs / STEP_NS) / 10;
    const observed = Object.entries(reading(seconds)).map(([name, value]): [Signal, Observation] => {
      const signal = name as Signal;
      const [available, capacity] = isPressure(signal) ? [BigInt(Math.round(value * 1e7)), WHOLE_SHARE] : [BigInt(value) * Mi, Gi];
      return [signal, { available, capacity, timeNs: nowNs, source: 'test' }];
    });
    const gone = { processes: 0, usageBytes: 0n, removed: true, vanished: false, error: undefined, signalledAtNs: nowNs - STEP_NS };
    const victims = new Map(state.evictions.map(({ decision }) => [decision.serial, gone]));
    const made = step(rules, state, input(nowNs, { observed: new Map(observed), missing: new Map() }, { victims, candidates: () => all }));
    state = made.state;
    if (made.effects.some(({ kind }) => kind === 'evict')) at.push(seconds);
  }
  return at;
}

/** Tasks stand still until `endS`; the share of the last two seconds falls from there. */
const stallUntil = (endS: number) => (seconds: number) => ({
  'memory.pressure.full': Math.max(0, Math.min(100, ((endS + 2 - seconds) / 2) * 100)),
});

test('pressure that an eviction has ended causes no other eviction, though the averaging window still covers it', () => {
  expect(evictionsAt([listed('memory.pressure.full>40%', 'hard')], stallUntil(0.1))).toEqual([0]);
});

test('pressure that goes on causes another eviction each time a whole window has passed', () => {
  expect(evictionsAt([listed('memory.pressure.full>40%', 'hard')], stallUntil(5))).toEqual([0, 2.1, 4.2]);
});

test('an average counts again after the length of its window', () => {
  expect(evictionsAt([listed('memory.pressure.full.avg10>40%', 'hard')], () => ({ 'memory.pressure.full.avg10': 90 }))).toEqual([
    0, 10.1, 20.2,
  ]);
});

test('an average that is joined with bytes counts only after its window, too', () => {
  const both = (seconds: number) => ({ ...stallUntil(0.1)(seconds), 'memory.available': 50 });
  expect(evictionsAt([listed('memory.available<10% & memory.pressure.full>40%', 'hard')], both)).toEqual([0]);
});

test('bytes are not averaged, so a shortage of bytes evicts at once', () => {
  const bytes = (seconds: number) => ({ 'memory.available': seconds < 1 ? 50 : 500 });
  expect(evictionsAt([threshold('memory.available', '100Mi')], bytes, without('node-yield')).length).toBeGreaterThan(3);
});
