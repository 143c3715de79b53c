import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { atMost, ms, type Bench, type Benchmark, type Result } from './benchmark.js';
import { Distribution } from './distribution.js';
import { RunningEvictd, type JournalLine } from './evictd.js';
import { Leaker } from './leak.js';
import { filesOfWorkload, plantTree, SCRATCH, usageAtWorkingSet, usageOf, WORKLOADS } from './tree.js';

const ROUNDS = 36;
/** Between evictions: longer than the second in which evictd pauses its notifiers. */
const PAUSE_MS = 1_200;
const MARGIN = 64n << 20n;
const CAPACITY = 1n << 30n;

/** `evictd run` with a hundred workloads; in each round another one leaks as fast as it can. */
export const eviction: Benchmark = {
  name: 'eviction',
  what: `crossing of a memory threshold → signal sent, ${String(WORKLOADS)} workloads`,
  run: async (bench: Bench): Promise<Result> => {
    const { node, workloads, fill } = await plantTree(bench);
    const directory = mkdtempSync(join(SCRATCH, 'evictd-bench-'));
    bench.cleanup(() => {
      rmSync(directory, { recursive: true, force: true });
    });
    const workingSetAt = usageOf(node) + MARGIN;
    const evictd = await RunningEvictd.start(bench, {
      node: { cgroup: node.path },
      workloads: [{ cgroup: node.path }],
      evictionHard: { 'memory.available': String(CAPACITY - workingSetAt), 'nodefs.available': '0%', 'nodefs.inodesFree': '0%' },
    });

    const toWaiter: number[] = [];
    const toDeath: number[] = [];
    const outcomes: JournalLine[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const workload = workloads[(round * 37) % WORKLOADS];
      if (workload === undefined) throw new Error('no such workload');
      const times = join(directory, `times-${String(round)}`);
      const outcome = await evicted(evictd, { node, workload, workingSetAt, round, times });
      if (outcome.victim?.name !== workload.path.split('/').at(-1)) throw new Error(`not the leaking workload: ${JSON.stringify(outcome)}`);
      outcomes.push(outcome);
      const { wakeAtNs = 0 } = lineOf(evictd, 'decision', round) ?? {};
      const clock = readFileSync(times);
      const crossedNs = clock.readBigUInt64LE(8);
      if (crossedNs > 0n) toWaiter.push(ms(crossedNs, BigInt(wakeAtNs))); // else it was killed before it noted its crossing
      if (crossedNs > 0n) toDeath.push(ms(clock.readBigUInt64LE(0), clock.readBigUInt64LE(16)));
      await fill(workload);
    }
    const spans = (name: string): number[] => outcomes.flatMap(({ spansMs }) => spansMs?.[name] ?? []);
    const toSignal = new Distribution(spans('crossingToSignal'));
    // Empty where a standing order was always first.
    const steps: readonly (readonly [what: string, measured: readonly number[]])[] = [
      ['crossing → waiter awake', toWaiter],
      ['→ JavaScript awake', spans('crossingToWake')],
      ['→ node read', spans('wakeToDecision')],
      ['→ candidates read', spans('decisionToCandidates')],
      ['→ step done, victim chosen', spans('candidatesToChoice')],
      ['→ record in the ring', spans('choiceToRecord')],
      ['→ state saved, signal sent', spans('recordToSignal')],
      ['→ no process left', spans('signalToExit')],
      ["crossing → the victim's last sign of life", toDeath],
    ];
    return {
      figures: [
        { what: 'waiter awake → signal sent', unit: 'ms', measured: toSignal, ...atMost(1) },
        { what: '… the p99', unit: 'ms', measured: toSignal.quantile(0.99), ...atMost(5) },
        ...steps.flatMap(([what, measured]) => (measured.length === 0 ? [] : [{ what, unit: 'ms', measured: new Distribution(measured) }])),
      ],
      notes: [
        `${wokenBy(evictd)}; spans from the journal, their crossing is when the waiter thread saw it`,
        "the victim's last sign of life is its own: it notes the clock after every 64 KiB that it takes, before and after it crosses",
      ],
    };
  },
};

interface Round {
  readonly node: TestCgroup;
  readonly workload: TestCgroup;
  /** The threshold is crossed when the node uses so much. */
  readonly workingSetAt: bigint;
  /** The number of the decision. */
  readonly round: number;
  /** Where the workload notes its times; 24 bytes. */
  readonly times: string;
}

/** One eviction of a workload that leaks as fast as it can. */
export async function evicted(
  evictd: Pick<RunningEvictd, 'journal'>,
  { node, workload, workingSetAt, round, times }: Round,
): Promise<JournalLine> {
  const leaker = await Leaker.start(workload, `${node.dir}/${filesOfWorkload().usage}`);
  await pause(PAUSE_MS);
  writeFileSync(times, Buffer.alloc(24));
  leaker.leak(usageAtWorkingSet(node, workingSetAt), times);
  await leaker.ended;
  const outcome = await eventually('the outcome of an eviction', () => lineOf(evictd, 'outcome', round));
  if (outcome.result !== 'killed') throw new Error(`round ${String(round)}: not killed: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** 'woken by standing_order 35×, sampler 1×': a standing order does not wait for JavaScript. */
export function wokenBy(evictd: Pick<RunningEvictd, 'journal'>): string {
  const wakes = new Map<string, number>();
  for (const { type, wake = 'unknown' } of evictd.journal()) if (type === 'decision') wakes.set(wake, (wakes.get(wake) ?? 0) + 1);
  return `woken by ${[...wakes].map(([source, count]) => `${source} ${String(count)}×`).join(', ')}`;
}

function lineOf(evictd: Pick<RunningEvictd, 'journal'>, type: string, decision: number): JournalLine | undefined {
  return evictd.journal().find((line) => line.type === type && line.decision === decision);
}
