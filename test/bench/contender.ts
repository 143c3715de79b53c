import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { CROSSING, THRESHOLD, type Arena } from './arena.js';
import type { Bench } from './benchmark.js';
import { compile, Conversation } from './c-program.js';
import { RunningEvictd, type JournalLine } from './evictd.js';
import { filesOfWorkload } from './tree.js';

/** A program that tries to evict before the OOM killer of the kernel. */
export interface Contender {
  readonly name: string;
  /** Only for these fills; undefined: all. */
  readonly fills?: readonly string[];
  /** Before a round: waits until the contender is idle as after a long time. */
  rest(): Promise<unknown>;
  /** After a round that the kernel did not win. `spansMs`: of the eviction, if recorded. Throws for another victim. */
  result(): Promise<{ readonly spansMs?: Readonly<Record<string, number>> }>;
  /** Notes for its rows. */
  note?(): string;
}

/** Longer than evictd pauses its notifiers after an eviction. */
const REST_MS = 1_200;

/** 'sampler': only the sampler, because cgroup.event_control is read-only, as in a container. */
export async function evictd(bench: Pick<Bench, 'cleanup'>, arena: Arena, by: 'memcg_threshold' | 'sampler'): Promise<Contender> {
  const running = await RunningEvictd.start(
    bench,
    {
      node: { cgroup: arena.node.path },
      workloads: [{ cgroup: arena.node.path }],
      evictionHard: { 'memory.available': String(THRESHOLD), 'nodefs.available': '0%', 'nodefs.inodesFree': '0%' },
    },
    by === 'sampler' ? `${arena.node.dir}/cgroup.event_control` : undefined,
  );
  const lines = (type: string): JournalLine[] => running.journal().filter((line) => line.type === type);
  let seen = 0;
  const sources = new Map<string, number>();
  const name = by === 'sampler' ? 'evictd, sampler alone' : 'evictd, v1 eventfd';
  return {
    name,
    rest: async () => {
      await pause(REST_MS);
      seen = lines('outcome').length;
    },
    result: async () => {
      const outcome = await eventually('the outcome of an eviction', () => lines('outcome')[seen]);
      if (outcome.result !== 'killed' || outcome.victim?.name !== 'filling')
        throw new Error(`not the one that fills: ${JSON.stringify(outcome)}`);
      const wake = lines('decision').find(({ decision }) => decision === outcome.decision)?.wake ?? 'unknown';
      sources.set(wake, (sources.get(wake) ?? 0) + 1);
      return { spansMs: outcome.spansMs ?? {} };
    },
    note: () => `${name}: woken by ${[...sources].map(([source, count]) => `${source} ${String(count)}×`).join(', ')}.`,
  };
}

export async function poller(bench: Pick<Bench, 'cleanup'>, arena: Arena, intervalMs: number): Promise<Contender> {
  const files = [`${arena.node.dir}/${filesOfWorkload().usage}`, String(CROSSING), `${arena.filling.dir}/cgroup.procs`];
  const program = new Conversation(bench, undefined, [compile(bench, 'poll'), String(intervalMs), ...files]);
  await program.line();
  return {
    name: `poller, every ${intervalMs < 1000 ? `${String(intervalMs)} ms` : `${String(intervalMs / 1000)} s`}`,
    fills: ['200 MB/s', 'unthrottled, 4 KiB pages'],
    // The fill starts at a random point of its interval.
    rest: () => pause(200 + Math.random() * intervalMs),
    result: () => Promise.resolve({}),
  };
}
