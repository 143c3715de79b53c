import { setTimeout as pause } from 'node:timers/promises';
import { departuresOf } from '../../src/core/decide/departures.js';
import { machineMemory, readMemoryFiles } from '../../src/host/linux/memory/machine-memory.js';
import { fillRates } from '../../src/host/linux/sampling/fill-rates.js';
import { native, type SamplerWatch } from '../../src/native/index.js';
import { testCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { atMost, ms, type Bench, type Benchmark, type Result } from './benchmark.js';
import { Distribution } from './distribution.js';
import { Leaker } from './leak.js';
import { threadsPercent } from './threads.js';
import { filesOfWorkload, usageOf } from './tree.js';

const COST_MS = 5_000;
const ROUNDS = 50;
const MiB = 1024 * 1024;
const THRESHOLD = 100 * MiB;
/** Usage before a round, at which a sampler is idle: it has to find the crossing by itself. */
const MARGIN = 64 * MiB;

/** Cost and delay of watching without kernel thresholds. */
export const sampler: Benchmark = {
  name: 'sampler',
  what: 'processor time of the sampler, and how late it sees a crossing',
  run: async (bench: Bench): Promise<Result> => {
    const { sampled } = machineMemory(departuresOf('evictd'), undefined, readMemoryFiles());
    const watch = (options: object): SamplerWatch => {
      const limits = [1 - THRESHOLD];
      const opened = new native.Sampler({ ...sampled, ...fillRates(native, 'memory'), limits, ...options }, () => undefined);
      bench.cleanup(() => {
        opened.close();
      });
      return opened;
    };
    const atRest = watch({});
    const rest = await threadsPercent(['evictd-waiter'], COST_MS);
    const restPeriodMs = atRest.status().periodMs;
    atRest.close();
    const always = watch({ maxPeriodMs: 1 });
    const near = await threadsPercent(['evictd-waiter'], COST_MS);
    always.close();
    return {
      figures: [
        { what: 'at rest', unit: '% of a core', measured: rest, ...atMost(0.05) },
        { what: 'near a limit, every ms', unit: '% of a core', measured: near, ...atMost(3) },
        { what: 'crossing → waiter thread', unit: 'ms', measured: await lateness(bench) },
      ],
      notes: [
        `the machine's available memory by /proc/meminfo, threshold 100 MiB; at rest it is looked at every ${restPeriodMs.toFixed(0)} ms; the waiter thread, by the scheduler's count`,
        `a process crosses as fast as it can, from ${String(MARGIN / MiB)} MiB below the limit; the cgroup's usage, ${String(ROUNDS)} crossings, without a target`,
      ],
    };
  },
};

async function lateness(bench: Bench): Promise<Distribution> {
  const cgroup = testCgroup();
  bench.cleanup(() => cgroup.cleanup());
  const file = `${cgroup.dir}/${filesOfWorkload().usage}`;
  const leaker = await Leaker.start(cgroup, file);
  const limit = usageOf(cgroup) + BigInt(MARGIN);
  let seenNs: bigint | undefined;
  const options = { files: [{ path: file, format: 'number' }], weights: [1], limits: [Number(limit)] } as const;
  const watch = new native.Sampler({ ...options, ...fillRates(native, 'memory') }, (_wake, atNs, detail) => {
    if ((detail & native.SAMPLER.CROSSED) !== 0) seenNs ??= atNs;
  });
  bench.cleanup(() => {
    watch.close();
  });
  const late: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await eventually('the memory is free again', () => usageOf(cgroup) < limit);
    watch.seen(Number(usageOf(cgroup)));
    await pause(250); // the sampler has seen the fall, too
    seenNs = undefined;
    const { fromNs } = await leaker.touch(limit, MiB);
    late.push(ms(fromNs, await eventually('the sampler wakes', () => seenNs)));
  }
  leaker.kill();
  return new Distribution(late);
}
