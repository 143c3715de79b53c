import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OomScoreAdj } from '../../../src/features/oom-score-adj/process-adjuster.js';
import { FoundFile } from '../../../src/features/oom-score-adj/original-values-file.js';
import { membership } from '../../../src/core/workload/cgroup.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import { readBootId } from '../../../src/host/linux/process/own-process.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import type { OomScoreAdjTarget } from '../../../src/core/oom/oom-score-adj-target.js';
import { native } from '../../../src/native/index.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { withoutDescriptors } from '../../support/descriptors.js';
import { eventually } from '../../support/eventually.js';
import { adjOf, CollectedLog, freshFifo, freshFile, hasCapSysResource, machineWorkload } from '../../support/oom-score-adj.js';

const hierarchy = readHierarchies().memory ?? fail();

function fail(): never {
  throw new Error('no memory controller on this machine: these tests need one');
}

function node(): TestCgroup {
  const cgroup = testCgroup();
  onTestFinished(() => cgroup.cleanup());
  return cgroup;
}

/** A shell that forks a sleep and waits, so that the cgroup has two processes. */
const PARENT = ['/bin/sh', ['-c', 'sleep 60; :']] as const;

const pidsIn = (cgroup: TestCgroup): number[] => cgroup.read('cgroup.procs').split('\n').filter(Boolean).map(Number);

/** Without an interruption. */
function through<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

interface Net {
  readonly adjuster: OomScoreAdj;
  readonly log: CollectedLog;
  readonly file: string;
  /** What a tick does. */
  readonly tick: (...targets: OomScoreAdjTarget[]) => void;
}

function net(file = freshFile()): Net {
  const log = new CollectedLog();
  const adjuster = new OomScoreAdj(native, hierarchy, new FoundFile(file, readBootId()), log);
  const tick = (...targets: OomScoreAdjTarget[]): void => {
    for (const { workload } of targets) through(adjuster.look(workload));
    for (let round = 0; round < 8; round += 1) {
      if (!adjuster.keep(targets)) return;
      if (!targets.map((target) => through(adjuster.write(target))).includes(true)) break;
    }
    adjuster.restoreOthers(targets);
  };
  return { adjuster, log, file, tick };
}

const to = (workload: Workload, value: number, atLeast: 'found' | 'value' = 'found'): OomScoreAdjTarget => ({ workload, value, atLeast });

describe('raising oom_score_adj', () => {
  test('writes every process of a workload and of the cgroups below it, and restores them', async () => {
    const cgroup = node();
    const below = cgroup.child('below');
    await below.spawn(...PARENT);
    if (hierarchy.version === 1) await cgroup.spawn('sleep', ['60']);
    await eventually('the shell has forked', () => pidsIn(below).length === 2);
    const pids = [...pidsIn(cgroup), ...pidsIn(below)];
    const { adjuster, tick, file } = net();
    tick(to(machineWorkload(cgroup), 700));
    expect(pids.map(adjOf)).toEqual(pids.map(() => 700));
    expect(existsSync(file)).toBe(true);
    expect(adjuster.restore()).toEqual({ processes: pids.length, failed: 0 });
    expect(pids.map(adjOf)).toEqual(pids.map(() => 0));
    expect(existsSync(file)).toBe(false);
  });

  test.each<[rule: string, found: number, atLeast: 'found' | 'value', value: number, expected: number]>([
    ['a value found above stays', 800, 'found', 700, 800],
    ['a value below the target is raised', 300, 'found', 700, 700],
    ['the same: nothing is written', 700, 'found', 700, 700],
    ['the highest', 0, 'value', 1000, 1000],
  ])('%s', async (_rule, found, atLeast, value, expected) => {
    const cgroup = node();
    const { pid } = await cgroup.spawn('sleep', ['60']);
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, String(found));
    const { adjuster, tick, file } = net();
    tick(to(machineWorkload(cgroup), value, atLeast));
    expect(adjOf(pid)).toBe(expected);
    expect(existsSync(file)).toBe(expected !== found);
    adjuster.restore();
    expect(adjOf(pid)).toBe(found);
  });

  test('lowers a value to the original at most, as the rank changes', async () => {
    const cgroup = node();
    const { pid } = await cgroup.spawn('sleep', ['60']);
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '200');
    const { tick, log } = net();
    for (const [value, expected] of [
      [900, 900],
      [500, 500],
      [100, 200],
      [600, 600],
    ] as const) {
      tick(to(machineWorkload(cgroup), value));
      expect(adjOf(pid)).toBe(expected);
    }
    expect(log.lines).toEqual([]);
  });

  test('computes sizes as the kernel does', async () => {
    const cgroup = node();
    const { pid } = await cgroup.spawn(process.execPath, ['-e', 'const b = Buffer.alloc(64 << 20, 1); setInterval(() => b, 1e6)']);
    const sizeOf = (): number => Number(through(net().adjuster.look(machineWorkload(cgroup)))?.[0]?.sizeBytes ?? 0n);
    await eventually('it holds its memory', () => sizeOf() > 64 << 20);
    const residentBytes = (): number => Number(readFileSync(`/proc/${String(pid)}/statm`, 'latin1').split(' ')[1]) * 4096;
    await eventually('both to say the same: it is still starting', () => Math.abs(sizeOf() / residentBytes() - 1) < 0.05);
  });
});

describe('processes that are never written to', () => {
  test('are those of a workload that is not a target', async () => {
    const parent = node();
    const [db, batch] = [parent.child('db'), parent.child('batch')];
    const inDb = await db.spawn('sleep', ['60']);
    const inBatch = await batch.spawn('sleep', ['60']);
    const { tick } = net();
    tick(to(machineWorkload(batch), 1000));
    expect([adjOf(inDb.pid), adjOf(inBatch.pid)]).toEqual([0, 1000]);
  });

  test('get their original value back when their workload becomes protected', async () => {
    const parent = node();
    const [db, batch] = [parent.child('db'), parent.child('batch')];
    const inDb = await db.spawn('sleep', ['60']);
    await batch.spawn('sleep', ['60']);
    const { tick } = net();
    tick(to(machineWorkload(db), 600), to(machineWorkload(batch), 1000));
    expect(adjOf(inDb.pid)).toBe(600);
    tick(to(machineWorkload(batch), 1000));
    expect(adjOf(inDb.pid)).toBe(0);
  });

  test('include evictd, though it runs in the workload', async () => {
    const cgroup = node();
    if (hierarchy.version === 1) {
      const home = membership(readFileSync('/proc/self/cgroup', 'latin1'), hierarchy) ?? '/';
      cgroup.write('cgroup.procs', String(process.pid));
      onTestFinished(() => {
        writeFileSync(`${hierarchy.mountPoint}${home}/cgroup.procs`, String(process.pid));
      });
      const before = adjOf(process.pid);
      const { adjuster, tick } = net();
      tick(to(machineWorkload(cgroup), 1000));
      expect(through(adjuster.look(machineWorkload(cgroup)))).toEqual([]);
      expect(adjOf(process.pid)).toBe(before);
    }
    await cgroup.spawn('true').catch(() => undefined);
  });

  test.runIf(hasCapSysResource)('include those with −1000 (tried where there is CAP_SYS_RESOURCE)', async () => {
    const cgroup = node();
    const { pid } = await cgroup.spawn('sleep', ['60']);
    const other = await cgroup.spawn('sleep', ['60']);
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '-1000');
    const { adjuster, tick } = net();
    tick(to(machineWorkload(cgroup), 1000, 'value'));
    expect([adjOf(pid), adjOf(other.pid)]).toEqual([-1000, 1000]);
    adjuster.restore();
    expect([adjOf(pid), adjOf(other.pid)]).toEqual([-1000, 0]);
  });

  test.runIf(hasCapSysResource)(
    'include those exempted later, before or after evictd wrote (tried where there is CAP_SYS_RESOURCE)',
    async () => {
      const cgroup = node();
      const { pid } = await cgroup.spawn('sleep', ['60']);
      const other = await cgroup.spawn('sleep', ['60']);
      const { adjuster, tick } = net();
      tick(to(machineWorkload(cgroup), 0));
      writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '-1000');
      tick(to(machineWorkload(cgroup), 900));
      writeFileSync(`/proc/${String(other.pid)}/oom_score_adj`, '-1000');
      tick(to(machineWorkload(cgroup), 950));
      expect([adjOf(pid), adjOf(other.pid)]).toEqual([-1000, -1000]);
      adjuster.restore();
      expect([adjOf(pid), adjOf(other.pid)]).toEqual([-1000, -1000]);
    },
  );

  test('include those of another cgroup that was made under the same name', async () => {
    const parent = node();
    const first = parent.child('web');
    const workload = machineWorkload(first);
    await first.cleanup();
    const second = parent.child('web');
    const { pid } = await second.spawn('sleep', ['60']);
    const { tick } = net();
    tick(to(workload, 1000));
    expect(adjOf(pid)).toBe(0);
  });
});

describe('processes that come and go', () => {
  test('a process that was forked between read and write is reported, saved and written in the same tick', async () => {
    const cgroup = node();
    const fifo = freshFifo();
    await cgroup.spawn('/bin/sh', ['-c', 'read line < "$0"; sleep 60 & wait', fifo]);
    const { adjuster, file } = net();
    const target = to(machineWorkload(cgroup), 800);
    through(adjuster.look(target.workload));
    adjuster.keep([target]);
    writeFileSync(fifo, '\n');
    const [, child = 0] = await eventually('it has a child', () => pidsIn(cgroup).length === 2 && pidsIn(cgroup));
    expect(through(adjuster.write(target))).toBe(true);
    expect(adjOf(child)).toBe(0);
    expect(adjuster.keep([target])).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain(`"pid":${String(child)},`);
    expect(through(adjuster.write(target))).toBe(false);
    expect(pidsIn(cgroup).map(adjOf)).toEqual([800, 800]);
  });

  test('generations forked while values are written have their values by the next tick, and all are restored', async () => {
    const cgroup = node();
    const fifo = freshFifo();
    // Each generation forks the next one and a sleep, as fast as it can.
    const script = 'f() { [ $1 -gt 0 ] || exec sleep 60; sleep 60 & f $(($1-1)) & wait; }; read line < "$0"; f 60';
    await cgroup.spawn('/bin/sh', ['-c', script, fifo]);
    const { adjuster, tick } = net();
    writeFileSync(fifo, '\n');
    tick(to(machineWorkload(cgroup), 800));
    await eventually('all were forked', () => pidsIn(cgroup).length === 121);
    tick(to(machineWorkload(cgroup), 800));
    const pids = pidsIn(cgroup);
    expect(new Set(pids.map(adjOf))).toEqual(new Set([800]));
    adjuster.restore();
    expect(new Set(pids.map(adjOf))).toEqual(new Set([0]));
  });

  test('an unknown child of an ended parent gets the lowest original value', async () => {
    const cgroup = node();
    const fifo = freshFifo();
    const { pid, ended } = await cgroup.spawn('/bin/sh', ['-c', 'read line < "$0"; sleep 60 & exit', fifo]);
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '150');
    const { adjuster, tick } = net();
    tick(to(machineWorkload(cgroup), 900));
    writeFileSync(fifo, '\n');
    await ended;
    const [orphan = 0] = pidsIn(cgroup);
    expect(orphan).not.toBe(pid);
    expect(adjOf(orphan)).toBe(900);
    expect(adjuster.restore()).toMatchObject({ failed: 0 });
    expect(adjOf(orphan)).toBe(150);
  });

  test('a process that moves into another workload keeps its original value', async () => {
    const parent = node();
    const [a, b] = [parent.child('a'), parent.child('b')];
    const { pid } = await a.spawn('sleep', ['60']);
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '50');
    const { adjuster, tick } = net();
    const targets = [to(machineWorkload(b), 1000), to(machineWorkload(a), 1000)];
    await b.spawn('sleep', ['60']);
    tick(...targets);
    b.write('cgroup.procs', String(pid));
    tick(...targets);
    expect(adjOf(pid)).toBe(1000);
    adjuster.restore();
    expect(adjOf(pid)).toBe(50);
  });

  test('a process that leaves all workloads is restored', async () => {
    const parent = node();
    const [a, outside] = [parent.child('a'), parent.child('outside')];
    const { pid } = await a.spawn('sleep', ['60']);
    const { tick } = net();
    tick(to(machineWorkload(a), 1000));
    outside.write('cgroup.procs', String(pid));
    tick(to(machineWorkload(a), 1000));
    expect(adjOf(pid)).toBe(0);
  });
});

describe('changes by another program', () => {
  test('are kept, reported once, and not undone at the end, for the children too', async () => {
    const cgroup = node();
    const fifo = freshFifo();
    const { pid } = await cgroup.spawn('/bin/sh', ['-c', 'read line < "$0"; sleep 60 & wait', fifo]);
    const { adjuster, tick, log } = net();
    tick(to(machineWorkload(cgroup), 700));
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '400');
    tick(to(machineWorkload(cgroup), 700));
    tick(to(machineWorkload(cgroup), 900));
    expect(adjOf(pid)).toBe(400);
    expect(log.codes).toEqual(['EVICTD_OOM_SCORE_ADJ_CHANGED']);
    expect(log.lines[0]).toMatch(/changed to 400 by another program/);
    writeFileSync(fifo, '\n');
    await eventually('it has a child', () => pidsIn(cgroup).length === 2);
    tick(to(machineWorkload(cgroup), 900));
    expect(pidsIn(cgroup).map(adjOf)).toEqual([400, 400]);
    expect(adjuster.restore()).toEqual({ processes: 0, failed: 0 });
    expect(pidsIn(cgroup).map(adjOf)).toEqual([400, 400]);
    expect(log.codes).toHaveLength(1);
  });

  test("are the original value if they came before evictd's", async () => {
    const cgroup = node();
    const { pid } = await cgroup.spawn('sleep', ['60']);
    const { adjuster, tick, log } = net();
    tick(to(machineWorkload(cgroup), 0));
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '400');
    tick(to(machineWorkload(cgroup), 500));
    expect(adjOf(pid)).toBe(500);
    adjuster.restore();
    expect(adjOf(pid)).toBe(400);
    expect(log.lines).toEqual([]);
  });
});

describe('what is kept', () => {
  test('is restored by the next evictd after a crash, also for children that it has never seen', async () => {
    const cgroup = node();
    const fifo = freshFifo();
    const { pid } = await cgroup.spawn('/bin/sh', ['-c', 'read line < "$0"; sleep 60 & wait', fifo]);
    writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '120');
    const first = net();
    first.tick(to(machineWorkload(cgroup), 900));
    writeFileSync(fifo, '\n');
    await eventually('it has a child', () => pidsIn(cgroup).length === 2);
    const next = net(first.file);
    next.adjuster.takeOver();
    expect(next.adjuster.restore()).toEqual({ processes: 2, failed: 0 });
    expect(pidsIn(cgroup).map(adjOf)).toEqual([120, 120]);
    expect(existsSync(first.file)).toBe(false);
  });

  test('is written before the first process is: if that fails, no value is written, with one warning until it works', async () => {
    const cgroup = node();
    const { pid } = await cgroup.spawn('sleep', ['60']);
    const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
    const { tick, log } = net(join(directory, 'found.json'));
    rmSync(directory, { recursive: true });
    tick(to(machineWorkload(cgroup), 900));
    tick(to(machineWorkload(cgroup), 900));
    expect(adjOf(pid)).toBe(0);
    expect(log.codes).toEqual(['EVICTD_OOM_SCORE_ADJ_FILE']);
  });

  test.each<[rule: string, change: (text: string) => string, adj: number, left: boolean]>([
    ['an unchanged entry is restored', (text) => text, 0, false],
    [
      'a pid that another process has is not written',
      (text) => text.replace(/"start":"\d+"/, '"start":"1"').replace(/"path":"/, '"path":"/none'),
      900,
      false,
    ],
    ['a file from before the last boot is ignored', (text) => text.replace(/"bootId":"./, '"bootId":"x'), 900, false],
    ['a value that another program has changed since is kept', (text) => text.replace('"written":[900]', '"written":[700]'), 900, false],
  ])('%s', async (_rule, change, adj, left) => {
    const cgroup = node();
    const { pid } = await cgroup.spawn('sleep', ['60']);
    const first = net();
    first.tick(to(machineWorkload(cgroup), 900));
    const text = readFileSync(first.file, 'utf8');
    expect(change(text) === text).toBe(_rule.startsWith('an unchanged entry'));
    writeFileSync(first.file, change(text));
    const next = net(first.file);
    next.adjuster.takeOver();
    next.adjuster.restore();
    expect(adjOf(pid)).toBe(adj);
    expect(existsSync(first.file)).toBe(left);
    expect(next.log.lines).toEqual([]);
  });

  const workload = { id: '/a#1', name: 'a', path: '/a', cgroupId: '1', found: 0, written: [900] };
  const ofNoProcess = { ...workload, processes: [{ pid: -1, start: '1', found: 0, left: false }] };
  test.each([
    ['that was cut off', '{"version":'],
    ['with a process id of another shape', JSON.stringify({ version: 1, bootId: readBootId(), workloads: [ofNoProcess] })],
  ])('is removed with a warning if the file is one %s, and no process is touched', (_rule, text) => {
    const { adjuster, file, log } = net();
    writeFileSync(file, text);
    adjuster.takeOver();
    expect(adjuster.restore()).toEqual({ processes: 0, failed: 0 });
    expect(log.codes).toEqual(['EVICTD_OOM_SCORE_ADJ_LOST']);
    expect(existsSync(file)).toBe(false);
  });

  test('is nothing without a file, and no file is made', () => {
    const { adjuster, file, log } = net();
    adjuster.takeOver();
    expect(adjuster.restore()).toEqual({ processes: 0, failed: 0 });
    expect(existsSync(file)).toBe(false);
    expect(log.lines).toEqual([]);
  });
});

describe('values below the original', () => {
  test.runIf(!hasCapSysResource)(
    'need CAP_SYS_RESOURCE: without it there is one warning for all processes and ticks, and no change',
    async () => {
      const cgroup = node();
      const processes = [await cgroup.spawn('sleep', ['60']), await cgroup.spawn('sleep', ['60'])];
      const { adjuster, tick, log } = net();
      tick(to(machineWorkload(cgroup), -997, 'value'));
      tick(to(machineWorkload(cgroup), -500, 'value'));
      expect(processes.map(({ pid }) => adjOf(pid))).toEqual([0, 0]);
      expect(log.codes).toEqual(['EVICTD_OOM_SCORE_ADJ_CAPABILITY']);
      expect(log.lines[0]).toMatch(/cannot lower oom_score_adj of process .* from 0 to -997: EACCES; .*grant CAP_SYS_RESOURCE/);
      tick(to(machineWorkload(cgroup), 300, 'value'));
      expect(processes.map(({ pid }) => adjOf(pid))).toEqual([300, 300]);
      expect(adjuster.restore()).toEqual({ processes: 2, failed: 0 });
    },
  );

  test.runIf(hasCapSysResource)('are written and restored with CAP_SYS_RESOURCE (tried where there is one)', async () => {
    const cgroup = node();
    const { pid } = await cgroup.spawn('sleep', ['60']);
    const { adjuster, tick, log } = net();
    tick(to(machineWorkload(cgroup), -997, 'value'));
    expect(adjOf(pid)).toBe(-997);
    expect(adjuster.restore()).toEqual({ processes: 1, failed: 0 });
    expect(adjOf(pid)).toBe(0);
    expect(log.lines).toEqual([]);
  });
});

describe('while evictd has no descriptor left', () => {
  const given = { processes: 2, failed: 0 };

  async function two(): Promise<Net & { readonly target: OomScoreAdjTarget; readonly adjs: () => number[] }> {
    const cgroup = node();
    const processes = [await cgroup.spawn('sleep', ['60']), await cgroup.spawn('sleep', ['60'])];
    return { ...net(), target: to(machineWorkload(cgroup), 700), adjs: () => processes.map(({ pid }) => adjOf(pid)) };
  }

  test('a write throws, and is repeated, because no process has refused it', async () => {
    const { adjuster, target, adjs, log } = await two();
    through(adjuster.look(target.workload));
    adjuster.keep([target]);
    await withoutDescriptors(() => {
      expect(() => through(adjuster.write(target))).toThrow(/EMFILE/);
    });
    expect(adjs()).toEqual([0, 0]);
    through(adjuster.write(target));
    expect(adjs()).toEqual([700, 700]);
    expect(log.lines).toEqual([]);
    expect(adjuster.restore()).toEqual(given);
  });

  test('a read throws, and no process counts as ended', async () => {
    const { adjuster, target, tick, adjs, log } = await two();
    tick(target);
    const { workload } = target;
    await withoutDescriptors(() => {
      expect(() => through(adjuster.look(workload))).toThrow(/EMFILE/);
      expect(() => through(adjuster.measure(workload))).toThrow(/EMFILE/);
    });
    expect(adjs()).toEqual([700, 700]);
    tick(target);
    expect(log.lines).toEqual([]);
    expect(adjuster.restore()).toEqual(given);
  });

  test.each<[rule: string, next: (same: Net) => Net]>([
    ['the same evictd', (same) => same],
    [
      'the next evictd',
      ({ file }) => {
        const other = net(file);
        other.adjuster.takeOver();
        return other;
      },
    ],
  ])('a value that cannot be restored is reported once, stays in the file, and is restored later: by %s', async (_rule, next) => {
    const { adjs, target, ...same } = await two();
    same.tick(target);
    await withoutDescriptors(() => {
      expect(same.adjuster.restore()).toEqual({ processes: 0, failed: 2 });
      expect(same.adjuster.restore()).toEqual({ processes: 0, failed: 2 });
    });
    expect(adjs()).toEqual([700, 700]);
    expect(same.log.codes.filter((code) => code === 'EVICTD_OOM_SCORE_ADJ_FAILED')).toHaveLength(1);
    expect(same.log.codes).not.toContain('EVICTD_OOM_SCORE_ADJ_REFUSED');
    expect(next(same).adjuster.restore()).toEqual(given);
    expect(adjs()).toEqual([0, 0]);
    expect(existsSync(same.file)).toBe(false);
  });

  test('the values that the evictd before left are still known as its own at the next tick', async () => {
    const { tick, target, file, adjs } = await two();
    tick(target);
    const next = net(file);
    next.adjuster.takeOver();
    await withoutDescriptors(() => {
      expect(next.adjuster.restore()).toMatchObject({ failed: 2 });
    });
    next.tick({ ...target, value: 800 });
    expect(adjs()).toEqual([800, 800]);
    expect(next.log.codes).not.toContain('EVICTD_OOM_SCORE_ADJ_CHANGED');
    expect(next.adjuster.restore()).toEqual(given);
    expect(adjs()).toEqual([0, 0]);
  });
});
