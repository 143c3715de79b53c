import { describe, expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import type { Effect } from '../../../src/core/decide/effect.js';
import { alertMessage, decisionMessage, thresholdMessage } from '../../../src/core/message/message.js';
import type { Observation, Observations } from '../../../src/core/signal/observation.js';
import { KUBELET_SIGNALS, SIGNALS, WHOLE_SHARE, isPressure, type Signal } from '../../../src/core/signal/signal.js';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import { step } from '../../../src/core/decide/step.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import { allMet, byEvictionPriority, thresholdId } from '../../../src/core/threshold/threshold.js';
import { listed } from '../listed.js';
import { candidates, Gi, input, Mi, policy, SECOND, stats, threshold, workload } from '../support.js';

/** Amounts in MiB of 1 GiB; pressure in percent. undefined: not read. */
type Readings = Partial<Record<Signal, number>>;

function read(seconds: number, readings: Readings): Observations {
  const timeNs = BigInt(seconds) * SECOND;
  const observed = Object.entries(readings).map(([name, value]): [Signal, Observation] => {
    const signal = name as Signal;
    const [available, capacity] = isPressure(signal) ? [BigInt(Math.round(value * 1e7)), WHOLE_SHARE] : [BigInt(value) * Mi, Gi];
    return [signal, { available, capacity, timeNs, source: 'test' }];
  });
  return { observed: new Map(observed), missing: new Map() };
}

const THRASHING = 'memory.available<10% & memory.pressure.full>40%';

test.each<[rule: string, readings: Readings, met: boolean | undefined]>([
  ['both', { 'memory.available': 50, 'memory.pressure.full': 41 }, true],
  ['bytes are short, and no task stalls', { 'memory.available': 50, 'memory.pressure.full': 12 }, false],
  ['tasks wait, and enough bytes are available', { 'memory.available': 500, 'memory.pressure.full': 90 }, false],
  ['exactly the share is not above it', { 'memory.available': 50, 'memory.pressure.full': 40 }, false],
  ['a hundredth of a percent above', { 'memory.available': 50, 'memory.pressure.full': 40.01 }, true],
  ['one operand is not read, and the other is met', { 'memory.available': 50 }, undefined],
  ['one operand is not read, and the other is not met', { 'memory.available': 500 }, false],
  ['the operand of the short resource is not read, and the other is not met', { 'memory.pressure.full': 3 }, false],
  ['the operand of the short resource is not read, and the other is met', { 'memory.pressure.full': 80 }, undefined],
  ['no operand is read', {}, undefined],
])('a joined threshold is met only if all operands are: %s', (_rule, readings, met) => {
  expect(allMet(listed(THRASHING, 'hard'), read(0, readings), false)).toBe(met);
});

test('the kubelet’s signals keep their order, and the other signals come after them', () => {
  expect(SIGNALS.slice(0, KUBELET_SIGNALS.length)).toEqual(KUBELET_SIGNALS);
  expect(new Set(SIGNALS).size).toBe(SIGNALS.length);
  const own = [listed('memory.pressure.full>1%', 'hard'), listed('memory.kernelAvailable<1Gi', 'soft'), threshold('pid.available', '1')];
  expect(own.sort(byEvictionPriority).map(({ signal }) => signal)).toEqual([
    'pid.available',
    'memory.kernelAvailable',
    'memory.pressure.full',
  ]);
});

test('the ids of the kubelet’s thresholds stay the same, because recordings contain them', () => {
  expect(thresholdId(threshold('memory.available', '10%', { graceSeconds: 30, minReclaim: '1Mi' }))).toBe(
    'memory.available<10%/30000000000+1Mi',
  );
  expect(thresholdId(listed(THRASHING, 'soft', 10))).toBe('memory.available<10% & memory.pressure.full>40%/10000000000 soft');
});

/** A loop over readings; each call is one step. */
class Loop {
  state: State = initialState;
  dueAtNs: bigint | undefined;
  constructor(readonly policy: Policy) {}

  at(seconds: number, readings: Readings): readonly Effect[] {
    const all = candidates([workload('batch'), 300n * Mi], [workload('web'), 50n * Mi]);
    const made = step(this.policy, this.state, input(BigInt(seconds) * SECOND, read(seconds, readings), { candidates: () => all }));
    this.state = made.state;
    this.dueAtNs = made.dueAtNs;
    return made.effects;
  }

  effects(seconds: number, readings: Readings): string[] {
    const before = this.state.episodes;
    const effects = this.at(seconds, readings);
    const after = this.state.episodes;
    const met = [...after.keys()].filter((id) => !before.has(id)).map(() => 'met');
    const cleared = [...before.keys()].filter((id) => !after.has(id)).map(() => 'cleared');
    const others = effects.flatMap((effect) => {
      switch (effect.kind) {
        case 'evict':
          return [`evict ${effect.decision.victim.workload.name} grace ${String(effect.decision.graceNs / SECOND)}`];
        case 'condition':
          return [`${effect.type}=${String(effect.status)}`];
        case 'alert':
          return [`alert ${effect.alert}`];
        default:
          return [];
      }
    });
    return [...met, ...cleared, ...others];
  }
}

describe('a step with a joined threshold', () => {
  const BOTH = { 'memory.available': 50, 'memory.pressure.full': 60 } as const;

  test('waits until all operands have been met for the time', () => {
    const loop = new Loop(policy([listed(THRASHING, 'soft', 10)]));
    expect(loop.effects(0, { ...BOTH, 'memory.pressure.full': 1 })).toEqual([]);
    expect(loop.effects(1, BOTH)).toEqual(['met', 'MemoryPressure=true']);
    expect(loop.dueAtNs).toBe(11n * SECOND);
    expect(loop.effects(5, { ...BOTH, 'memory.pressure.full': 10 })).toEqual(['cleared']);
    expect(loop.effects(6, BOTH)).toEqual(['met']);
    expect(loop.effects(15, BOTH)).toEqual([]);
    expect(loop.effects(16, BOTH)).toEqual(['evict batch grace 10']);
  });

  test('a hard threshold with a time waits, too, and then gives no grace period', () => {
    const loop = new Loop(policy([listed('memory.pressure.full>40%', 'hard', 5)]));
    expect(loop.effects(0, BOTH)).toEqual(['met', 'MemoryPressure=true']);
    expect(loop.effects(4, BOTH)).toEqual([]);
    expect(loop.effects(5, BOTH)).toEqual(['evict batch grace 0']);
  });

  test('a hard threshold ends the grace of a soft eviction only when its own time is over', () => {
    const soft = threshold('memory.available', '500Mi', { graceSeconds: 1 });
    const loop = new Loop(policy([soft, listed('memory.pressure.full>40%', 'hard', 5)], { maxPodGracePeriodNs: 3600n * SECOND }));
    loop.at(0, { 'memory.available': 400, 'memory.pressure.full': 0 });
    const decided = loop.at(1, { 'memory.available': 400, 'memory.pressure.full': 90 }).filter(({ kind }) => kind === 'evict');
    expect(decided).toHaveLength(1);
    const reading = { processes: 1, usageBytes: 300n * Mi, removed: false, vanished: false, error: undefined, signalledAtNs: undefined };
    const escalated = (seconds: number): boolean => {
      const observed = read(seconds, { 'memory.available': 400, 'memory.pressure.full': 90 });
      const made = step(loop.policy, loop.state, input(BigInt(seconds) * SECOND, observed, { victims: new Map([[1, reading]]) }));
      loop.state = made.state;
      return made.effects.some(({ kind }) => kind === 'escalate');
    };
    expect([escalated(3), escalated(5), escalated(6)]).toEqual([false, false, true]);
  });

  test('a soft threshold without a time sends SIGTERM before SIGKILL', () => {
    expect(new Loop(policy([listed(THRASHING, 'soft')])).effects(0, BOTH)).toEqual(['met', 'MemoryPressure=true', 'evict batch grace 10']);
  });

  test.each<[when: string, readings: Readings]>([
    ['io.pressure.full>40%', { 'io.pressure.full': 90 }],
    ['cpu.pressure.some.avg10>40% & swap.available<10%', { 'cpu.pressure.some.avg10': 90, 'swap.available': 10 }],
    ['swap.available<10%', { 'swap.available': 10 }],
  ])('%s alerts once per episode, sets no condition, and evicts no workload', (when, readings) => {
    const loop = new Loop(policy([listed(when, 'hard', 2)]));
    const calm = Object.fromEntries(Object.keys(readings).map((signal) => [signal, isPressure(signal as Signal) ? 1 : 900]));
    expect(loop.effects(0, readings)).toEqual(['met']);
    expect(loop.effects(2, readings)).toEqual(['alert alert-only']);
    expect(loop.dueAtNs).toBeUndefined();
    expect(loop.effects(3, readings)).toEqual([]);
    expect(loop.effects(4, calm)).toEqual(['cleared']);
    loop.effects(14, calm);
    expect([loop.effects(15, readings), loop.effects(17, readings)]).toEqual([['met'], ['alert alert-only']]);
  });

  test.each<[rule: string, hasWorkloadSource: boolean, reads: number]>([
    ['the workloads are read once per episode, for the alert', true, 1],
    ['none are read without a source', false, 0],
  ])('swap.available alone: %s', (_rule, hasWorkloadSource, reads) => {
    const swap = { ...policy([listed('swap.available<10%', 'hard')]), hasWorkloadSource };
    let listings = 0;
    const found = (): Candidates => {
      listings += 1;
      return { usages: [{ workload: workload('web'), stats: stats({ swapBytes: 7n }) }], unreadable: [], timeNs: 0n };
    };
    const at = (seconds: number) => input(BigInt(seconds) * SECOND, read(seconds, { 'swap.available': 10 }), { candidates: found });
    const first = step(swap, initialState, at(1));
    const [made] = first.effects.flatMap((effect) => (effect.kind === 'alert' ? effect : []));
    const named = made?.swap?.workloads.map(({ name, swapBytes }) => [name, swapBytes]);
    expect(named).toEqual(hasWorkloadSource ? [['web', 7n]] : undefined);
    step(swap, first.state, at(2));
    expect(listings).toBe(reads);
  });

  test('an alert-only threshold beside an evicting one: both act', () => {
    const loop = new Loop(policy([listed('io.pressure.full>40%', 'hard'), listed(THRASHING, 'hard')]));
    expect(loop.effects(0, { ...BOTH, 'io.pressure.full': 90 })).toEqual([
      'met',
      'met',
      'MemoryPressure=true',
      'alert alert-only',
      'evict batch grace 0',
    ]);
  });

  test('an alert-only threshold and an evicting one both act, also where one thing is done at a time', () => {
    const loop = new Loop(
      policy([listed('io.pressure.full>40%', 'hard'), threshold('memory.available', '100Mi')], { departures: departuresOf('kubelet') }),
    );
    expect(loop.effects(0, { 'memory.available': 50, 'io.pressure.full': 90 })).toContain('alert alert-only');
  });

  test('an episode goes on while an operand cannot be read', () => {
    const loop = new Loop(policy([listed(THRASHING, 'soft', 30)]));
    loop.effects(0, BOTH);
    expect(loop.effects(1, { 'memory.available': 50 })).toEqual([]);
    expect(loop.effects(2, { 'memory.available': 500 })).toEqual(['cleared']);
  });

  test('an operand that cannot be read is not met, so no workload is evicted, however old the reading is', () => {
    const loop = new Loop(policy([listed(THRASHING, 'soft', 10)], { departures: departuresOf('evictd') }));
    loop.effects(0, BOTH);
    for (let second = 1; second <= 40; second += 1) expect(loop.effects(second, { 'memory.available': 50 })).toEqual([]);
    expect(loop.effects(41, BOTH)).toEqual([]); // time without a reading does not count as grace
    for (let second = 42; second <= 50; second += 1) expect(loop.effects(second, BOTH)).toEqual([]);
    expect(loop.effects(51, BOTH)).toEqual(['evict batch grace 10']);
  });

  test('an operand that cannot be read does not end the grace of a soft eviction', () => {
    const soft = threshold('memory.available', '500Mi', { graceSeconds: 1 });
    const loop = new Loop(policy([soft, listed(THRASHING, 'hard', 5)], { maxPodGracePeriodNs: 3600n * SECOND }));
    loop.at(0, BOTH);
    expect(loop.at(1, BOTH).some(({ kind }) => kind === 'evict')).toBe(true);
    const reading = { processes: 1, usageBytes: 300n * Mi, removed: false, vanished: false, error: undefined, signalledAtNs: undefined };
    const escalated = (seconds: number, readings: Readings): boolean => {
      const made = step(
        loop.policy,
        loop.state,
        input(BigInt(seconds) * SECOND, read(seconds, readings), { victims: new Map([[1, reading]]) }),
      );
      loop.state = made.state;
      return made.effects.some(({ kind }) => kind === 'escalate');
    };
    expect([escalated(6, { 'memory.available': 50 }), escalated(7, BOTH)]).toEqual([false, true]);
  });
});

describe('what messages of joined thresholds contain', () => {
  const BOTH = { 'memory.available': 50, 'memory.pressure.full': 45.25 } as const;

  test('a decision names all operands with their readings', () => {
    const effects = new Loop(policy([listed('memory.pressure.full>40% & memory.available<10%', 'hard')])).at(0, BOTH);
    const [decision] = effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []));
    expect(decision && decisionMessage(decision)).toMatch(
      /^evicting batch with SIGKILL: memory\.pressure\.full 45\.25% > 40% & memory\.available 50MiB < 10% = 102MiB \(hard\); batch uses 300MiB/,
    );
  });

  test('a joined threshold reports the begin and the end of its episode, and an alert', () => {
    const loop = new Loop(policy([listed('io.pressure.some>12.5%', 'soft', 10)]));
    const said = (seconds: number, share: number): string[] =>
      loop.at(seconds, { 'io.pressure.some': share }).flatMap((effect) => {
        if (effect.kind === 'threshold') return [thresholdMessage(effect)];
        return effect.kind === 'alert' ? [alertMessage(effect)] : [];
      });
    expect(said(0, 13)).toEqual(['io.pressure.some 13% > 12.5% (soft); alerting if it holds for 10s']);
    expect(said(10, 14.5)).toEqual([
      'io.pressure.some 14.5% > 12.5% (soft): nothing is evicted, because this signal does not identify the workload that causes the pressure',
    ]);
    expect(said(11, 0)).toEqual([]);
    expect(said(21, 0)).toEqual(['io.pressure.some>12.5% (soft) is over: io.pressure.some 0%']);
  });
});

test('a workload that is mostly swapped out is evicted for pressure, and not for memory alone', () => {
  const [resident, swapped] = [workload('resident'), workload('swapped')];
  const found = candidates([resident, 100n * Mi], [swapped, 20n * Mi]);
  const usages = found.usages.map((usage) =>
    usage.workload === swapped && usage.stats ? { ...usage, stats: { ...usage.stats, swapBytes: 500n * Mi } } : usage,
  );
  const victim = (limit: ReturnType<typeof listed>): string | undefined => {
    const readings = read(1, { 'memory.available': 50, 'memory.pressure.full': 41 });
    const made = step(policy([limit]), initialState, input(SECOND, readings, { candidates: () => ({ ...found, usages }) }));
    return made.effects.flatMap((effect) => (effect.kind === 'evict' ? effect.decision.victim.workload.name : []))[0];
  };
  expect([victim(listed(THRASHING, 'hard')), victim(threshold('memory.available', '10%'))]).toEqual(['swapped', 'resident']);
});
