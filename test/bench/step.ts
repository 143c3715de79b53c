import { departuresOf } from '../../src/core/decide/departures.js';
import { rank } from '../../src/core/rank/rank.js';
import { initialState, type Policy, type State } from '../../src/core/decide/state.js';
import { step as coreStep } from '../../src/core/decide/step.js';
import type { Candidates } from '../../src/core/workload/workload.js';
import { candidates, input, Mi, observations, policy, requesting, SECOND, threshold, workload } from '../core/support.js';
import { atMost, type Benchmark, type Result } from './benchmark.js';
import { Distribution } from './distribution.js';

/** The pod limit of the kubelet, and far more. */
const FEW = 110;
const MANY = 10_000;

const thresholds = [threshold('memory.available', '100Mi'), threshold('nodefs.available', '10%'), threshold('nodefs.inodesFree', '5%')];

/** One step of the core with ranking, without reading and acting. */
export const step: Benchmark = {
  name: 'step',
  what: `one step, ${String(FEW)} and ${String(MANY)} workloads`,
  run: (): Result => {
    const hard = policy(thresholds);
    const kubelet = policy(thresholds, { departures: departuresOf('kubelet') });
    const few = measured(hard, workloads(FEW), 50n, 2_000);
    const thousand = measured(hard, workloads(1_000), 50n, 300);
    const many = measured(hard, workloads(MANY), 50n, 40);
    const growth = many.median / thousand.median / ((MANY * Math.log(MANY)) / (1_000 * Math.log(1_000)));
    return {
      figures: [
        { what: `step that evicts, ${String(FEW)} workloads`, unit: 'µs', measured: few, ...atMost(500) },
        { what: 'the same, compatibility kubelet', unit: 'µs', measured: measured(kubelet, workloads(FEW), 50n, 2_000), ...atMost(500) },
        { what: `step that evicts, ${String(MANY)} workloads`, unit: 'µs', measured: many, ...atMost(50_000) },
        { what: 'growth from 1,000 to 10,000 / n log n', unit: '×', measured: growth, ...atMost(1.5) },
        { what: 'ranking 1,000 workloads', unit: 'µs', measured: ranking(1_000), ...atMost(3_000) },
        {
          what: `step without pressure, ${String(FEW)} workloads`,
          unit: 'µs',
          measured: measured(hard, workloads(FEW), 500n, 5_000),
          ...atMost(20),
        },
        {
          what: `step without pressure, ${String(MANY)} workloads`,
          unit: 'µs',
          measured: measured(hard, workloads(MANY), 500n, 5_000),
          ...atMost(20),
        },
      ],
    };
  },
};

function workloads(count: number): Candidates {
  return candidates(
    ...Array.from({ length: count }, (_, index): [ReturnType<typeof workload>, bigint] => {
      const requests = requesting(BigInt(index % 3) * 300n * Mi);
      return [
        workload(`w${String(index)}`, { priority: index % 5, requests, startOrder: BigInt(index) }),
        BigInt((index * 7919) % 99_991) * 1024n,
      ];
    }),
  );
}

/** Microseconds of a step; checks its decision. */
function measured(decided: Policy, found: Candidates, availableMi: bigint, rounds: number): Distribution {
  const warmUp = Math.ceil(rounds / 10);
  const times: number[] = [];
  let state: State = initialState;
  for (let round = -warmUp; round < rounds; round += 1) {
    const nowNs = BigInt(round + warmUp + 1) * SECOND;
    const observed = observations(nowNs, {
      'memory.available': availableMi * Mi,
      'nodefs.available': 500n * Mi,
      'nodefs.inodesFree': 500n,
    });
    const given = input(nowNs, observed, { candidates: () => found });
    const from = process.hrtime.bigint();
    const made = coreStep(decided, state, given);
    if (round >= 0) times.push(Number(process.hrtime.bigint() - from) / 1e3);
    if (made.effects.some(({ kind }) => kind === 'evict') !== availableMi < 100n) throw new Error('decided otherwise than expected');
    if (availableMi >= 100n) state = made.state; // a step under pressure starts without evictions in progress
  }
  return new Distribution(times);
}

function ranking(count: number): Distribution {
  const { usages } = workloads(count);
  const departures = departuresOf('evictd');
  const times: number[] = [];
  for (let round = -30; round < 300; round += 1) {
    const from = process.hrtime.bigint();
    rank('memory.available', 'single', usages, departures);
    if (round >= 0) times.push(Number(process.hrtime.bigint() - from) / 1e3);
  }
  return new Distribution(times);
}
