import { setTimeout as pause } from 'node:timers/promises';
import { native, type OnWake, type Watch } from '../../src/native/index.js';
import { memoryController, testCgroup, type TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { atMost, ms, type Bench, type Benchmark, type Figure, type Result, type Target } from './benchmark.js';
import { compile, Conversation } from './c-program.js';
import { Distribution, ratios } from './distribution.js';
import { usageOf } from './tree.js';

const ROUNDS = 200;
const MARGIN = 8 * 1024 * 1024;
const SAMPLER_MS = 5;

/** Two touches, each with clock readings before and after it, and the time of the following wake; monotonic ns. */
interface Round {
  /** The page fault in which the kernel signalled the threshold; 0: no thresholds here. */
  readonly notice: readonly [bigint, bigint];
  /** The first touch after which the usage counter is at the limit: up to a batch of charges earlier. */
  readonly usage: readonly [bigint, bigint];
  readonly seenNs: bigint;
  readonly calledNs: bigint;
  /** Before and after the wake of a C thread by an eventfd, in the same round. */
  readonly ring: readonly [bigint, bigint];
}

/** The time from the touch that crosses the threshold to the wake of the waiter thread, and to the callback. */
export const wake: Benchmark = {
  name: 'wake',
  what: 'crossing of a memory threshold → waiter thread → JavaScript callback',
  run: async (bench: Bench): Promise<Result> => {
    const byKernel = memoryController()?.version === 1;
    const rounds = await measure(bench, byKernel);
    const figure = (what: string, unit: string, times: (round: Round) => number, promise: { readonly target?: Target } = {}): Figure => {
      return { what, unit, measured: new Distribution(rounds.map(times)), ...promise };
    };
    const µs = (fromNs: bigint, toNs: bigint): number => Number(toNs - fromNs) / 1e3;
    const fromUsage = [
      figure('usage ≥ limit → waiter thread', 'µs', ({ usage, seenNs }) => µs(usage[0], seenNs)),
      figure('usage ≥ limit → callback', 'ms', ({ usage, calledNs }) => ms(usage[0], calledNs)),
    ];
    const threadToCallback = figure('waiter thread → callback', 'ms', ({ seenNs, calledNs }) => ms(seenNs, calledNs));
    if (!byKernel) {
      return {
        figures: [...fromUsage, threadToCallback],
        notes: [`no thresholds on cgroup v2: the native sampler, every ${String(SAMPLER_MS)} ms`],
      };
    }
    const toCallback = figure('crossing → callback', 'ms', ({ notice, calledNs }) => ms(notice[0], calledNs), atMost(0.2));
    const crossings = ratios(
      rounds.map(({ notice, seenNs }) => µs(notice[0], seenNs)),
      rounds.map(({ ring }) => µs(...ring)),
    );
    const bracket = new Distribution(rounds.map(({ notice }) => µs(...notice)));
    return {
      figures: [
        figure('crossing → waiter thread', 'µs', ({ notice, seenNs }) => µs(notice[0], seenNs), atMost(20)),
        toCallback,
        { what: '… the p99', unit: 'ms', measured: (toCallback.measured as Distribution).quantile(0.99), ...atMost(1) },
        threadToCallback,
        ...fromUsage,
        figure('eventfd_write → a thread of a C program awake', 'µs', ({ ring }) => µs(...ring)),
        { what: 'crossing → waiter thread / a thread of a C program', unit: '×', measured: crossings.ofMedians },
      ],
      notes: [
        `crossing: the start of the touch in which the kernel signalled the threshold, which took ${bracket.median.toFixed(1)} µs (median; p99 ${bracket.quantile(0.99).toFixed(1)})`,
        'usage ≥ limit: the start of the first touch after which the counter is at the limit; the kernel compares it with the thresholds once in 128 page charges',
      ],
    };
  },
};

async function measure(bench: Bench, byKernel: boolean): Promise<Round[]> {
  const cgroup = testCgroup();
  bench.cleanup(() => cgroup.cleanup());
  const limit = (usageOf(cgroup) / 4096n) * 4096n + BigInt(MARGIN);
  let woken: { readonly seenNs: bigint; readonly calledNs: bigint } | undefined;
  let stands = !byKernel; // a v1 threshold reports when it is armed
  const watch = watchUsage(cgroup, limit, (_bits, seenNs) => {
    stands = true;
    woken ??= { seenNs, calledNs: process.hrtime.bigint() };
  });
  bench.cleanup(() => {
    watch.close();
  });
  await eventually('the threshold is armed', () => stands);

  const toucher = new Conversation(bench, cgroup, [compile(bench, 'touch'), cgroup.dir, String(limit), String(MARGIN / 4)]);
  await toucher.line();
  const rounds: Round[] = [];
  while (rounds.length < ROUNDS) {
    await eventually('the memory is free again', () => usageOf(cgroup) < limit);
    await pause(SAMPLER_MS * 2); // a fall crosses, too
    woken = undefined;
    toucher.tell('cross');
    const [noticeFrom = 0n, noticeTo = 0n, usageFrom = 0n, usageTo = 0n] = (await toucher.line()).split(' ').map(BigInt);
    if (usageTo === 0n || (byKernel && noticeTo === 0n)) throw new Error('the limit was not crossed');
    const seen = await eventually('the callback is called', () => woken);
    toucher.tell('ring');
    const [ringFrom = 0n, ringTo = 0n] = (await toucher.line()).split(' ').map(BigInt);
    rounds.push({ notice: [noticeFrom, noticeTo], usage: [usageFrom, usageTo], ring: [ringFrom, ringTo], ...seen });
  }
  return rounds;
}

function watchUsage(cgroup: TestCgroup, limit: bigint, onWake: OnWake): Watch {
  if (memoryController()?.version === 1) return new native.MemcgThreshold(cgroup.dir, limit, onWake);
  const files = [{ path: `${cgroup.dir}/memory.current`, format: 'number' }] as const;
  return new native.Sampler({ files, weights: [1], maxRatePerSecond: 1, maxPeriodMs: SAMPLER_MS, limits: [Number(limit)] }, onWake);
}
