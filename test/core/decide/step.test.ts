import { describe, expect, test } from 'vitest';
import type { VictimReading } from '../../../src/core/decide/eviction.js';
import type { Candidates, Protection } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, SECOND, threshold, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

const hard = threshold('memory.available', '100Mi');
const soft = threshold('memory.available', '200Mi', { graceSeconds: 30 });
const all = candidates(
  [workload('web'), 50n * Mi],
  [workload('batch'), 300n * Mi],
  [workload('db', { protection: { kind: 'critical' } }), 900n * Mi],
);

describe('hard threshold', () => {
  test('with no threshold met no candidates are read', () => {
    const loop = new Timeline(policy([hard]), all);
    expect(loop.memory(0, 100n)).toEqual([]);
    expect(loop.asked).toBe(0);
    expect(loop.dueAtNs).toBeUndefined();
  });

  test('one byte below the threshold evictd sets the condition and evicts one victim at once, never the protected one', () => {
    const loop = new Timeline(policy([hard]), all);
    expect(loop.memory(0, 99n)).toEqual(['met memory.available', 'MemoryPressure=true', 'evict batch grace 0']);
    expect(loop.asked).toBe(1);
  });

  test('while facts about the victim are outstanding there is no alert and no other victim, and a step follows soon', () => {
    const loop = new Timeline(policy([soft]), { ...all, awaited: ({ name }) => name === 'batch' });
    loop.memory(0, 199n);
    expect(loop.memory(30, 199n)).toEqual([]);
    expect(loop.dueAtNs).toBe(30_005_000_000n);
    loop.candidates = all;
    expect(loop.memory(30.005, 199n)).toEqual(['evict batch grace 10']);
  });

  test('while the names of the remaining candidates are looked up there is no alert, and a step follows soon', () => {
    const unnamed = workload('batch', { protection: { kind: 'unreported', what: 'name' } });
    const loop = new Timeline(policy([hard]), candidates([unnamed, 300n * Mi]));
    expect(loop.memory(0, 99n)).toEqual(['met memory.available', 'MemoryPressure=true']);
    expect(loop.dueAtNs).toBe(5_000_000n);
  });

  test('evictd alerts instead of waiting for a name that cannot be found', () => {
    const lost = workload('batch', { protection: { kind: 'unreported', what: 'lost name' } });
    const loop = new Timeline(policy([hard]), candidates([lost, 300n * Mi]));
    expect(loop.memory(0, 99n)).toContainEqual(expect.stringContaining('alert'));
  });

  test('a hard threshold waits for no facts about the victim, because memory keeps falling; a soft threshold has the time', () => {
    const asked: bigint[] = [];
    const planned: unknown[] = [];
    const knowing: Candidates = {
      ...all,
      awaited: (_workload, withinNs) => {
        asked.push(withinNs);
        return false;
      },
      stop: (_workload, when) => {
        planned.push(when?.asKnown);
        return undefined;
      },
    };
    new Timeline(policy([hard]), knowing).memory(0, 99n);
    const loop = new Timeline(policy([soft]), knowing);
    loop.memory(0, 199n);
    loop.memory(30, 199n);
    expect(asked).toEqual([250_000_000n]);
    expect(planned).toEqual([true, false]); // a kill may be decided on what is known, a stop may not
  });

  test('no second victim is chosen while the first is dying; the next reading below the threshold chooses one', () => {
    const two = new Timeline(policy([threshold('memory.available', '500Mi')]), all);
    two.memory(0, 50n);
    expect(two.memory(0.001, 40n, { 1: {} })).toEqual([]);
    two.candidates = candidates([workload('web'), 50n * Mi]);
    expect(two.memory(0.002, 340n, { 1: { processes: 0, usageBytes: 0n } })).toEqual(['killed batch 300Mi', 'evict web grace 0']);
  });

  test('after enough was freed no workload is evicted, and the condition stays for the transition period', () => {
    const loop = new Timeline(policy([hard]), all);
    loop.memory(0, 50n);
    expect(loop.memory(0.01, 350n, { 1: { processes: 0, usageBytes: 0n } })).toEqual(['killed batch 300Mi', 'cleared memory.available']);
    expect(loop.memory(299.99, 350n)).toEqual([]);
    expect(loop.memory(300, 350n)).toEqual(['MemoryPressure=false']);
  });

  test('min reclaim is owed after a breach, so the next eviction happens above the threshold too', () => {
    const loop = new Timeline(policy([threshold('memory.available', '100Mi', { minReclaim: '100Mi' })]), all);
    loop.memory(0, 40n);
    loop.candidates = candidates([workload('web'), 50n * Mi]);
    expect(loop.memory(0.01, 199n, { 1: { processes: 0, usageBytes: 0n } })).toEqual(['killed batch 300Mi', 'evict web grace 0']);
    expect(loop.memory(0.02, 249n, { 2: { processes: 0, usageBytes: 0n } })).toEqual(['killed web 50Mi', 'cleared memory.available']);
  });

  test('one reading never causes two decisions', () => {
    const loop = new Timeline(policy([hard]), all);
    loop.memory(0, 50n);
    const again = { observe: () => loop.state.lastObservations };
    expect(loop.effects(1, {}, { 1: { processes: 1, error: 'EPERM' } }, again)).toEqual(['failed batch 0Mi']);
  });
});

describe('outcome', () => {
  test.each<[rule: string, seconds: number, reading: Partial<VictimReading>, outcome: string | undefined]>([
    ['processes left: still dying', 0.5, { usageBytes: 299n * Mi }, undefined],
    ['a removed cgroup freed what the node got back', 0.5, { processes: 0, usageBytes: undefined, removed: true }, 'killed batch 300Mi'],
    ['usage stands still, and no other eviction is due: still dying', 12.92, {}, undefined],
    ['a victim whose usage stands still fails in the end, though no other eviction is due', 12.93, {}, 'failed batch 0Mi'],
    ['an error of the kill call: failed', 0.001, { error: 'EPERM' }, 'failed batch 0Mi'],
    ['an error that passes: still dying', 0.5, { error: 'EMFILE', passing: 'unsent' }, undefined],
    ['a victim with a temporary error fails in the end', 13, { error: 'EMFILE', passing: 'unsent' }, 'failed batch 0Mi'],
    ['ended before the signal: nothing happened', 0.001, { processes: undefined, vanished: true, error: 'ENOENT' }, 'vanished batch 0Mi'],
    ['an error, but no process is left: killed', 0.001, { processes: 0, usageBytes: 0n, error: 'EPERM' }, 'killed batch 300Mi'],
  ])('%s', (_rule, seconds, reading, outcome) => {
    const loop = new Timeline(policy([hard]), candidates([workload('batch'), 300n * Mi]));
    loop.memory(0, 50n);
    expect(loop.memory(seconds, 500n, { 1: reading }).filter((effect) => !effect.startsWith('cleared'))).toEqual(
      outcome === undefined ? [] : [outcome],
    );
  });

  test('a victim whose usage does not fall while another is needed has failed after its time limit, and is dying just before it', () => {
    const loop = new Timeline(policy([hard]), all);
    loop.memory(0, 50n);
    expect(loop.memory(1.292, 50n, { 1: {} })).toEqual([]);
    expect(loop.dueAtNs).toBe(1_292_968_750n); // 1 s, and 300/1024 of one more
    expect(loop.memory(1.293, 50n, { 1: {} })).toEqual(['failed batch 0Mi', 'evict web grace 0']);
  });

  test('a victim that freed everything may take its time to exit, until another eviction is due', () => {
    const loop = new Timeline(policy([hard]), all);
    loop.memory(0, 50n);
    const dying = { 1: { usageBytes: 1n * Mi } };
    expect(loop.memory(0.1, 350n, dying)).toEqual(['cleared memory.available']);
    expect(loop.memory(3, 350n, dying)).toEqual([]);
    expect(loop.memory(10.2, 350n, dying)).toEqual([]);
    expect(loop.dueAtNs).toBe(12_929_687_500n);
    expect(loop.memory(10.3, 50n, dying)).toEqual(['failed batch 299Mi', 'met memory.available', 'evict web grace 0']);
  });

  test('a soft threshold in its grace period makes no eviction due', () => {
    const soft = threshold('memory.available', '224Mi', { graceSeconds: 90 });
    const loop = new Timeline(policy([hard, soft]), all);
    loop.memory(0, 50n);
    const dying = { 1: { usageBytes: 1n * Mi } };
    expect(loop.memory(0.1, 200n, dying)).toEqual(['cleared memory.available']);
    expect(loop.memory(1.2, 200n, dying)).toEqual([]);
    expect(loop.memory(1.3, 200n, { 1: { processes: 0, usageBytes: 0n } })).toEqual(['killed batch 300Mi']);
  });

  test('a victim that keeps shrinking has ten times the time limit', () => {
    const loop = new Timeline(policy([hard]), all);
    loop.memory(0, 50n);
    for (let tenths = 5; tenths < 130; tenths += 5) {
      expect(loop.memory(tenths / 10, 50n, { 1: { usageBytes: 300n * Mi - BigInt(tenths) * 4096n } })).toEqual([]);
    }
    expect(loop.memory(13, 50n, { 1: { usageBytes: 1n } })).toEqual(['failed batch 299Mi', 'evict web grace 0']);
  });

  test('after a failed kill another candidate is chosen, and the failed one again after a minute', () => {
    const loop = new Timeline(policy([hard]), all);
    loop.memory(0, 50n);
    expect(loop.memory(1.3, 50n, { 1: {} })).toEqual(['failed batch 0Mi', 'evict web grace 0']);
    expect(loop.memory(2.4, 50n, { 2: { usageBytes: 50n * Mi } })).toEqual(['failed web 0Mi', 'alert nothing-evictable']);
    expect(loop.memory(61.2, 50n)).toEqual([]);
    expect(loop.memory(61.3, 50n)).toEqual(['evict batch grace 0']);
  });

  test('a workload that could not be signalled is tried again after a second', () => {
    const loop = new Timeline(policy([hard]), candidates([workload('batch'), 300n * Mi]));
    loop.memory(0, 50n);
    expect(loop.memory(0.001, 50n, { 1: { processes: undefined, error: 'EMFILE' } })).toEqual([
      'failed batch 0Mi',
      'alert nothing-evictable',
    ]);
    expect(loop.memory(1, 50n)).toEqual([]);
    expect(loop.memory(1.001, 50n)).toEqual(['evict batch grace 0']);
  });

  test('a victim that grew until it died has freed its peak usage', () => {
    const loop = new Timeline(policy([hard]), all);
    loop.memory(0, 50n);
    loop.memory(0.1, 50n, { 1: { usageBytes: 340n * Mi } });
    expect(loop.memory(0.2, 500n, { 1: { processes: 0, usageBytes: Mi } })).toContain('killed batch 339Mi');
  });
});

describe('soft threshold', () => {
  test('sets the condition at once, and evicts after the grace period, with the termination grace', () => {
    const loop = new Timeline(policy([soft]), all);
    expect(loop.memory(0, 150n)).toEqual(['met memory.available', 'MemoryPressure=true']);
    expect(loop.dueAtNs).toBe(30n * SECOND);
    expect(loop.memory(29.999, 150n)).toEqual([]);
    expect(loop.memory(30, 150n)).toEqual(['evict batch grace 10']);
  });

  test('restarts its grace period when the value recovers for a moment', () => {
    const loop = new Timeline(policy([soft]), all);
    loop.memory(0, 150n);
    expect(loop.memory(15, 200n)).toEqual(['cleared memory.available']);
    expect(loop.memory(16, 150n)).toEqual(['met memory.available']);
    expect(evicted(loop.memory(45.9, 150n))).toEqual([]);
    expect(evicted(loop.memory(46, 150n))).toHaveLength(1);
  });

  test('does not restart its grace period when a reading is missing', () => {
    const loop = new Timeline(policy([soft]), all);
    loop.memory(0, 150n);
    expect(loop.effects(15, {})).toEqual([]);
    expect(evicted(loop.memory(30, 150n))).toHaveLength(1);
  });

  test.each<[rule: string, own: bigint | undefined, grace: string]>([
    ['the workload asks for a shorter one', 3n * SECOND, 'evict batch grace 3'],
    ['the workload asks for one above the maximum', 60n * SECOND, 'evict batch grace 10'],
    ['the workload asks for none', 0n, 'evict batch grace 0'],
  ])('termination grace: %s', (_rule, own, grace) => {
    const loop = new Timeline(policy([soft]), candidates([workload('batch', { terminationGracePeriodNs: own }), 300n * Mi]));
    loop.memory(0, 150n);
    expect(loop.memory(30, 150n)).toEqual([grace]);
  });

  test('sends SIGKILL when the termination grace is over, and only then the eviction can fail', () => {
    const loop = new Timeline(policy([soft]), all);
    loop.memory(0, 150n);
    loop.memory(30, 150n);
    expect(loop.memory(39.9, 150n, { 1: {} })).toEqual([]);
    expect(loop.memory(40, 150n, { 1: {} })).toEqual(['escalate: grace period over']);
    expect(loop.memory(40.9, 150n, { 1: {} })).toEqual([]);
    expect(loop.memory(41.3, 150n, { 1: {} })).toContain('failed batch 0Mi');
  });

  test('sends SIGKILL even if SIGTERM failed for some processes', () => {
    const loop = new Timeline(policy([soft]), all);
    loop.memory(0, 150n);
    loop.memory(30, 150n);
    expect(loop.memory(30.001, 150n, { 1: { error: 'SIGTERM: EPERM', passing: 'unsent' } })).toEqual([]);
    expect(loop.memory(40, 150n, { 1: { error: 'SIGTERM: EPERM', passing: 'unsent' } })).toEqual(['escalate: grace period over']);
  });

  test('starts the termination grace with the signal, not with the decision', () => {
    const loop = new Timeline(policy([soft]), all);
    loop.memory(0, 150n);
    loop.memory(30, 150n);
    const signalledAtNs = 30n * SECOND + SECOND / 2n;
    expect(loop.memory(40.4, 150n, { 1: { signalledAtNs } })).toEqual([]);
    expect(loop.dueAtNs).toBe(signalledAtNs + 10n * SECOND);
    expect(loop.memory(40.5, 150n, { 1: { signalledAtNs } })).toEqual(['escalate: grace period over']);
  });

  test('is overtaken by a hard threshold, which ends the termination grace of the same victim', () => {
    const loop = new Timeline(policy([hard, soft]), all);
    loop.memory(0, 150n);
    loop.memory(30, 150n);
    expect(loop.memory(31, 99n, { 1: {} })).toEqual(['escalate: hard threshold met', 'met memory.available']);
    expect(loop.memory(31.01, 99n, { 1: {} })).toEqual([]);
  });
});

describe('which workloads are not evicted', () => {
  test('for nodefs, workloads that would free nothing are not evicted: the condition is set, and one alert an episode', () => {
    const loop = new Timeline(policy([threshold('nodefs.available', '10%')]), all);
    expect(loop.effects(0, { 'nodefs.available': Mi })).toEqual(['met nodefs.available', 'DiskPressure=true', 'alert nothing-evictable']);
    expect(loop.effects(1, { 'nodefs.available': Mi })).toEqual([]);
    for (const second of [2, 12]) loop.effects(second, { 'nodefs.available': 900n * Mi });
    expect(loop.effects(13, { 'nodefs.available': Mi })).toContain('alert nothing-evictable');
  });

  test('without a workload source evictd reports that once, and reads no candidates', () => {
    const loop = new Timeline(policy([hard], { hasWorkloadSource: false }), all);
    expect(loop.memory(0, 1n)).toContain('alert no-workload-source');
    const safe = new Timeline(policy([hard], { hasWorkloadSource: false, safeMode: true }), all);
    expect(safe.memory(0, 1n)).toContain('alert safe-mode');
    expect(loop.memory(1, 1n)).toEqual([]);
    expect(loop.asked).toBe(0);
  });

  test('with only protected workloads left evictd alerts once, and checks again every second', () => {
    const loop = new Timeline(policy([hard]), candidates([workload('db', { protection: { kind: 'critical' } }), 900n * Mi]));
    expect(loop.memory(0, 1n)).toContain('alert nothing-evictable');
    expect(loop.dueAtNs).toBe(SECOND);
    expect(loop.memory(1, 1n)).toEqual([]);
    loop.candidates = all;
    expect(loop.memory(2, 1n)).toEqual(['evict batch grace 0']);
  });
});

test('a workload without processes is passed over, and evictd asks for processes only up to the victim', () => {
  const asked: string[] = [];
  const veto = ({ name }: { readonly name: string }): Protection | undefined => {
    asked.push(name);
    return name === 'batch' ? { kind: 'vacant' } : undefined;
  };
  const loop = new Timeline(policy([hard]), {
    ...candidates([workload('web'), 50n * Mi], [workload('batch'), 300n * Mi], [workload('app'), 20n * Mi]),
    veto,
  });
  const decision = loop.at(0, { 'memory.available': 1n }).find((effect) => effect.kind === 'evict')?.decision;
  expect(decision?.victim.workload.name).toBe('web');
  expect(decision?.ranking.map(({ protection }) => protection?.kind)).toEqual(['vacant', undefined, undefined]);
  expect(asked).toEqual(['batch', 'web']);
});

test('a candidate that has ended makes the step read the candidates once more, and not a third time', () => {
  const before = candidates([workload('batch'), 300n * Mi], [workload('web'), 50n * Mi]);
  const loop = new Timeline(policy([hard]), { ...before, veto: ({ name }) => (name === 'batch' ? { kind: 'removed' } : undefined) });
  expect(evicted(loop.memory(0, 1n))).toEqual(['evict web grace 0']);
  expect(loop.asked).toBe(2);
});

test('a candidate whose request has changed makes the step read the candidates once more', () => {
  const before = candidates([workload('batch'), 300n * Mi], [workload('web'), 50n * Mi]);
  const after = candidates([workload('batch', { avoid: true }), 300n * Mi], [workload('web'), 50n * Mi]);
  const asked: string[] = [];
  const loop = new Timeline(policy([hard]), {
    ...before,
    veto: ({ name }) => {
      asked.push(name);
      loop.candidates = after;
      return { kind: 'changed' };
    },
  });
  expect(evicted(loop.memory(0, 1n))).toEqual(['evict web grace 0']);
  expect(asked).toEqual(['batch', 'web']);
});

describe('dry run', () => {
  test('makes one decision an episode, and nothing is in flight', () => {
    const loop = new Timeline(policy([hard], { dryRun: true }), all);
    expect(evicted(loop.memory(0, 1n))).toEqual(['evict batch grace 0 dry']);
    expect(loop.state.evictions).toEqual([]);
    expect(loop.memory(1, 1n)).toEqual([]);
    for (const second of [2, 12]) loop.memory(second, 500n);
    expect(evicted(loop.memory(13, 1n))).toEqual(['evict batch grace 0 dry']);
  });

  test('makes no soft decision beside a hard one, which would have ended the pressure', () => {
    const loop = new Timeline(policy([hard, soft], { dryRun: true }), all);
    loop.memory(0, 150n);
    expect(evicted(loop.memory(29, 99n))).toEqual(['evict batch grace 0 dry']);
    expect(evicted(loop.memory(31, 99n))).toEqual([]);
  });

  test('decides later in the episode if there is no candidate at first', () => {
    const loop = new Timeline(policy([hard], { dryRun: true }), candidates());
    expect(loop.memory(0, 1n)).toContain('alert nothing-evictable');
    loop.candidates = all;
    expect(loop.memory(1, 1n)).toEqual(['evict batch grace 0 dry']);
  });
});

test('a new configuration ends the episodes of removed thresholds', () => {
  const loop = new Timeline(policy([soft]), all);
  loop.memory(0, 150n);
  loop.policy = policy([hard]);
  expect(loop.memory(1, 150n)).toEqual(['cleared memory.available']);
});
