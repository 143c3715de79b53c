import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { everything } from './everything.js';
import { after, cgroup2, hasCgroup2, hasMemoryV1, hasMemoryV2, makeCgroup, makeNumberFile, memoryV1, startIn } from './kernel.js';

/** What a kind of watch is opened with, and what makes it fire again and again until the storm ends. */
export interface Storm {
  /** An expression for a script; `on` is given the kind's name and returns its callback. */
  readonly watch: string;
  readonly start: () => unknown;
}

/**
 * Of several watches of one kind each has a name of its own: a PSI trigger fires once in its window, so that only many
 * of them storm.
 */
export const kindOf = (name: string): string => name.replace(/ \d+$/, '');

/** A process at its limit of memory is killed again and again. The shell is outside, so that it is never chosen. */
const killedIn = (limited: string): string =>
  `while :; do sh -c 'echo $$ > ${limited}/cgroup.procs && exec tail /dev/zero'; done 2>/dev/null`;

/** Ended after the storm, or after the test. */
function startStorm(cgroup: string, script: string, ends: (() => void)[]): Promise<unknown> {
  const started = startIn(cgroup, script);
  ends.push(() => void started.then((child) => child.kill('SIGKILL')));
  return started;
}

/** One of each kind of watch that can fire at all on this machine. What ends them is appended to `ends`. */
export function storms(ends: (() => void)[]): Readonly<Record<string, Storm>> {
  const all: Record<string, Storm> = {};
  const anywhere = hasMemoryV1 ? memoryV1 : cgroup2;
  const every = (ms: number, strike: () => void) => {
    const timer = setInterval(strike, ms);
    ends.push(() => {
      clearInterval(timer);
    });
    after(() => {
      clearInterval(timer);
    });
  };

  const { path, show } = makeNumberFile(1);
  let shown = 0;
  all.Sampler = {
    watch: `new native.Sampler({ files: [{ path: ${JSON.stringify(path)}, format: 'number' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1, limits: [5] }, on('Sampler'))`,
    start: () => {
      every(3, () => {
        show(++shown % 2 === 0 ? 1 : 9);
      });
    },
  };

  const root = makeCgroup(anywhere);
  const below = `${root}/${'x'.repeat(100)}`; // what were kept of each would be seen
  all.CgroupTree = {
    watch: `new native.CgroupTree(${JSON.stringify(root)}, on('CgroupTree'))`,
    start: () => startStorm(anywhere, `exec perl -e 'while (1) { mkdir "${below}"; rmdir "${below}" }'`, ends),
  };

  const children = Array.from({ length: 60 }, () => spawn('sleep', ['600'], { stdio: 'ignore' }));
  after(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  all.ProcessExit = {
    watch: `new native.ProcessExit(${JSON.stringify(children.map(({ pid }) => pid))}, on('ProcessExit'))`,
    start: () => {
      let next = 0;
      every(80, () => children[next++]?.kill('SIGKILL'));
    },
  };

  if (hasCgroup2) {
    const [cgroup, other, busy] = [makeCgroup(cgroup2), makeCgroup(cgroup2), makeCgroup(cgroup2)];
    all.MemcgEvents = {
      watch: `new native.MemcgEvents(${JSON.stringify(cgroup)}, 'cgroup.events', on('MemcgEvents'))`,
      start: () => startStorm(other, `while :; do echo $$ > ${cgroup}/cgroup.procs; echo $$ > ${other}/cgroup.procs; done`, ends),
    };
    for (let i = 1; i <= 8; i++) {
      const name = `PsiTrigger ${String(i)}`;
      all[name] = {
        watch: `new native.PsiTrigger(${JSON.stringify(`${busy}/cpu.pressure`)}, { kind: 'some', stallUs: 1000, windowUs: 2000000 }, on('${name}'))`,
        start: () => (i <= 4 ? startStorm(busy, 'while :; do :; done', ends) : undefined),
      };
    }
  }
  if (hasMemoryV2) {
    writeFileSync(`${cgroup2}/cgroup.subtree_control`, '+memory');
    const limited = makeCgroup(cgroup2);
    writeFileSync(`${limited}/memory.max`, String(16 << 20));
    if (existsSync(`${limited}/memory.swap.max`)) writeFileSync(`${limited}/memory.swap.max`, '0');
    all['memory.events'] = {
      watch: `new native.MemcgEvents(${JSON.stringify(limited)}, 'memory.events', on('memory.events'))`,
      start: () => startStorm(makeCgroup(cgroup2), killedIn(limited), ends),
    };
  }
  if (hasMemoryV1) {
    const usage = makeCgroup(memoryV1);
    all.MemcgThreshold = {
      watch: `new native.MemcgThreshold(${JSON.stringify(usage)}, 16n << 20n, on('MemcgThreshold'))`,
      // A process that ends gives all of it back; an allocator would keep it.
      start: () => startStorm(usage, 'while :; do head -c 24M /dev/zero | tail -c 24M > /dev/null; done', ends),
    };
    const limited = makeCgroup(memoryV1);
    writeFileSync(`${limited}/memory.limit_in_bytes`, String(16 << 20));
    all.OomControl = {
      watch: `new native.OomControl(${JSON.stringify(limited)}, on('OomControl'))`,
      start: () => startStorm(makeCgroup(memoryV1), killedIn(limited), ends),
    };
  }
  if ((hasMemoryV1 || hasMemoryV2) && everything().KernelLog?.length)
    all.KernelLog = { watch: `new native.KernelLog(on('KernelLog'))`, start: () => undefined };
  return all;
}
