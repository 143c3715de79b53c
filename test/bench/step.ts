import { initialState } from '../../src/core/state.js';
import { step as coreStep } from '../../src/core/step.js';
import { candidates, Mi, observations, policy, SECOND, threshold, workload } from '../core/support.js';
import type { Benchmark, Result } from './benchmark.js';
import { Distribution } from './distribution.js';

const WORKLOADS = 110;
const ROUNDS = 2_000;
const WARM_UP = 200;

/** The decision itself: ranking included, reading and acting not. 110 is the kubelet's limit of pods on a node. */
export const step: Benchmark = {
  name: 'step',
  what: `one step under pressure, ${String(WORKLOADS)} workloads`,
  run: (): Result => {
    const hard = policy([
      threshold('memory.available', '100Mi'),
      threshold('nodefs.available', '10%'),
      threshold('nodefs.inodesFree', '5%'),
    ]);
    const found = candidates(
      ...Array.from({ length: WORKLOADS }, (_, index) => {
        const use = BigInt((index * 7919) % 997) * Mi;
        return [workload(`w${String(index)}`, { priority: index % 5, requests: { memory: BigInt(index % 3) * 300n * Mi } }), use] as const;
      }).map(([each, use]): [typeof each, bigint] => [each, use]),
    );
    const input = (nowNs: bigint, availableMi: bigint) => {
      const observed = observations(nowNs, {
        'memory.available': availableMi * Mi,
        'nodefs.available': 500n * Mi,
        'nodefs.inodesFree': 500n,
      });
      return { nowNs, observations: observed, victims: new Map(), candidates: () => found };
    };
    const measured = (availableMi: bigint): Distribution => {
      const times: number[] = [];
      for (let round = -WARM_UP; round < ROUNDS; round += 1) {
        const now = input(BigInt(round + WARM_UP + 1) * SECOND, availableMi);
        const from = process.hrtime.bigint();
        const { effects } = coreStep(hard, initialState, now);
        if (round >= 0) times.push(Number(process.hrtime.bigint() - from) / 1e3);
        if (effects.some(({ kind }) => kind === 'evict') !== availableMi < 100n) throw new Error('decided otherwise than expected');
      }
      return new Distribution(times);
    };
    return {
      figures: [
        { what: 'step that evicts', unit: 'µs', measured: measured(50n) },
        { what: 'step without pressure', unit: 'µs', measured: measured(500n) },
      ],
    };
  },
};
