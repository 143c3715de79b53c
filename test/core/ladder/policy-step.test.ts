import { describe, expect, test } from 'vitest';
import type { VictimReading } from '../../../src/core/decide/eviction.js';
import type { StepInput } from '../../../src/core/decide/step-input.js';
import { initialState, type Policy } from '../../../src/core/decide/state.js';
import { policiesDueNs } from '../../../src/core/ladder/policy-deadline.js';
import type { PolicyResult } from '../../../src/core/policy/policy-action.js';
import { candidates, Mi, policy, requesting, SECOND, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';
import { condition, FREEZE, KILL, NOTIFY, ofCgroup, reading, STOP, THROTTLE, using } from './policies.js';

const big = workload('big', { path: '/a/big' });
const small = workload('small', { path: '/a/small' });
const other = workload('other', { path: '/b/other' });
const ALL = candidates([big, 300n * Mi], [small, 200n * Mi], [other, 900n * Mi]);
const SIZES = {
  '/a/big': { 'memory.current': 300 * 1024 * 1024 },
  '/a/small': { 'memory.current': 200 * 1024 * 1024 },
  '/b/other': { 'memory.current': 900 * 1024 * 1024 },
};

/** A timeline on which only the policies act: 500Mi of memory are available. */
class Run extends Timeline {
  constructor(then: Parameters<typeof ofCgroup>[0], overrides: Parameters<typeof ofCgroup>[1] = {}, rest: Partial<Policy> = {}, all = ALL) {
    super(policy([threshold('memory.available', '100Mi')], { policies: [ofCgroup(then, overrides)], ...rest }), all);
  }

  /** What a step says while the scope uses so much. */
  uses(
    seconds: number,
    kibibytes: number | undefined,
    rest: Partial<StepInput> = {},
    victims: Readonly<Record<number, Partial<VictimReading>>> = {},
    available = 500n,
  ): string[] {
    return this.effects(seconds, { 'memory.available': available * Mi }, victims, { ...using(kibibytes, SIZES), ...rest });
  }
}

const ended = { 1: { processes: 0, usageBytes: 0n, removed: true } } as const;
const answer = (action: PolicyResult['action'], result: PolicyResult['result']): Partial<StepInput> => ({
  policyResults: [{ policy: 'p', scope: '/a', action, result }],
});

describe('when a ladder begins', () => {
  test('the condition must hold for its time without interruption', () => {
    const run = new Run([NOTIFY], { forNs: 10n * SECOND });
    expect(run.uses(0, 101)).toEqual([]);
    expect(run.uses(6, 100)).toEqual([]); // interrupted
    expect(run.uses(7, 101)).toEqual([]);
    expect(run.uses(16, 101)).toEqual([]);
    expect(run.uses(17, 101)).toEqual(['notify', 'end p: exhausted']);
  });

  test('no cgroup is judged where the condition of the node alone is false', () => {
    const both = condition('memory.current > 1Ki & memory.available < 300Mi', 'cgroup');
    const unread: Partial<StepInput> = {
      policyReadings: () => ({
        node: { path: '', timeNs: 0n, values: new Map() },
        scopes: new Map([
          [
            'p',
            [
              {
                path: '/a',
                id: 1n,
                timeNs: 0n,
                get values(): never {
                  throw new Error('judged');
                },
              },
            ],
          ],
        ]),
      }),
    };
    expect(new Run([NOTIFY], { when: both }).uses(0, 101, unread)).toEqual([]);
    expect(() => new Run([NOTIFY], { when: both }).uses(0, 101, unread, {}, 200n)).toThrow('judged');
  });

  describe("a condition about other cgroups, as in oomd's first example", () => {
    const when = condition(
      'cgroup(/workload.slice).memory.pressure.full.avg10 > 5% & cgroup(/system.slice).memory.pressure.full.avg10 > 40%',
      'cgroup',
    );
    const pressures = (workload: number, system: number | undefined): Partial<StepInput> => {
      const of = (path: string, percent: number) => reading(path, 0n, { 'memory.pressure.full.avg10': percent });
      const named = [of('/workload.slice', workload), ...(system === undefined ? [] : [of('/system.slice', system)])];
      return { policyReadings: () => ({ scopes: new Map([['p', [reading('/a', 0n, { 'memory.current': 1 })]]]), named }) };
    };
    test.each<[workload: number, system: number | undefined, ends: boolean]>([
      [6, 41, true],
      [5, 41, false],
      [6, 40, false],
      [6, undefined, false],
    ])('%s and %s percent: %s', (workload, system, ends) => {
      const effects = new Run([KILL], { when }).uses(0, 1, pressures(workload, system));
      expect(effects).toEqual(ends ? ['evict big grace 0'] : []);
    });

    test('the reason names the cgroups', () => {
      const [notified] = new Run([NOTIFY], { when }).at(0, { 'memory.available': 500n * Mi }, {}, pressures(6, 41));
      expect(notified && 'readings' in notified ? notified.readings : undefined).toBe(
        'cgroup(/workload.slice).memory.pressure.full.avg10 6%, cgroup(/system.slice).memory.pressure.full.avg10 41%',
      );
    });

    test('a window covers the readings of earlier steps', () => {
      const grown = condition('cgroup(/b).memory.growth > 10Mi over 5s', 'cgroup');
      const run = new Run([NOTIFY], { when: grown });
      const uses = (seconds: number, mi: number) =>
        run.uses(seconds, 1, {
          policyReadings: () => ({
            scopes: new Map([['p', [reading('/a', 0n, {})]]]),
            named: [reading('/b', BigInt(seconds) * SECOND, { 'memory.current': mi * 1024 * 1024 })],
          }),
        });
      expect([uses(0, 1), uses(3, 30), uses(6, 31)]).toEqual([[], [], ['notify', 'end p: exhausted']]);
    });
  });

  test('an unknown reading interrupts the time', () => {
    const run = new Run([NOTIFY], { forNs: 2n * SECOND });
    run.uses(0, 101);
    run.uses(1, 101, { policyReadings: () => undefined });
    expect(run.uses(2, 101)).toEqual([]);
    expect(run.uses(4, 101)).toEqual(['notify', 'end p: exhausted']);
  });

  test('the ladder does not begin while the exception holds or is unknown', () => {
    const unless = condition('memory.high > 1Ki', 'cgroup');
    const run = new Run([NOTIFY], { unless });
    expect(run.uses(0, 101)).toEqual([]); // memory.high is not known
    const known = new Run([NOTIFY], { unless: condition('memory.current > 200Ki', 'cgroup') });
    expect(known.uses(0, 300)).toEqual([]);
    expect(known.uses(1, 150)).toEqual(['notify', 'end p: exhausted']);
  });

  test('a ladder that only notifies does so once until the condition has ceased', () => {
    const run = new Run([NOTIFY]);
    expect(run.uses(0, 101)).toEqual(['notify', 'end p: exhausted']);
    expect(run.uses(60, 101)).toEqual([]);
    run.uses(61, 99);
    expect(run.uses(62, 101)).toEqual(['notify', 'end p: exhausted']);
  });

  test('a scope is remembered only while that has an effect', () => {
    const run = new Run([FREEZE], { forNs: 2n * SECOND });
    const remembered = (seconds: number, kibibytes: number): number => {
      run.uses(seconds, kibibytes);
      return run.state.policies.scopes.size;
    };
    expect(remembered(0, 99)).toBe(0);
    expect(remembered(1, 101)).toBe(1); // it holds
    expect(remembered(3, 101)).toBe(1); // its ladder
    expect(remembered(4, 99)).toBe(1); // its cooldown
    expect(remembered(19, 99)).toBe(0);
    const windowed = new Run([NOTIFY], { when: condition('memory.growth > 1Gi over 10s', 'cgroup') });
    windowed.uses(0, 99);
    expect([windowed.state.policies.scopes.size, windowed.state.policies.passes.length]).toEqual([0, 1]); // the start of its window
  });

  test('a step is due again when the time has passed', () => {
    const run = new Run([NOTIFY], { forNs: SECOND / 2n });
    run.uses(0, 101);
    expect(policiesDueNs(run.policy, run.state.policies, 0n)).toBe(SECOND / 2n);
  });
});

describe('the steps of a ladder', () => {
  test('each step follows when the time of the one before is over and the condition still holds', () => {
    const run = new Run([NOTIFY, THROTTLE, FREEZE, KILL]);
    expect(run.uses(0, 101)).toEqual(['notify', 'throttle big']);
    expect(run.uses(29, 101)).toEqual([]);
    expect(run.uses(30, 101)).toEqual(['unthrottle big: time', 'freeze big']);
    expect(run.uses(35, 101)).toEqual(['thaw big: time', 'evict big grace 0']);
    expect(run.uses(36, 101, {}, ended, 800n)).toEqual(['killed big 300Mi', 'kill done']);
    expect(run.uses(37, 101, {}, {}, 800n)).toEqual([]);
    expect(run.uses(38, 101, {}, {}, 800n)).toEqual(['end p: exhausted']);
  });

  test('a throttled workload is released when the condition ceases, and no step follows', () => {
    const run = new Run([THROTTLE, KILL]);
    expect(run.uses(0, 101)).toEqual(['throttle big']);
    expect(run.uses(3, 99)).toEqual(['unthrottle big: relieved', 'end p: relieved']);
    expect(run.uses(4, 101)).toEqual([]);
  });

  test('the end of a ladder reports the time and the yield of each step', () => {
    const run = new Run([NOTIFY, THROTTLE, FREEZE]);
    const at = (seconds: number, available: bigint) =>
      run.at(seconds, { 'memory.available': available * Mi }, {}, using(101, SIZES)).at(-1);
    at(0, 500n);
    at(30, 450n);
    expect(at(35, 480n)).toMatchObject({
      kind: 'policy-end',
      gainedBytes: -20n * Mi,
      steps: [
        { action: 'notify', tookNs: 0n, gainedBytes: 0n },
        { action: 'throttle', tookNs: 30n * SECOND, gainedBytes: -50n * Mi },
        { action: 'freeze', tookNs: 5n * SECOND, gainedBytes: 30n * Mi },
      ],
    });
  });

  test('a program gets the time and the yield of each step before it', () => {
    const run = new Run([NOTIFY, THROTTLE, { kind: 'run', command: ['/bin/true'], timeoutNs: SECOND }]);
    const at = (seconds: number, available: bigint) => run.at(seconds, { 'memory.available': available * Mi }, {}, using(101, SIZES));
    at(0, 500n);
    expect(at(30, 450n).find((effect) => effect.kind === 'policy' && effect.action === 'run')).toMatchObject({
      steps: [
        { action: 'notify', tookNs: 0n, gainedBytes: 0n },
        { action: 'throttle', tookNs: 30n * SECOND, gainedBytes: -50n * Mi },
      ],
    });
  });

  test('after the end of a ladder no ladder begins for the cooldown', () => {
    const run = new Run([THROTTLE]);
    run.uses(0, 101);
    expect(run.uses(30, 101)).toEqual(['unthrottle big: time', 'end p: exhausted']);
    expect(run.uses(44, 101)).toEqual([]);
    expect(run.uses(45, 101)).toEqual(['throttle big']);
  });

  test('a step that failed is over at once', () => {
    const run = new Run([THROTTLE, FREEZE]);
    run.uses(0, 101);
    expect(run.uses(1, 101, answer('throttle', 'failed'))).toEqual(['throttle failed', 'freeze big']);
    const program = new Run([{ kind: 'run', command: ['/bin/false'], timeoutNs: 60n * SECOND }, FREEZE]);
    program.uses(0, 101);
    expect(program.uses(1, 101, answer('run', 'failed'))).toEqual(['run failed', 'freeze big']);
  });

  test('the effect of a step is judged two seconds after it was done', () => {
    const run = new Run([{ kind: 'run', command: ['/bin/true'], timeoutNs: 60n * SECOND }, FREEZE]);
    expect(run.uses(0, 101)).toEqual(['run']);
    expect(run.uses(1, 101, answer('run', 'done'))).toEqual(['run done']);
    expect(run.uses(2, 101)).toEqual([]);
    expect(run.uses(3, 101)).toEqual(['freeze big']);
  });

  test('the ladder ends after its step if the condition becomes unknown', () => {
    const run = new Run([FREEZE, KILL]);
    run.uses(0, 101);
    const unread = { policyReadings: () => undefined };
    expect(run.uses(4, 101, unread)).toEqual([]);
    expect(run.uses(5, 101, unread)).toEqual(['thaw big: unknown', 'end p: unknown']);
  });

  test('memory is reclaimed from workloads above their request, the largest excess first', () => {
    const asking = workload('small', {
      path: '/a/small',
      requests: { memory: 250n * Mi * 1_000_000_000n, ephemeralStorage: 0n, inodes: 0n },
    });
    const third = workload('third', { path: '/a/third' });
    const all = candidates([asking, 200n * Mi], [third, 100n * Mi], [big, 300n * Mi], [other, 900n * Mi]);
    const run = new Run([{ kind: 'reclaim', memoryBytes: 5n * Mi, withinNs: 5n * SECOND }], {}, {}, all);
    const [effect] = run.at(0, { 'memory.available': 500n * Mi }, {}, using(101));
    expect(effect).toMatchObject({
      action: 'reclaim',
      targets: [
        { name: 'big', excessBytes: 300n * Mi },
        { name: 'third', excessBytes: 100n * Mi },
      ],
    });
  });
});

describe('a policy that a reload changes under its name begins anew', () => {
  const reload = (run: Run, then: Parameters<typeof ofCgroup>[0], overrides: Parameters<typeof ofCgroup>[1] = {}): void => {
    run.policy = { ...run.policy, policies: [ofCgroup(then, overrides)] };
  };
  const lower = condition('memory.current > 90Ki', 'cgroup');

  test.each<[what: string, overrides: Parameters<typeof ofCgroup>[1]]>([
    ['when', { when: lower }],
    ['unless', { unless: condition('memory.current > 1Gi', 'cgroup') }],
  ])('the time for which the old `%s` held does not count', (_what, overrides) => {
    const run = new Run([NOTIFY], { forNs: 10n * SECOND });
    run.uses(0, 101);
    reload(run, [NOTIFY], { forNs: 10n * SECOND, ...overrides });
    expect(run.uses(9, 101)).toEqual([]);
    expect(run.uses(18, 101)).toEqual([]);
    expect(run.uses(19, 101)).toEqual(['notify', 'end p: exhausted']);
  });

  test('a notification of the old one does not block a kill of the new one', () => {
    const run = new Run([NOTIFY]);
    expect(run.uses(0, 101)).toEqual(['notify', 'end p: exhausted']);
    reload(run, [KILL]);
    expect(run.uses(1, 101)).toEqual([]); // the cooldown still runs
    expect(run.uses(14, 101)).toEqual([]);
    expect(run.uses(15, 101)).toEqual(['evict big grace 0']);
  });

  test('a step of the old one is over, and the workload is released', () => {
    const run = new Run([FREEZE, NOTIFY]);
    run.uses(0, 101);
    reload(run, [NOTIFY, KILL]);
    expect(run.uses(1, 101)).toEqual(['thaw big: policy-removed', 'end p: policy-removed']);
    expect(run.uses(15, 101)).toEqual([]);
    expect(run.uses(16, 101)).toEqual(['notify', 'evict big grace 0']);
  });

  test.each<[what: string, overrides: Parameters<typeof ofCgroup>[1]]>([
    ['says the same', {}],
    ['has another cooldown', { cooldownNs: 20n * SECOND }],
  ])('but goes on if it %s', (_what, overrides) => {
    const run = new Run([FREEZE, NOTIFY]);
    run.uses(0, 101);
    reload(run, [{ kind: 'freeze', forNs: 5n * SECOND }, { kind: 'notify' }], overrides);
    expect(run.uses(1, 101)).toEqual([]);
    expect(run.uses(5, 101)).toEqual(['thaw big: time', 'notify', 'end p: exhausted']);
  });
});

test('nothing that was read is kept when the last policy is removed', () => {
  const run = new Run([NOTIFY], { when: condition('memory.growth > 10Mi over 5s', 'cgroup') });
  run.uses(0, 101);
  expect(run.state.policies.passes).not.toEqual(initialState.policies.passes);
  run.policy = { ...run.policy, policies: [] };
  expect(run.uses(1, 101)).toEqual([]);
  expect(run.state.policies).toBe(initialState.policies);
});

describe('a throttled workload is released', () => {
  test('if the cgroup of the scope is removed', () => {
    const run = new Run([FREEZE]);
    run.uses(0, 101);
    expect(run.uses(1, undefined)).toEqual(['thaw big: scope-gone', 'end p: scope-gone']);
  });

  test('if the policy is removed', () => {
    const run = new Run([FREEZE]);
    run.uses(0, 101);
    run.policy = { ...run.policy, policies: [] };
    expect(run.uses(1, 101)).toEqual(['thaw big: policy-removed', 'end p: policy-removed']);
    expect(run.uses(2, 101)).toEqual([]);
  });

  test('at a shutdown of the machine', () => {
    const run = new Run([FREEZE]);
    run.uses(0, 101);
    run.policy = { ...run.policy, shuttingDown: true };
    expect(run.uses(1, 101)).toEqual(['thaw big: shutdown', 'end p: shutdown']);
  });

  test('before a hard threshold evicts the workload, in the same step', () => {
    const run = new Run([THROTTLE], {}, {}, candidates([big, 300n * Mi]));
    run.uses(0, 101);
    const kinds = run.at(1, { 'memory.available': 50n * Mi }, {}, using(101, SIZES)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'policy' || kind === 'evict')).toEqual(['policy', 'evict']);
  });

  test.each<[rule: string, freed: number, isLifted: boolean]>([
    ['does not shrink', 0, true],
    ['grows', -4096, true],
    ['shrinks by a page', 4096, true],
    ['shrinks by a little less than 1 MiB', 2 ** 20 - 4096, true],
    ['shrinks by 1 MiB', 2 ** 20, false],
  ])('if it only waits: all tasks stall, and its memory %s', (_rule, freed, isLifted) => {
    const run = new Run([THROTTLE, KILL]);
    const stalled = (seconds: number, microseconds: number): Partial<StepInput> => ({
      policyWorkloads: () => [
        {
          path: '/a/big',
          timeNs: BigInt(seconds) * SECOND,
          values: new Map([
            ['memory.current', 300 * 2 ** 20 - (seconds >= 3 ? freed : 0)],
            ['memory.pressure.full.total', microseconds],
          ]),
        },
      ],
    });
    run.uses(0, 101, stalled(0, 0));
    expect(run.uses(2, 101, stalled(2, 2_000_000))).toEqual([]);
    const lifted = ['unthrottle big: no-progress', 'evict big grace 0'];
    expect(run.uses(3, 101, stalled(3, 2_900_000))).toEqual(isLifted ? lifted : []);
  });
});

describe('evictions by a policy', () => {
  test('choose only a workload of the scope, the largest first', () => {
    expect(new Run([KILL]).uses(0, 101)).toEqual(['evict big grace 0']);
  });

  test('do not choose a protected workload', () => {
    const all = candidates([{ ...big, protection: { kind: 'critical' } }, 300n * Mi], [small, 200n * Mi]);
    expect(new Run([KILL], {}, {}, all).uses(0, 101)).toEqual(['evict small grace 0']);
  });

  test('are reported as impossible once if no workload may be evicted, and the step waits', () => {
    const all = candidates([{ ...big, protection: { kind: 'critical' } }, 300n * Mi]);
    const run = new Run([KILL], {}, {}, all);
    expect(run.uses(0, 101)).toEqual(['kill refused']);
    expect(run.uses(60, 101)).toEqual([]);
    run.candidates = ALL;
    expect(run.uses(61, 101)).toEqual(['evict big grace 0']);
  });

  test('choose the next best workload if a kill fails', () => {
    const run = new Run([KILL]);
    run.uses(0, 101);
    expect(run.uses(1, 101, {}, { 1: { processes: 1, error: 'EPERM' } })).toEqual(['failed big 0Mi', 'kill failed', 'evict small grace 0']);
  });

  test('that stop a unit keep it stopped for a minute after the grace period, though no threshold was met', () => {
    const stop = { kind: 'stop', dependants: [], triggers: [], timers: [], restarts: true, running: [], affected: [] } as const;
    const unit = workload('big', { path: '/a/big', unit: { name: 'big', manager: 'system' } });
    const run = new Run([STOP], {}, {}, { ...candidates([unit, 300n * Mi]), stop: () => stop });
    expect(run.uses(0, 101)).toContain('evict big grace 10');
    expect(run.uses(1, 50, {}, ended)).not.toContain('start big');
    expect(run.uses(69, 50)).not.toContain('start big');
    expect(run.uses(70, 50)).toContain('start big');
  });

  test('that stop a unit send SIGTERM first, and a hard threshold ends the grace period', () => {
    const run = new Run([STOP]);
    expect(run.uses(0, 101)).toEqual(['evict big grace 10']);
    expect(run.uses(1, 101, {}, { 1: {} }, 50n)).toContain('escalate: hard threshold met');
  });

  test('wait for the victim of a threshold', () => {
    const run = new Run([KILL]);
    expect(run.uses(0, 101, {}, {}, 50n).filter((said) => said.startsWith('evict'))).toEqual(['evict other grace 0']);
  });

  test('do not follow at once when a victim ended before the signal', () => {
    const run = new Run([KILL]);
    run.uses(0, 101);
    expect(run.uses(1, 101, {}, { 1: { processes: 0, usageBytes: 0n, removed: true, vanished: true } })).toEqual([
      'vanished big 0Mi',
      'kill failed',
    ]);
    expect(run.uses(2, 101)).toEqual([]);
  });

  test('come after those of a threshold: readings of policies are requested after the threshold has evicted', () => {
    const run = new Run([KILL]);
    const unread: Partial<StepInput> = {
      policyReadings: () => {
        throw new Error('read before a signal');
      },
    };
    expect(run.uses(0, 101, unread, {}, 50n)).toContain('evict other grace 0');
    expect(run.dueAtNs).toBeLessThan(SECOND / 10n);
  });

  test.each([15n, 3600n])('wait while readings may not yet show the memory that another victim has freed: %d s', (cooldown) => {
    const run = new Run([KILL], { cooldownNs: cooldown * SECOND });
    run.uses(0, 101, {}, {}, 50n);
    const evictions = (seconds: number, victims: Parameters<Run['uses']>[3] = {}): string[] =>
      run.uses(seconds, 101, {}, victims, 1400n).filter((said) => said.startsWith('evict'));
    expect(evictions(1, ended)).toEqual([]);
    expect(evictions(15)).toEqual([]);
    expect(evictions(17)).toEqual(['evict big grace 0']);
  });

  test('leave the growth since the last eviction of a threshold known', () => {
    const run = new Run([KILL]);
    run.uses(0, 101, {}, {}, 50n);
    run.uses(1, 101, {}, { 1: {} }, 50n);
    expect(run.state.baselines.size).toBe(1);
    run.uses(2, 101, {}, ended, 1400n);
    expect(run.uses(18, 101, {}, {}, 1400n)).toContain('evict big grace 0');
    expect(run.state.baselines.size).toBe(1);
  });

  test('keep a threshold from evicting a second workload while the victim of a policy is dying', () => {
    const run = new Run([KILL]);
    run.uses(0, 101);
    expect(run.uses(1, 101, {}, { 1: {} }, 50n).filter((said) => said.startsWith('evict'))).toEqual([]);
  });

  test('share the eviction budget with thresholds', () => {
    const run = new Run([KILL], { cooldownNs: 0n }, { evictionBudget: { max: 1, windowNs: 600n * SECOND, bands: [] } });
    run.uses(0, 101);
    run.uses(1, 101, {}, ended, 800n);
    run.uses(3, 101, {}, {}, 800n);
    expect(run.uses(4, 101, {}, {}, 800n)).toEqual(['kill refused']);
    expect(run.uses(5, 101, {}, {}, 50n)).toContain('alert budget-exhausted');
  });

  test('do not begin after an eviction that freed too little until the condition has ceased', () => {
    const run = new Run([KILL], { cooldownNs: 0n });
    run.uses(0, 101);
    expect(run.uses(1, 101, {}, { 1: { processes: 0, usageBytes: 300n * Mi } })).toEqual(['ineffective big 0Mi', 'kill done']);
    expect(run.uses(3, 101)).toEqual(['end p: exhausted']);
    expect(run.uses(40, 101)).toEqual([]);
    run.uses(41, 99);
    expect(run.uses(42, 101)).toEqual(['evict big grace 0']);
  });

  test('of one process evict no workload where processes cannot be read', () => {
    const run = new Run([{ ...KILL, unit: 'process' }]);
    expect(run.uses(0, 101)).toEqual(['kill refused']);
    expect(run.uses(1, 101)).toEqual([]);
  });

  test('do not happen without a workload source, nor do throttling and freezing', () => {
    expect(new Run([THROTTLE, FREEZE, KILL], {}, { hasWorkloadSource: false }).uses(0, 101)).toEqual([
      'throttle refused',
      'freeze refused',
      'kill refused',
    ]);
  });
});

describe('the reason for reclaiming no memory', () => {
  const RECLAIM = { kind: 'reclaim', memoryBytes: 5n * Mi, withinNs: 5n * SECOND } as const;
  const modest = workload('small', { path: '/a/small', requests: requesting(250n * Mi) });
  const NONE = 'no workload of the scope may be acted on';
  test.each<[why: string, found: typeof ALL, rest: Partial<Policy>, error: string]>([
    ['there is no workload source', ALL, { hasWorkloadSource: false }, 'no workload source is configured'],
    ['safe mode', ALL, { hasWorkloadSource: false, safeMode: true }, 'evictd is in safe mode after several crashes'],
    ['there is no workload in the scope', candidates([other, 900n * Mi]), {}, NONE],
    ['all workloads in the scope are protected', candidates([{ ...big, protection: { kind: 'critical' } }, 300n * Mi]), {}, NONE],
    ['no workload is above its request', candidates([modest, 200n * Mi]), {}, 'no workload of the scope is above its request'],
  ])('%s', (_why, found, rest, error) => {
    const [effect] = new Run([RECLAIM], {}, rest, found).at(0, { 'memory.available': 500n * Mi }, {}, using(101));
    expect(effect).toMatchObject({ kind: 'policy-result', action: 'reclaim', result: 'refused', error });
  });
});

describe('a dry run of a ladder', () => {
  test('takes every step in its time, and changes nothing', () => {
    const run = new Run([NOTIFY, FREEZE, KILL], {}, { dryRun: true });
    expect(run.uses(0, 101)).toEqual(['notify dry', 'freeze big dry']);
    expect(run.state.policies.restraints).toEqual([]);
    expect(run.uses(5, 101)).toEqual(['evict big grace 0 dry', 'kill dry-run']);
    expect(run.uses(7, 101)).toEqual(['end p: exhausted']);
    expect(run.uses(60, 101)).toEqual([]);
  });
});

describe('a pause by an operator', () => {
  const begin = { pause: { forNs: 60n * SECOND, reason: 'disk swap' }, bootNs: 0n } as const;
  const at = (seconds: number): Partial<StepInput> => ({ bootNs: BigInt(seconds) * SECOND });

  test('lets a ladder notify, stops it in its first other step, and the ladder continues there after the pause', () => {
    const run = new Run([NOTIFY, THROTTLE, KILL]);
    expect(run.uses(0, 99, begin)).toEqual(['pause begin']);
    expect(run.uses(1, 101, at(1))).toEqual(['notify', 'throttle refused']);
    expect(run.uses(59, 101, at(59))).toEqual([]);
    expect(run.uses(60, 101, at(60))).toEqual(['pause end', 'throttle big']);
    expect(run.uses(90, 101)).toEqual(['unthrottle big: time', 'evict big grace 0']);
  });

  test('releases throttled workloads, and their ladder begins again afterwards', () => {
    const run = new Run([NOTIFY, THROTTLE, KILL], { cooldownNs: 0n });
    expect(run.uses(0, 101)).toEqual(['notify', 'throttle big']);
    expect(run.uses(1, 101, begin)).toEqual(['pause begin', 'unthrottle big: paused', 'end p: paused']);
    expect(run.uses(2, 101, at(1))).toEqual(['notify', 'throttle refused']);
    expect(run.uses(3, 101, { resumed: {} })).toEqual(['resume', 'throttle big']);
  });

  test('of one workload releases it, and another one is chosen', () => {
    const run = new Run([THROTTLE, KILL]);
    expect(run.uses(0, 101)).toEqual(['throttle big']);
    const pause = { ...begin.pause, workload: { name: 'big', path: '/a/big' } };
    expect(run.uses(1, 101, { ...begin, pause })).toEqual(['pause begin', 'unthrottle big: paused', 'evict small grace 0']);
  });
});

describe('a victim by a rate', () => {
  /** The small one grows by 10 MiB a second, the big one not at all. */
  const at = (seconds: number, isRead = true): Partial<StepInput> => ({
    policyWorkloads: (paths) =>
      paths.flatMap((path) => {
        const mib = path === '/a/big' ? 300 : 200 + 10 * seconds;
        return isRead ? [reading(path, BigInt(seconds * 10) * (SECOND / 10n), { 'memory.current': mib * 1024 * 1024 })] : [];
      }),
  });
  const killing = (by: readonly ('growth' | 'size')[]): Run => new Run([{ kind: 'kill', unit: 'workload', recursive: false, by }]);

  test('is chosen when the rate is known, also where the condition acts at once', () => {
    const run = killing(['growth', 'size']);
    expect(run.uses(0, 101, at(0))).toEqual([]);
    expect(run.uses(0.1, 101, at(0.1))).toEqual([]); // a moment says nothing
    expect(run.uses(1, 101, at(1))).toEqual(['evict small grace 0']);
  });

  test('is waited for where only the workloads of another policy have been read for long', () => {
    const kill = ofCgroup([{ kind: 'kill', unit: 'workload', recursive: false, by: ['growth', 'size'] }]);
    const policies = [kill, ofCgroup([THROTTLE, KILL], { name: 'other', scope: { cgroup: '/b' }, cooldownNs: 30n * SECOND })];
    const run = new Run([], {}, { policies });
    const both = (seconds: number): Partial<StepInput> => ({
      policyReadings: () => ({
        scopes: new Map([
          ['p', [reading('/a', 0n, { 'memory.current': (seconds < 3 ? 100 : 101) * 1024 })]],
          ['other', [reading('/b', 0n, { 'memory.current': 101 * 1024 })]],
        ]),
      }),
      policyWorkloads: (paths) => [
        ...(at(seconds).policyWorkloads?.(paths.filter((path) => path.startsWith('/a/'))) ?? []),
        reading('/b/other', BigInt(seconds) * SECOND, { 'memory.current': 900 * 1024 * 1024 }),
      ],
    });
    const used = [0, 1, 2, 3].map((seconds) => run.uses(seconds, 0, both(seconds)).filter((text) => text.startsWith('evict')));
    expect(used).toEqual([[], [], [], []]);
    expect(run.uses(4, 0, both(4))).toContain('evict small grace 0');
  });

  test('is not waited for where another value comes first', () => {
    expect(killing(['size', 'growth']).uses(0, 101, at(0))).toEqual(['evict big grace 0']);
  });

  test('is chosen by the next comparator where the rate never becomes known', () => {
    expect(killing(['growth', 'size']).uses(0, 101, at(0, false))).toEqual(['evict big grace 0']);
    const run = killing(['growth', 'size']);
    expect([0, 1, 2].flatMap((seconds) => run.uses(seconds, 101, at(0)))).toEqual([]); // the same reading
    expect(run.uses(3, 101, at(0))).toEqual(['evict big grace 0']);
  });
});
