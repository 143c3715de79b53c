import { describe, expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import type { StepInput } from '../../../src/core/decide/step-input.js';
import type { Policy } from '../../../src/core/decide/state.js';
import { decisionMessage } from '../../../src/core/message/message.js';
import { policyResultMessage } from '../../../src/core/message/policy-message.js';
import type { Comparator, LadderStep } from '../../../src/core/policy/configured-policy.js';
import type { RawValue } from '../../../src/core/policy/raw-value.js';
import type { WorkloadProcess } from '../../../src/core/workload/process.js';
import type { Protection } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, SECOND, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';
import { KILL, ofCgroup, STOP, using } from './policies.js';

const web = workload('web', { path: '/a/web', unit: { name: 'web.service', manager: 'system' } });
const mail = workload('mail', { path: '/a/mail', priority: -1 });
const other = workload('other', { path: '/b/other' });

/** A process of /a/web with pid 10, unless the overrides say otherwise. */
function process(overrides: Partial<WorkloadProcess> = {}): WorkloadProcess {
  return {
    path: '/a/web',
    pid: 10,
    startTicks: 1_000n,
    command: 'leak',
    residentBytes: 100n * Mi,
    anonBytes: 90n * Mi,
    swapBytes: 0n,
    oomScore: 700,
    ...overrides,
  };
}

const ALONE = { ...KILL, unit: 'process' } as const;

/** A policy of /a that ends one process, and the processes that are read. */
class Run extends Timeline {
  /** The paths of the workloads whose processes were read. */
  read: string[] = [];

  constructor(
    public processes: readonly WorkloadProcess[],
    step: LadderStep = ALONE,
    rest: Partial<Policy> = {},
    all = candidates([web, 300n * Mi], [mail, 200n * Mi], [other, 900n * Mi]),
  ) {
    super(policy([threshold('memory.available', '100Mi')], { policies: [ofCgroup([step])], ...rest }), all);
  }

  step(
    seconds: number,
    victims: Parameters<Timeline['at']>[2] = {},
    values: Readonly<Record<string, Partial<Record<RawValue, number>>>> = {},
    available = 500n,
  ): Effect[] {
    return this.at(seconds, { 'memory.available': available * Mi }, victims, this.#input(values));
  }

  #input(values: Readonly<Record<string, Partial<Record<RawValue, number>>>>): Partial<StepInput> {
    return {
      ...using(101, values),
      policyProcesses: (workloads) => {
        this.read = workloads.map(({ path }) => path);
        return this.processes;
      },
    };
  }
}

/** The pids in the order in which they would end. */
function order(processes: readonly WorkloadProcess[], by: readonly Comparator[] = ['size'], all?: Run['candidates']): number[] {
  const pids: number[] = [];
  for (let left = processes; left.length > 0;) {
    const run = new Run(left, { ...ALONE, by }, {}, all);
    const victim = decided(
      run.step(0, {}, { '/a/web': { 'memory.pressure.full.avg10': 5 }, '/a/mail': { 'memory.pressure.full.avg10': 9 } }),
    )?.victim.process;
    if (victim === undefined) break;
    pids.push(victim.pid);
    left = left.filter(({ pid }) => pid !== victim.pid);
  }
  return pids;
}

function decided(effects: readonly Effect[]) {
  return effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []))[0];
}

describe('the order of processes', () => {
  test.each<[rule: string, by: readonly Comparator[], processes: readonly Partial<WorkloadProcess>[], pids: readonly number[]]>([
    [
      'resident and swapped memory',
      ['size'],
      [{ pid: 1 }, { pid: 2, swapBytes: 50n * Mi }, { pid: 3, residentBytes: 110n * Mi }],
      [2, 3, 1],
    ],
    [
      'swap',
      ['swap'],
      [
        { pid: 1, residentBytes: 900n * Mi },
        { pid: 2, swapBytes: 5n * Mi },
      ],
      [2, 1],
    ],
    ['anonymous memory', ['anon'], [{ pid: 1 }, { pid: 2, anonBytes: 95n * Mi }], [2, 1]],
    [
      'oom_score',
      ['oom_score'],
      [
        { pid: 1, residentBytes: 900n * Mi },
        { pid: 2, oomScore: 900 },
      ],
      [2, 1],
    ],
    [
      'less than 1 MiB apart, the next comparator',
      ['size', 'oom_score'],
      [
        { pid: 1, residentBytes: 100n * Mi + 9n },
        { pid: 2, oomScore: 701 },
      ],
      [2, 1],
    ],
    [
      'a lower priority of the workload',
      ['priority', 'size'],
      [
        { pid: 1, residentBytes: 900n * Mi },
        { pid: 2, path: '/a/mail' },
      ],
      [2, 1],
    ],
    ['without a comparator the larger process is first', [], [{ pid: 1 }, { pid: 2, residentBytes: 101n * Mi }], [2, 1]],
    ['the workload that is evicted first', ['size'], [{ pid: 2 }, { pid: 1, path: '/a/mail' }], [1, 2]],
    ['the younger process is first', ['size'], [{ pid: 1 }, { pid: 2, startTicks: 1_001n }], [2, 1]],
    ['the larger pid', ['size'], [{ pid: 1 }, { pid: 2 }], [2, 1]],
  ])('%s', (_rule, by, processes, pids) => {
    expect(order(processes.map(process), by)).toEqual(pids);
    expect(order(processes.map(process).reverse(), by)).toEqual(pids);
  });

  test('a comparator of cgroups compares the workloads of the processes', () => {
    expect(order([process({ pid: 1, residentBytes: 900n * Mi }), process({ pid: 2, path: '/a/mail' })], ['pressure'])).toEqual([2, 1]);
  });

  test('a workload that prefers to be avoided comes last, and a login session does not', () => {
    const processes = [process({ pid: 1, residentBytes: 900n * Mi }), process({ pid: 2, path: '/a/mail' })];
    const asking = candidates([{ ...web, avoid: true, oomPreference: 'avoid' }, 300n * Mi], [mail, 200n * Mi]);
    expect(order(processes, ['size'], asking)).toEqual([2, 1]);
    expect(order(processes, ['size'], candidates([{ ...web, avoid: true }, 300n * Mi], [mail, 200n * Mi]))).toEqual([1, 2]);
  });
});

describe('one process of the scope as a victim', () => {
  test('is ended, and counts as a victim of its workload', () => {
    const run = new Run([process({ pid: 1 }), process({ pid: 2, residentBytes: 200n * Mi })], ALONE, {
      evictionBudget: { max: 5, windowNs: 600n * SECOND, bands: [] },
    });
    const decision = decided(run.step(0));
    expect(run.read).toEqual(['/a/mail', '/a/web']);
    expect(decision).toMatchObject({ victim: { workload: { path: '/a/web' }, process: { pid: 2 } }, graceNs: 0n });
    expect(decision?.unit).toBeUndefined();
    const [counted, ...others] = run.state.evictionTimes.get('memory') ?? [];
    expect(counted).toMatchObject({ decision: decision?.serial, priority: 0 });
    expect([others, counted?.victim]).toEqual([[], undefined]); // the workload goes on: its next eviction is not a repetition
    expect(decision && decisionMessage(decision)).toBe(
      'evicting leak (2) of web with SIGKILL: policy p on /a: memory.current > 100Ki (memory.current 101KiB); leak (2) of web has ' +
        '200MiB resident, 0B swap, oom_score 700; web uses 300MiB, has no request, priority 0',
    );
  });

  test('counts as not ended after a second without progress, however much the rest of its workload moves', () => {
    const run = new Run([process()]);
    run.step(0);
    const moving = (seconds: number): string[] =>
      run
        .step(seconds, { 1: { processes: 1, usageBytes: BigInt(300 + seconds * 10) * Mi, swapBytes: BigInt(seconds) * Mi } })
        .flatMap((effect) => (effect.kind === 'outcome' ? [effect.outcome.result] : []));
    expect([1, 2, 3, 4, 5, 6].flatMap(moving)).toEqual([]); // nothing else is due
    run.policy = { ...run.policy, thresholds: [threshold('memory.available', '600Mi')] };
    expect([7, 8].flatMap(moving)).toEqual(['failed']);
  });

  test("has the decrease of its workload's usage as its yield, and its end is not an eviction of the unit", () => {
    const run = new Run([process()]);
    run.step(0);
    const [outcome, result] = run.step(1, { 1: { processes: 0, usageBytes: 215n * Mi, removed: false } }, {}, 590n);
    expect(outcome).toMatchObject({ kind: 'outcome', outcome: { result: 'killed', freedBytes: 85n * Mi, expectedBytes: 90n * Mi } });
    expect(result).toMatchObject({ kind: 'policy-result', result: 'done', target: { name: 'web', process: { pid: 10, command: 'leak' } } });
    expect(result?.kind === 'policy-result' && policyResultMessage(result)).toBe(
      'policy p on /a: kill of leak (10) of web done: freed 85MiB',
    );
    expect(run.state.unitEvictions.size).toBe(0);
  });

  test('gets SIGKILL after the grace period of SIGTERM', () => {
    const run = new Run([process()], { ...STOP, unit: 'process' });
    expect(decided(run.step(0))).toMatchObject({ graceNs: 10n * SECOND });
    expect(run.step(10, { 1: {} })).toMatchObject([{ kind: 'escalate', reason: 'grace period over' }]);
  });

  test('is passed over if it could not be ended, and its workload is not', () => {
    const run = new Run([process({ pid: 1 }), process({ pid: 2, residentBytes: 200n * Mi })]);
    run.step(0);
    const effects = run.step(1, { 1: { error: 'SIGKILL: EPERM' } });
    expect(decided(effects)?.victim.process?.pid).toBe(1);
    expect(effects.at(0)).toMatchObject({ kind: 'outcome', outcome: { result: 'failed' } });
    run.processes = [process({ pid: 2, startTicks: 1_001n, residentBytes: 200n * Mi })];
    expect(decided(run.step(2, { 2: { error: 'SIGKILL: EPERM' } }))?.victim.process?.pid).toBe(2); // another process
  });

  test('is never chosen in a workload that may not be evicted', () => {
    const protection: Protection = { kind: 'critical' };
    const run = new Run([process({ path: '/a/mail' })], ALONE, {}, candidates([{ ...mail, protection }, 300n * Mi], [web, 100n * Mi]));
    expect(run.step(0)).toMatchObject([{ kind: 'policy-result', result: 'refused', error: 'no process of the scope may be ended' }]);
    expect(run.read).toEqual(['/a/web']);
    const vetoed = {
      ...candidates([web, 300n * Mi], [mail, 100n * Mi]),
      veto: ({ name }: { name: string }) => (name === 'web' ? protection : undefined),
    };
    const next = new Run([process({ pid: 1 }), process({ pid: 2, path: '/a/mail', residentBytes: Mi })], ALONE, {}, vetoed);
    expect(decided(next.step(0))).toMatchObject({ victim: { process: { pid: 2 } }, ranking: [{}, { protection }] });
  });

  test('with memory.oom.group stands for its whole workload, as in the kernel, unless that workload prefers to be avoided', () => {
    const avoided = candidates([{ ...web, avoid: true }, 300n * Mi], [mail, 200n * Mi]);
    const small = process({ pid: 2, path: '/a/mail', residentBytes: Mi });
    for (const path of ['/a/web', '/a']) {
      const processes = [process({ pid: 1, group: { path, id: 7n, anonBytes: 0n } }), small];
      const run = new Run(processes);
      const decision = decided(run.step(0));
      expect(decision?.victim).toMatchObject({ workload: { path: '/a/web' } });
      expect(decision?.victim).not.toHaveProperty('process');
      expect(decided(run.step(1, { 1: { error: 'SIGKILL: EPERM' } }))?.victim.process?.pid).toBe(2);
      expect(decided(new Run(processes, ALONE, {}, avoided).step(0))?.victim.process?.pid).toBe(2);
    }
    expect(decided(new Run([process({ pid: 1 }), small], ALONE, {}, avoided).step(0))?.victim.process?.pid).toBe(1);
  });

  test('with memory.oom.group of a cgroup in its workload stands for that cgroup, and is passed over with it after a failure', () => {
    const group = { path: '/a/web/worker', id: 7n, anonBytes: 150n * Mi };
    const run = new Run([
      process({ pid: 1, group }),
      process({ pid: 2, residentBytes: 99n * Mi, group }),
      process({ pid: 3, residentBytes: Mi }),
    ]);
    const decision = decided(run.step(0));
    expect(decision?.victim).toMatchObject({ workload: { path: '/a/web' }, process: { pid: 1, group: { path: '/a/web/worker' } } });
    expect(decision && decisionMessage(decision)).toContain('evicting leak (1) and its cgroup /a/web/worker of web with SIGKILL');
    const effects = run.step(1, { 1: { error: 'SIGKILL: EPERM' } });
    expect(effects.at(0)).toMatchObject({ kind: 'outcome', outcome: { result: 'failed', expectedBytes: 150n * Mi } });
    expect(decided(effects)?.victim.process?.pid).toBe(3);
  });

  test('is not ended when the budget is used up', () => {
    const run = new Run([process()], ALONE, { evictionBudget: { max: 0, windowNs: 600n * SECOND, bands: [] } });
    expect(run.step(0)).toMatchObject([{ kind: 'policy-result', result: 'refused', error: 'the eviction budget is used up' }]);
  });

  test('is named in a dry run, and not ended', () => {
    const run = new Run([process()], ALONE, { dryRun: true });
    const [evict, result] = run.step(0);
    expect(evict).toMatchObject({ kind: 'evict', decision: { dryRun: true, victim: { process: { pid: 10 } } } });
    expect(result).toMatchObject({ kind: 'policy-result', result: 'dry-run', target: { process: { pid: 10 } } });
    expect(run.state.evictions).toEqual([]);
  });
});
