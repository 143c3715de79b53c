import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OomScoreAdj } from '../../../src/features/oom-score-adj/process-adjuster.js';
import { FoundFile } from '../../../src/features/oom-score-adj/original-values-file.js';
import { initialState } from '../../../src/core/decide/state.js';
import type { Protection, Workload, WorkloadUsage } from '../../../src/core/workload/workload.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import type { StepReport, WakeSource, WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { OomScoreAdjuster, type OomScoreAdjMode } from '../../../src/features/oom-score-adj/oom-score-adjuster.js';
import { native } from '../../../src/native/index.js';
import { Gi, observations, policy } from '../../core/support.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { withoutDescriptors } from '../../support/descriptors.js';
import { eventually } from '../../support/eventually.js';
import { holdMemory } from '../../support/hold-memory.js';
import { adjOf, CollectedLog, freshFile, machineWorkload } from '../../support/oom-score-adj.js';

/** The candidates, and how often they were read. */
class FakeSource implements WorkloadSource {
  usages: readonly WorkloadUsage[] = [];
  requested = 0;
  veto: ((workload: Workload) => Protection | undefined) | undefined;

  candidates() {
    this.requested += 1;
    return { usages: this.usages, unreadable: [], timeNs: 0n, ...(this.veto ? { veto: this.veto } : {}) };
  }
  refresh(): void {
    // nothing changes
  }
  holding(): undefined {
    return undefined;
  }
  problems(): [] {
    return [];
  }
  close(): void {
    // nothing is held
  }
}

function usage(workload: Workload, workingSetBytes: bigint): WorkloadUsage {
  const unknown = { processes: undefined, ephemeralStorageBytes: undefined, containers: [], volumes: [] };
  return { workload, stats: { workingSetBytes, usageBytes: workingSetBytes, ...unknown } };
}

function report(source: WakeSource): StepReport {
  return {
    wake: { source, atNs: 0n },
    policy: policy([]),
    input: { nowNs: 0n, layout: 'single', victims: new Map(), reclaimed: undefined },
    observations: observations(0n, { 'memory.available': Gi }),
    candidates: [],
    rechecks: [],
    outside: [],
    state: initialState,
    effects: [],
  };
}

const pidsIn = (cgroup: TestCgroup): number[] => cgroup.read('cgroup.procs').split('\n').filter(Boolean).map(Number);

/** The resident bytes of its largest process. */
function largestIn(cgroup: TestCgroup): number {
  return Math.max(...pidsIn(cgroup).map((pid) => 1024 * Number(/^VmRSS:\s*(\d+)/m.exec(statusOf(pid))?.[1] ?? 0)));
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/status`, 'latin1');
  } catch {
    return ''; // it has ended
  }
}

async function setUp(mode: OomScoreAdjMode, ramBytes = 0n) {
  const parent = testCgroup();
  onTestFinished(() => parent.cleanup());
  const { memory: hierarchy } = readHierarchies();
  if (hierarchy === undefined) throw new Error('no memory controller on this machine: these tests need one');
  const [log, source, file] = [new CollectedLog(), new FakeSource(), freshFile()];
  const adjuster = new OomScoreAdj(native, hierarchy, new FoundFile(file, 'boot'), log);
  const net = new OomScoreAdjuster(mode, { workloads: source, adjuster, totalBytes: () => Gi, ramBytes: () => ramBytes, log });
  const cgroups: TestCgroup[] = ['a', 'b', 'c'].map((name) => parent.child(name));
  const processes = await Promise.all(cgroups.map((cgroup) => cgroup.spawn('sleep', ['60'])));
  const adjs = (): number[] => processes.map(({ pid }) => adjOf(pid));
  const offer = (...changes: Partial<Workload>[]): void => {
    source.usages = cgroups.map((cgroup, index) => usage(machineWorkload(cgroup, changes[index]), 1n << 20n));
  };
  offer({ priority: -1 }, { priority: 0 }, { priority: 1 });
  /** Everything that one tick starts. */
  const tick = async (source: WakeSource = 'tick'): Promise<void> => {
    net.stepped(report(source));
    for (let turns = 0; turns < 100; turns += 1) await turn();
  };
  return { net, log, source, file, adjs, offer, tick, cgroups, processes };
}

describe('oom_score_adj by rank', () => {
  test('has the order of eviction, and is restored at the end', async () => {
    const { net, adjs, tick, file, log } = await setUp('rank');
    await tick();
    const [a = 0, b = 0, c = 0] = adjs();
    expect(a).toBe(1000);
    expect(a > b && b > c && c > 0).toBe(true);
    expect(existsSync(file)).toBe(true);
    net.close();
    net.close();
    expect([adjs(), existsSync(file)]).toEqual([[0, 0, 0], false]);
    expect(log.information).toEqual(['oom_score_adj follows the order of eviction', 'restored oom_score_adj of 3 processes']);
  });

  test('has other values for another order', async () => {
    const { adjs, offer, tick } = await setUp('rank');
    await tick();
    offer({ priority: 1 }, { priority: 0 }, { priority: -1 });
    await tick();
    const [a = 0, b = 0, c = 0] = adjs();
    expect(c === 1000 && c > b && b > a).toBe(true);
  });

  test.each<[rule: string, is: Partial<Workload>]>([
    ['critical', { protection: { kind: 'critical' } }],
    ['evictd lives in it', { protection: { kind: 'self' } }],
    ['outside the node', { protection: { kind: 'outside' } }],
    ['a pod: the kubelet writes', { kubernetes: { uid: 'u', namespace: 'shop', name: 'web', labels: {}, priority: 0 } }],
  ])('is not written and is restored for a protected workload (%s)', async (_rule, is) => {
    const { adjs, offer, tick } = await setUp('rank');
    offer(is);
    await tick();
    expect(adjs()[0]).toBe(0);
    offer({ priority: -1 });
    await tick();
    expect(adjs()[0]).toBe(1000);
    offer(is);
    await tick();
    expect(adjs()[0]).toBe(0);
  });

  test('is not written for a workload that the last check protects', async () => {
    const { adjs, source, tick } = await setUp('rank');
    source.veto = ({ name }) => (name === 'a' ? { kind: 'self' } : undefined);
    await tick();
    expect(adjs()[0]).toBe(0);
    expect(adjs()[1]).toBe(1000);
  });

  test('names a workload that the kernel would kill earlier once', async () => {
    const { adjs, tick, log, processes, cgroups, source } = await setUp('rank');
    const [, , c] = cgroups;
    if (c === undefined) throw new Error('no third cgroup');
    await holdMemory(c, 64);
    // The process that fills the cgroup ends when it is full: sleep, sh, tail and its sleep stay.
    await eventually('c is the largest by far, and no process leaves it any more', () => largestIn(c) > 64 << 20 && pidsIn(c).length === 4);
    for (const pid of [processes[1]?.pid, ...pidsIn(c)]) writeFileSync(`/proc/${String(pid)}/oom_score_adj`, '1000');
    source.usages = source.usages.slice(1);
    await tick();
    await tick();
    expect(adjs().slice(1)).toEqual([1000, 1000]);
    expect(log.information.filter((line) => line.startsWith('the kernel would kill c earlier than evictd'))).toHaveLength(1);
  });
});

describe('oom_score_adj by QoS class', () => {
  test.each([
    { of: 'the capacity of the node', ram: 0n, burstable: 750 },
    { of: 'the memory of the machine, also without its huge pages', ram: 4n * Gi, burstable: 938 },
  ])('has the kubelet’s values, from $of', async ({ ram, burstable }) => {
    const { adjs, offer, tick } = await setUp('qos', ram);
    const requests = (memory: bigint) => ({ memory: memory * 1_000_000_000n, ephemeralStorage: 0n, inodes: 0n });
    offer(
      { qosClass: 'BestEffort' },
      { qosClass: 'Burstable', requests: requests(Gi / 4n) },
      { qosClass: 'Burstable', requests: requests(1n) },
    );
    await tick();
    expect(adjs()).toEqual([1000, burstable, 999]);
  });

  test('is not written where the capacity is not known', async () => {
    const { adjs, net } = await setUp('qos');
    net.stepped({ ...report('tick'), observations: undefined });
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(adjs()).toEqual([0, 0, 0]);
  });
});

describe('the time at which oom_score_adj is written', () => {
  test.each<[source: WakeSource, written: boolean]>([
    ['start', true],
    ['tick', true],
    ['reload', true],
    ['sampler', false],
    ['memcg_threshold', false],
    ['victim', false],
    ['deadline', false],
    ['filesystem', false],
  ])('is after a step by %s: %s', async (source, written) => {
    const { adjs, tick, source: workloads } = await setUp('rank');
    await tick(source);
    expect([workloads.requested > 0, adjs()[0]]).toEqual([written, written ? 1000 : 0]);
  });

  test('is never, if the key is off: no process is read and no file is made', async () => {
    const { adjs, tick, source, file, net } = await setUp('off');
    await tick();
    net.close();
    expect([source.requested, adjs(), existsSync(file)]).toEqual([0, [0, 0, 0], false]);
  });

  test('is neither before the step has returned nor after the end', async () => {
    const { adjs, net, source } = await setUp('rank');
    net.stepped(report('tick'));
    expect([source.requested, adjs()]).toEqual([0, [0, 0, 0]]);
    net.close();
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect([source.requested, adjs()]).toEqual([0, [0, 0, 0]]);
  });

  test('is not a tick during the work of the last one', async () => {
    const { adjs, net, source } = await setUp('rank');
    for (let tick = 0; tick < 5; tick += 1) net.stepped(report('tick'));
    await eventually('values are written', () => adjs()[0] === 1000);
    expect(source.requested).toBe(1);
  });

  test('is after the step, whose candidates are not read again', async () => {
    const { adjs, net, source } = await setUp('rank');
    net.stepped({ ...report('tick'), candidates: [{ usages: source.usages, unreadable: [], timeNs: 0n }] });
    await eventually('values are written', () => adjs()[0] === 1000);
    expect(source.requested).toBe(0);
  });

  test('ends at once when the key is switched off, and starts with the next tick when it is on again', async () => {
    const { adjs, net, tick, file } = await setUp('rank');
    await tick();
    net.configure('off');
    expect([adjs(), existsSync(file)]).toEqual([[0, 0, 0], false]);
    await tick();
    expect(adjs()).toEqual([0, 0, 0]);
    net.configure('qos');
    await tick();
    expect(adjs()).toEqual([1000, 1000, 1000]);
  });
});

describe('a pass that fails', () => {
  const failed = (log: CollectedLog): readonly string[] =>
    log.lines.filter((_, index) => log.codes[index] === 'EVICTD_OOM_SCORE_ADJ_FAILED');

  test('without descriptors is logged once, tried again, and logged once more after a success', async () => {
    const { adjs, tick, log, offer } = await setUp('rank');
    await withoutDescriptors(async () => {
      await tick();
      await tick();
    });
    expect(failed(log)).toEqual([expect.stringMatching(/EMFILE.*logged once/)]);
    expect(adjs()).toEqual([0, 0, 0]);
    await tick();
    expect(adjs()[0]).toBe(1000);
    offer({ priority: 1 }, { priority: 0 }, { priority: -1 });
    await withoutDescriptors(() => tick());
    expect(failed(log)).toHaveLength(2);
    expect(adjs()[0]).toBe(1000);
    await tick();
    expect(adjs()[2]).toBe(1000);
    expect(log.lines).toHaveLength(2);
  });

  test('with candidates that cannot be read is logged once, too', async () => {
    const { adjs, tick, log, source } = await setUp('rank');
    const candidates = source.candidates.bind(source);
    source.candidates = () => {
      throw new Error('unreadable');
    };
    await tick();
    await tick();
    source.candidates = candidates;
    await tick();
    expect(failed(log)).toEqual([expect.stringContaining('Error: unreadable')]);
    expect(adjs()[0]).toBe(1000);
  });
});
