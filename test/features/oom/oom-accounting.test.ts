import { beforeEach, expect, test } from 'vitest';
import type { KernelKill } from '../../../src/core/oom/kernel-kill.js';
import type { OomTally } from '../../../src/core/oom/oom-kill-count.js';
import { OomAccounting } from '../../../src/features/oom/oom-accounting.js';
import type { OomCounterReader, WakeSource } from '../../../src/monitor/ports/ports.js';

// The kernel's log cannot be delayed or shortened on request: log and counters are played here. test/e2e/kernel-oom has
// the kernel.

class PlayedCounters implements OomCounterReader {
  kills: Record<string, number> = {};
  slices = 1;
  looks = 0;
  closed = 0;
  #seen = '';

  get moved(): boolean {
    return JSON.stringify(this.kills) !== this.#seen;
  }
  *read(): Generator<void, OomTally> {
    this.looks += 1;
    const cgroups = new Map(
      Object.entries(this.kills).map(([path, kills], index) => [BigInt(index), { path, kills, ownKills: kills, limitHits: 0 }] as const),
    );
    for (let slice = 0; slice < this.slices; slice += 1) yield;
    this.#seen = JSON.stringify(this.kills);
    return { total: undefined, hierarchical: true, cgroups };
  }
  close(): void {
    this.closed += 1;
  }
}

let counters: PlayedCounters;
let said: string[];
let metrics: string[];
let hasLog: boolean;
beforeEach(() => {
  [counters, said, metrics, hasLog] = [new PlayedCounters(), [], [], true];
});

function start(node?: string): OomAccounting {
  const accounting = new OomAccounting({
    counters,
    guarded: { node, allocatable: undefined },
    workloads: {
      holding: (cgroup) => {
        const [, name] = /^\/s\/([^/]+)/.exec(cgroup) ?? [];
        return name === undefined ? undefined : { name, path: `/s/${name}` };
      },
    },
    log: { warn: () => undefined },
    journal: {
      record: ({
        workload,
        cgroup,
        count,
        process: { pid } = {},
      }: {
        workload?: { name: string };
        cgroup?: string;
        count?: number;
        process?: { pid?: number };
      }) => said.push(`${pid === undefined ? `${String(count)} counted` : `pid ${String(pid)}`} ${workload?.name ?? cgroup ?? '?'}`),
    } as never,
    metrics: { oomKilled: (limit, processes) => metrics.push(`${limit} ${String(processes)}`) },
    counted: () => ({ oomKillsCounted: 7 }),
    hasLog: () => hasLog,
  });
  accounting.start();
  return accounting;
}

const kill = (pid: number, cgroup: string | undefined): KernelKill => ({
  constraint: 'memcg',
  limitedCgroup: cgroup,
  cgroup,
  pid,
  name: 'tail',
  uid: 0,
  anonBytes: 0n,
  oomScoreAdj: 0,
  sinceBootUs: 0,
});
async function look(accounting: OomAccounting, source: WakeSource = 'tick', ...wakeCounters: string[]): Promise<void> {
  accounting.stepped({ wake: { source, atNs: 0n, counters: wakeCounters } });
  for (let turns = 0; turns < 3 + counters.slices; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}
const second = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_050));

test('without an OOM kill no counters are read, and kills before the start do not count', async () => {
  counters.kills = { '/s/a': 4 };
  const accounting = start();
  await look(accounting);
  await look(accounting, 'reload');
  expect(counters.looks).toBe(1);
  counters.kills = { '/s/a': 5 };
  await look(accounting, 'sampler'); // not on the path of an eviction
  expect(counters.looks).toBe(1);
  await look(accounting);
  expect(counters.looks).toBe(2);
});

test('with the kernel log kills in it are reported at once and once, and other kills a second later', async () => {
  const accounting = start();
  accounting.killsLogged([kill(1, '/s/a/inner')]);
  expect(said).toEqual(['pid 1 a']);
  counters.kills = { '/s/a': 1, '/s/b': 2 };
  await look(accounting);
  expect(said).toEqual(['pid 1 a']);
  accounting.killsLogged([kill(2, '/s/b')]); // late
  await second();
  await look(accounting);
  expect(said).toEqual(['pid 1 a', 'pid 2 b', '1 counted b']);
  expect(metrics).toEqual(['workload 1', 'workload 1', 'node 1']);
  await second();
  await look(accounting);
  expect(said).toHaveLength(3);
});

test('without a kernel log kills are reported as soon as they are counted', async () => {
  hasLog = false;
  const accounting = start();
  counters.kills = { '/s/a': 3, '/other': 1 };
  await look(accounting);
  expect(said).toEqual(['3 counted a', '1 counted /other']);
});

test('a notification of an OOM kill is handled at once, because the cgroup may not exist at the next tick', async () => {
  hasLog = false;
  const accounting = start('/s');
  counters.kills = { '/s/a': 1 };
  await look(accounting, 'memcg_events', 'max', 'oom_kill');
  expect(said).toEqual(['1 counted a']);
  await look(accounting, 'memcg_events', 'max');
  expect(counters.looks).toBe(2);
});

test('the counters name the cgroup that the log does not, if only one is possible', async () => {
  const accounting = start();
  counters.kills = { '/s/a': 3 };
  accounting.killsLogged([kill(1, '/s/a'), kill(2, undefined), kill(3, undefined)]);
  expect(said).toEqual(['pid 1 a']);
  await look(accounting, 'sampler');
  expect(said).toEqual(['pid 1 a', 'pid 2 a', 'pid 3 a']);

  counters.kills = { '/s/a': 4, '/s/b': 1 };
  accounting.killsLogged([kill(4, undefined), kill(5, undefined)]);
  await look(accounting, 'sampler');
  expect(said.slice(3)).toEqual(['pid 4 ?', 'pid 5 ?']); // the two kills cannot be distinguished
  await second();
  await look(accounting);
  expect(said).toHaveLength(5);
});

test('a node in a cgroup reports kills without a place only up to its own count', async () => {
  const accounting = start('/s');
  counters.kills = { '/s/a': 1 };
  accounting.killsLogged([kill(1, undefined), kill(2, undefined)]);
  await look(accounting, 'sampler');
  expect(said).toEqual(['pid 1 a']);
  accounting.killsLogged([kill(3, '/elsewhere/x')]);
  expect(said).toHaveLength(1);
});

test('a kill of a whole group, which is counted and logged twice for its first process, is reported once', async () => {
  const accounting = start();
  counters.kills = { '/s/a': 4 };
  const group = [1, 2, 1, 3].map((pid) => kill(pid, '/s/a'));
  accounting.killsLogged(group.slice(0, 2));
  accounting.killsLogged(group.slice(2));
  await look(accounting);
  await second();
  await look(accounting);
  expect(said).toEqual(['pid 1 a', 'pid 2 a', 'pid 3 a']);
  accounting.killsLogged([{ ...kill(1, '/s/b'), sinceBootUs: 1_000_001 }]); // the process id is in use again
  expect(said.at(-1)).toBe('pid 1 b');
});

test('a read is done in slices, and kills that come meanwhile are reported once', async () => {
  const accounting = start();
  counters.slices = 50;
  counters.kills = { '/s/a': 1 };
  accounting.killsLogged([kill(1, undefined)]);
  counters.kills = { '/s/a': 1, '/s/b': 1 };
  accounting.killsLogged([kill(2, '/s/b'), kill(3, undefined)]);
  counters.kills = { '/s/a': 2, '/s/b': 1 };
  await look(accounting, 'sampler');
  await look(accounting, 'sampler');
  await second();
  await look(accounting);
  expect(said.toSorted()).toEqual(['pid 1 a', 'pid 2 b', 'pid 3 a']);
});

test('open kills are reported at the end, and the counters are closed', async () => {
  const accounting = start();
  counters.kills = { '/s/a': 1 };
  accounting.close();
  accounting.close();
  await look(accounting);
  accounting.killsLogged([]);
  expect(said).toEqual(['1 counted a']);
  expect(counters.closed).toBeGreaterThan(0);
});
