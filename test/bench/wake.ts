import { setTimeout as pause } from 'node:timers/promises';
import { native, type OnWake, type Watch } from '../../src/native/index.js';
import { memoryController, testCgroup, type TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { atMost, ms, type Bench, type Benchmark, type Result } from './benchmark.js';
import { Distribution } from './distribution.js';
import { Leaker } from './leak.js';
import { filesOfWorkload, usageOf } from './tree.js';

const ROUNDS = 200;
const MARGIN = 8 * 1024 * 1024;
const SAMPLER_MS = 5;

/** A process in a cgroup takes memory; how long after the touch that crosses the threshold is the waiter thread awake, and the callback called? */
export const wake: Benchmark = {
  name: 'wake',
  what: 'crossing of a memory threshold → JavaScript callback',
  run: async (bench: Bench): Promise<Result> => {
    const cgroup = testCgroup();
    bench.cleanup(() => cgroup.cleanup());
    const leaker = await Leaker.start(cgroup, `${cgroup.dir}/${filesOfWorkload().usage}`);
    const limit = (usageOf(cgroup) / 4096n) * 4096n + BigInt(MARGIN);
    let woken: { readonly seenNs: bigint; readonly calledNs: bigint } | undefined;
    let stands = memoryController()?.version !== 1; // a v1 threshold says when it does
    const watch = watchUsage(cgroup, limit, (_bits, seenNs) => {
      stands = true;
      woken ??= { seenNs, calledNs: process.hrtime.bigint() };
    });
    bench.cleanup(() => {
      watch.close();
    });

    await eventually('the registration', () => stands);

    const [toThread, toCallback, threadToCallback, bracket]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      await eventually('the memory to be given back', () => usageOf(cgroup) < limit);
      await pause(SAMPLER_MS * 2); // coming back crosses, too
      woken = undefined;
      const { fromNs, toNs } = await leaker.touch(limit, MARGIN / 4);
      const { seenNs, calledNs } = await eventually('the callback', () => woken);
      bracket.push(ms(fromNs, toNs));
      toThread.push(ms(fromNs, seenNs));
      toCallback.push(ms(fromNs, calledNs));
      threadToCallback.push(ms(seenNs, calledNs));
    }
    leaker.kill();
    const byKernel = memoryController()?.version === 1;
    return {
      figures: [
        { what: 'crossing → callback', unit: 'ms', measured: new Distribution(toCallback), ...(byKernel ? atMost(0.3) : {}) },
        { what: 'crossing → waiter thread', unit: 'ms', measured: new Distribution(toThread) },
        { what: 'waiter thread → callback', unit: 'ms', measured: new Distribution(threadToCallback) },
      ],
      notes: [
        byKernel ? 'an eventfd on memory.usage_in_bytes' : `no thresholds on cgroup v2: the native sampler, every ${String(SAMPLER_MS)} ms`,
        `the crossing is known to ${(new Distribution(bracket).median * 1e3).toFixed(0)} µs (median), its earlier end counts; the kernel compares once in 128 page charges`,
      ],
    };
  },
};

function watchUsage(cgroup: TestCgroup, limit: bigint, onWake: OnWake): Watch {
  if (memoryController()?.version === 1) return new native.MemcgThreshold(cgroup.dir, limit, onWake);
  const files = [{ path: `${cgroup.dir}/memory.current`, format: 'number' }] as const;
  return new native.Sampler({ files, weights: [1], maxRatePerSecond: 1, maxPeriodMs: SAMPLER_MS, limits: [Number(limit)] }, onWake);
}
