import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { VictimKill, type VictimKillParts } from '../../../src/evict/cgroup/victim-kill.js';
import type { VictimExit } from '../../../src/evict/cgroup/victim-exit.js';
import type { VictimFiles } from '../../../src/evict/cgroup/victim-files.js';
import type { SignalResult } from '../../../src/monitor/ports/ports.js';
import type { CgroupHandle } from '../../../src/native/binding.js';
import { native } from '../../../src/native/index.js';
import { besideVictim, hasUnified } from './beside.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { withoutDescriptors } from '../../support/descriptors.js';

let victim: TestCgroup;
const made: VictimKill[] = [];
/** The kill of what a directory lists, be it a cgroup's or not. */
const killOf = (directory: string, files: object = {}, parts: Partial<VictimKillParts> = {}): VictimKill => {
  const kill = new VictimKill({
    handle: new native.CgroupHandle(directory),
    files: {
      usage: () => 0n,
      swap: () => undefined,
      populated: () => undefined,
      unified: false,
      close: () => undefined,
      ...files,
    } as unknown as VictimFiles,
    exit: { close: () => undefined } as unknown as VictimExit,
    reaper: new native.MemoryReaper(),
    holdsEvictd: () => undefined,
    openShared: () => undefined,
    openFreezers: () => [],
    ...parts,
  });
  made.push(kill);
  return kill;
};
const directories: string[] = [];
/** Of lists that are no kernel's. */
const makeDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-kill-'));
  directories.push(directory);
  return directory;
};

beforeEach(() => {
  victim = testCgroup();
});
afterEach(async () => {
  for (const kill of made.splice(0)) kill.close();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
  await victim.cleanup();
});

// The list cannot be made unreadable for evictd alone, so this one handle refuses it, with what a machine in need would
// say.
test('cgroup.kill is not used if the processes are unknown: evictd may be among them', () => {
  const calls: string[] = [];
  const handle = {
    processes: () => {
      throw Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE' });
    },
    kill: () => calls.push('cgroup.kill'),
    stop: () => calls.push('stop'),
    signal: (number: number) => (
      calls.push(`signal ${String(number)}`),
      { found: 3, signalled: 3, errno: 0, atNs: process.hrtime.bigint() }
    ),
    close: () => undefined,
  } as unknown as CgroupHandle;
  const kill = killOf(victim.dir, { unified: true }, { handle });
  expect([kill.kill(), kill.kill()]).toMatchObject([
    { processes: 3, error: undefined },
    { processes: 3, error: undefined },
  ]);
  expect(calls).toEqual(['signal 9', 'signal 9']);
});

const sleeping = () => spawn('sleep', ['600'], { stdio: 'ignore' });
/** The start of a process is known by ticks. */
const tickPasses = (): void => {
  for (const until = native.bootTimeNs() + 20_000_000n; native.bootTimeNs() < until;);
};

describe('without cgroup.kill: a process that is in the cgroup after SIGKILL', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([
    ['was started after all were held still and killed: no process of the victim is left', true, true],
    ['was started before, and moved there: it may be a part of the victim', true, false],
    ['was started when none had been held still: a process of the victim may have started it', false, true],
  ])('%s', async (_rule, isHeld, isLater) => {
    const other = sleeping();
    try {
      const kill = killOf(victim.dir);
      const first = await victim.spawn('sleep', ['600']);
      kill.kill();
      await first.ended;
      if (isHeld) {
        const second = await victim.spawn('sleep', ['600']);
        kill.kill(); // it is new: stopped, then killed
        expect(await second.ended).toBe('SIGKILL');
      }
      tickPasses();
      const pid = isLater ? (await victim.spawn('sleep', ['600'])).pid : (other.pid ?? 0);
      writeFileSync(join(victim.dir, 'cgroup.procs'), String(pid));
      vi.spyOn(process.hrtime, 'bigint').mockReturnValue(process.hrtime.bigint() + 600_000_000n);
      const sample = kill.read();
      const isOver = isHeld && isLater;
      expect(sample.processes).toBe(isOver ? 0 : 1);
      expect(sample.later?.pid).toBe(isOver ? pid : undefined);
    } finally {
      const gone = once(other, 'exit');
      other.kill('SIGKILL');
      await gone;
    }
  });
});

describe.runIf(hasUnified)('a process that is in the cgroup after cgroup.kill (needs a cgroup2 mount beside v1)', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([
    ['was started after it: no process of the victim is left', true],
    ['was started before, and moved there: it may be a part of the victim', false],
  ])('%s', async (_rule, isLater) => {
    const beside = besideVictim('unified', victim);
    const first = sleeping();
    let other = sleeping();
    try {
      beside.add(first.pid ?? 0);
      const kill = killOf(beside.dir, { unified: true, populated: () => true }, { holdsEvictd: () => false });
      const ended = once(first, 'exit');
      kill.kill();
      await ended;
      if (isLater) {
        other.kill('SIGKILL');
        tickPasses();
        other = sleeping();
      }
      beside.add(other.pid ?? 0);
      expect(kill.read()).toMatchObject({ processes: 1 }); // not looked at yet
      vi.spyOn(process.hrtime, 'bigint').mockReturnValue(process.hrtime.bigint() + 600_000_000n);
      const sample = kill.read();
      expect(sample.processes).toBe(isLater ? 0 : 1);
      if (isLater) expect(sample.later).toEqual({ pid: other.pid, name: 'sleep' });
      else expect(sample).not.toHaveProperty('later');
    } finally {
      first.kill('SIGKILL');
      const gone = once(other, 'exit');
      other.kill('SIGKILL');
      await gone;
      beside.cleanup();
    }
  });
});

describe('a repeated SIGKILL', () => {
  /** A handle that notes what it is asked, and lists these processes. */
  function noting(...lists: number[][]): { calls: string[]; handle: CgroupHandle } {
    const calls: string[] = [];
    const handle = {
      processes: () => {
        calls.push('list');
        return (lists.length > 1 ? lists.shift() : lists[0]) ?? [];
      },
      kill: () => calls.push('cgroup.kill'),
      signal: (number: number, reaper: unknown) => {
        calls.push(`signal ${String(number)}${reaper === undefined ? '' : ', reaped'}`);
        return { found: 1, signalled: 1, errno: 0, atNs: process.hrtime.bigint() };
      },
      close: () => undefined,
    } as unknown as CgroupHandle;
    return { calls, handle };
  }
  const passes = (ms: number): void => {
    const now = process.hrtime.bigint();
    vi.spyOn(process.hrtime, 'bigint').mockReturnValue(now + BigInt(ms) * 1_000_000n);
  };
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('after cgroup.kill gives the reaper the processes once and lists none, and after a second the file is written again', () => {
    const { calls, handle } = noting([7]);
    let populated = true;
    const kill = killOf(victim.dir, { unified: true, populated: () => populated }, { handle, holdsEvictd: () => false });
    expect([kill.kill(), kill.read(), kill.kill(), kill.read(), kill.kill()]).toMatchObject([
      { error: undefined },
      { processes: 1 },
      { error: undefined },
      { processes: 1 },
      { error: undefined },
    ]);
    expect(calls).toEqual(['cgroup.kill', 'signal 0, reaped']);
    passes(1_000);
    expect(kill.read().processes).toBe(1);
    kill.kill();
    expect(calls.slice(2)).toEqual(['list', 'list', 'cgroup.kill', 'signal 0, reaped']); // counted, and looked at
    populated = false;
    expect(kill.read().processes).toBe(0);
  });

  test('is not cgroup.kill with evictd in the cgroup: such a cgroup is refused, and one that may have it is listed', () => {
    const { calls, handle } = noting([process.pid]);
    expect(killOf(victim.dir, { unified: true }, { handle, holdsEvictd: () => true }).kill().error).toMatch(/evictd itself/);
    expect(calls).toEqual([]);
    expect(killOf(victim.dir, { unified: true }, { handle, holdsEvictd: () => undefined }).kill().error).toMatch(/evictd itself/);
    expect(calls).toEqual(['list']);
  });

  test('on v1 is sent only when a new process appears, or if processes do not end', () => {
    const { calls, handle } = noting([7], [7], [7, 8], [7, 8]);
    const kill = killOf(victim.dir, {}, { handle });
    for (let times = 0; times < 4; times += 1) kill.kill();
    const signals = (): string[] => calls.filter((call) => call.startsWith('signal'));
    expect(signals()).toEqual(['signal 9, reaped', 'signal 9, reaped']);
    passes(100);
    kill.kill();
    expect(signals()).toHaveLength(3);
  });
});

describe('processes that cannot be signalled', () => {
  test('for want of a descriptor are ended by a later call', async () => {
    const { ended } = await victim.spawn('sleep', ['600']);
    const kill = killOf(victim.dir);
    const sent: SignalResult[] = [];
    await withoutDescriptors(() => {
      sent.push(kill.terminate(), kill.kill());
    });
    expect(sent).toMatchObject([
      { error: expect.stringContaining('SIGTERM: EMFILE') as string, passing: 'unsent' },
      { error: expect.stringContaining('SIGKILL: EMFILE') as string, passing: 'unsent' },
    ]);
    expect(kill.kill()).toMatchObject({ processes: 1, error: undefined });
    expect(await ended).toBe('SIGKILL');
  });

  /** Of a list that may be any file's: pid 1 is never signalled. */
  const listing = (unified: boolean, ...pids: number[]): VictimKill => {
    const directory = makeDirectory();
    writeFileSync(join(directory, 'cgroup.procs'), pids.map((pid) => `${String(pid)}\n`).join(''));
    return killOf(directory, { unified });
  };
  const EPERM = expect.stringContaining('EPERM') as string;

  test.each([false, true])('are left, while the other of two is ended (v2: %s)', async (unified) => {
    const { pid, ended } = await victim.spawn('sleep', ['600']);
    expect(listing(unified, 1, pid).terminate()).toMatchObject({ processes: 2, error: EPERM, passing: 'in part' });
    expect(await ended).toBe('SIGTERM');
  });

  test('alone are a final error, unless cgroup.kill can still be used', () => {
    expect(listing(false, 1).terminate()).toMatchObject({ error: EPERM, passing: undefined });
    expect(listing(false, 1).kill()).toMatchObject({ error: EPERM, passing: undefined });
    expect(listing(true, 1).terminate()).toMatchObject({ error: EPERM, passing: 'in part' });
    expect(listing(true, 1).kill()).toMatchObject({ error: EPERM, passing: undefined });
  });
});

test('a victim that does not end shows its swap at once, and the CPU time of its processes after half a second', () => {
  const handle = {
    processes: () => [process.pid],
    signal: () => ({ found: 1, signalled: 1, errno: 0, atNs: 0n }),
    kill: () => undefined,
    close: () => undefined,
  } as unknown as CgroupHandle;
  const kill = killOf(victim.dir, { usage: () => 10n, swap: (usage: bigint) => usage + 7n, populated: () => true }, { handle });
  const clock = vi.spyOn(process.hrtime, 'bigint');
  try {
    clock.mockReturnValue(5n);
    expect(kill.read()).toEqual({ processes: 1, usageBytes: 10n, removed: false, swapBytes: 17n }); // not killed yet
    clock.mockReturnValue(10n);
    kill.kill();
    clock.mockReturnValue(500_000_009n);
    expect(kill.read()).not.toHaveProperty('runs');
    clock.mockReturnValue(500_000_010n);
    expect(kill.read()).toMatchObject({ swapBytes: 17n, processorTicks: expect.any(BigInt) as bigint, runs: true });
  } finally {
    clock.mockRestore();
  }
});

test('on v1 only two empty readings in a row count as empty, because a process may move between cgroups', async () => {
  const { pid } = await victim.spawn('sleep', ['600']);
  const directory = makeDirectory();
  const lists = ['a', 'b'].map((name) => join(directory, name, 'cgroup.procs'));
  for (const list of lists) {
    mkdirSync(dirname(list));
    execFileSync('mkfifo', [list]);
  }
  // Pipes for the lists of two cgroups: the first reader always misses it; then it stays in place.
  const script = `: > "$0"; sleep 0.3; echo ${String(pid)} > "$0"`;
  const answers = lists.map((list) => spawn('/bin/sh', ['-c', script, list], { stdio: 'ignore' }));
  const kill = killOf(directory);
  expect(kill.read().processes).toBe(1);
  for (const child of answers) child.kill('SIGKILL');
});
