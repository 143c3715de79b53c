import { describe, expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { takeOver } from '../../../src/core/decide/remembered-state.js';
import { orderedThreshold, standingDecisions } from '../../../src/core/decide/standing-order.js';
import type { Policy } from '../../../src/core/decide/state.js';
import { alertMessage } from '../../../src/core/message/message.js';
import { pauseMessage } from '../../../src/core/message/pause-message.js';
import type { PauseRequest } from '../../../src/core/pause/operator-pause.js';
import { withPausedWorkloads } from '../../../src/core/pause/paused-workloads.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import { candidates, Mi, observations, policy, SECOND, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

const MINUTE = 60n * SECOND;
const SHORT = { 'memory.available': 50n * Mi };
const ALL = candidates([workload('batch'), 300n * Mi], [workload('web'), 200n * Mi]);
const HALF_AN_HOUR: PauseRequest = { forNs: 30n * MINUTE, reason: 'disk swap' };
const OF_BATCH: PauseRequest = { ...HALF_AN_HOUR, workload: { name: 'batch', path: '/batch' } };

/** The machine has slept for `sleptSeconds` when a step is made. */
const at = (seconds: number, sleptSeconds = 0): { readonly bootNs: bigint } => ({ bootNs: BigInt(seconds + sleptSeconds) * SECOND });

/** What a step says, without what it says of thresholds and conditions. */
class Run extends Timeline {
  override effects(...step: Parameters<Timeline['effects']>): string[] {
    return super.effects(...step).filter((line) => !/^met |Pressure=/.test(line));
  }
}

function timeline(overrides: Partial<Policy> = {}, all: Candidates = ALL): Timeline {
  return new Run(policy([threshold('memory.available', '100Mi')], { maxPauseNs: 240n * MINUTE, ...overrides }), all);
}

/** A pause that has begun at second 0. */
function paused(request = HALF_AN_HOUR, overrides: Partial<Policy> = {}, all?: Candidates): Timeline {
  const made = timeline(overrides, all);
  made.effects(0, { 'memory.available': 500n * Mi }, {}, { pause: request, ...at(0) });
  return made;
}

describe('a pause of all evictions', () => {
  test('raises one alert at a hard threshold, which says what would have been evicted, and evicts nothing', () => {
    const made = paused();
    const [alert] = made.at(1, SHORT, {}, at(1)).filter(({ kind }) => kind === 'alert');
    expect(alert).toMatchObject({
      alert: 'paused',
      pause: { reason: 'disk swap', wouldEvict: { victim: { workload: { name: 'batch' } } } },
    });
    expect(alert?.kind === 'alert' && alertMessage(alert)).toBe(
      'memory.available 50MiB < 100Mi (hard): an operator has paused evictions (disk swap); without the pause evictd would evict batch with SIGKILL, which uses 300MiB, has no request, priority 0',
    );
    const { asked } = made;
    expect(made.effects(2, SHORT, {}, at(2))).toEqual([]);
    expect(made.asked).toBe(asked); // no ranking for an alert that is made already
    expect(made.state.evictions).toEqual([]);
    expect(made.state.decisions).toBe(0);
  });

  test('ends with resume, and the eviction follows at once', () => {
    const made = paused();
    made.effects(1, SHORT, {}, at(1));
    expect(made.effects(2, SHORT, {}, { resumed: {} })).toEqual(['resume', 'evict batch grace 0']);
    expect(made.state.pauses.size).toBe(0);
  });

  test('ends after its time, and the eviction follows at once', () => {
    const made = paused();
    made.effects(1, SHORT, {}, at(1));
    expect(made.dueAtNs).toBeLessThanOrEqual(30n * MINUTE);
    expect(made.effects(1799, SHORT, {}, at(1799))).toEqual([]);
    expect(made.effects(1800, SHORT, {}, at(1800))).toEqual(['pause end', 'evict batch grace 0']);
  });

  test('counts the time in which the machine sleeps: a pause of 30 min is over after a night', () => {
    const made = paused();
    expect(made.effects(2, SHORT, {}, at(2, 28_800))).toEqual(['pause end', 'evict batch grace 0']);
  });

  test('makes a step due when it ends', () => {
    const made = paused();
    expect(made.dueAtNs).toBe(30n * MINUTE);
    made.effects(10, { 'memory.available': 500n * Mi }, {}, at(10, 600));
    expect(made.dueAtNs).toBe(1200n * SECOND);
  });

  test('is never longer than the configuration in force permits', () => {
    const made = paused();
    made.policy = { ...made.policy, maxPauseNs: MINUTE };
    expect(made.effects(59, SHORT, {}, at(59))).toEqual(['alert paused']);
    const [effect] = made.at(60, SHORT, {}, at(60));
    expect(effect).toMatchObject({ kind: 'pause', event: 'end', because: 'limit' });
    expect(effect?.kind === 'pause' && pauseMessage(effect)).toBe(
      'the pause of evictions is over, because pause.max is shorter (disk swap)',
    );
  });

  test('is replaced by another request', () => {
    const made = paused();
    const [begun] = made.at(60, SHORT, {}, { pause: { forNs: MINUTE, reason: 'more' }, ...at(60) });
    expect(begun?.kind === 'pause' && pauseMessage(begun)).toBe('an operator paused evictions for 1m0s: more');
    expect(made.effects(120, SHORT, {}, at(120))).toEqual(['pause end', 'evict batch grace 0']);
  });

  test('alerts again in the same episode if it is the next pause', () => {
    const made = paused({ ...HALF_AN_HOUR, forNs: MINUTE }, { hasWorkloadSource: true }, candidates([workload('web'), 200n * Mi]));
    made.effects(1, SHORT, {}, at(1));
    expect(made.effects(60, SHORT, {}, { pause: HALF_AN_HOUR, ...at(60) })).toEqual(['pause end', 'pause begin']);
    made.effects(61, SHORT, {}, { resumed: {}, ...at(61) });
    made.state = { ...made.state, evictions: [] };
    expect(made.effects(62, SHORT, {}, { pause: HALF_AN_HOUR, ...at(62) })).toEqual(['pause begin', 'alert paused']);
  });

  test('alerts again in the same episode after the one before ended by itself', () => {
    const made = paused({ ...HALF_AN_HOUR, forNs: MINUTE });
    expect(made.effects(1, SHORT, {}, at(1))).toEqual(['alert paused']);
    expect(made.effects(60, SHORT, {}, at(60))).toEqual(['pause end', 'evict batch grace 0']);
    made.state = { ...made.state, evictions: [] };
    expect(made.effects(62, SHORT, {}, { pause: HALF_AN_HOUR, ...at(62) })).toEqual(['pause begin', 'alert paused']);
  });

  test('lets an eviction in flight finish', () => {
    const soft = threshold('memory.available', '200Mi', { graceSeconds: 1 });
    const made = new Run(policy([soft, threshold('memory.available', '100Mi')]), ALL);
    const low = { 'memory.available': 150n * Mi };
    made.effects(0, low);
    expect(made.effects(1, low)).toEqual(['evict batch grace 10']);
    expect(made.effects(2, low, {}, { pause: HALF_AN_HOUR, ...at(2) })).toEqual(['pause begin']);
    expect(made.effects(12, low, { 1: {} }, at(12))).toEqual(['escalate: grace period over']);
    const ended = { 1: { processes: 0, usageBytes: 0n, removed: true } };
    made.effects(13, low, ended, at(13));
    expect(made.effects(20, low, ended, at(20))).toEqual(['ineffective batch 300Mi', 'alert paused']);
  });

  test('lets node-level reclaim run, which is not followed by an eviction', () => {
    const reclaimSteps = [{ name: 'vacuum', signals: ['nodefs.available'] as const, command: ['/bin/true'], timeoutNs: SECOND }];
    const made = new Run(policy([threshold('nodefs.available', '10%')], { reclaimSteps: reclaimSteps as never }), ALL);
    const full = { 'nodefs.available': 1n };
    expect(made.effects(0, full, {}, { pause: HALF_AN_HOUR, ...at(0) })).toEqual(['pause begin', 'reclaim vacuum']);
  });

  test('does not hide other reasons for which evictd evicts nothing', () => {
    expect(paused(HALF_AN_HOUR, { hasWorkloadSource: false }).effects(1, SHORT, {}, at(1))).toContain('alert no-workload-source');
    expect(paused(HALF_AN_HOUR, {}, candidates()).effects(1, SHORT, {}, at(1))).toContain('alert nothing-evictable');
  });

  test('has the same alert in a dry run', () => {
    const made = paused(HALF_AN_HOUR, { dryRun: true });
    expect(made.effects(1, SHORT, {}, at(1))).toEqual(['alert paused']);
    expect(made.effects(2, SHORT, {}, { resumed: {} })).toEqual(['resume', 'evict batch grace 0 dry']);
  });

  test('outlasts a restart, also in the profile kubelet', () => {
    const made = paused();
    for (const compatibility of ['evictd', 'kubelet'] as const) {
      const next = { ...made.policy, departures: departuresOf(compatibility) };
      const { state } = takeOver(next, made.state, { awayNs: 5n * SECOND, sleptNs: 0n }, 5n * SECOND);
      expect(state.pauses).toEqual(made.state.pauses);
    }
  });

  test('has no standing order', () => {
    const near = observations(SECOND, { 'memory.available': 150n * Mi });
    const orders = ({ policy: of, state }: Timeline): readonly string[] => {
      const ordered = orderedThreshold(of, near);
      if (ordered === undefined) throw new Error('no threshold has orders');
      const input = { nowNs: SECOND, layout: 'single', observations: near, candidates: ALL } as const;
      return standingDecisions(of, state, ordered, input).map(({ victim }) => victim.workload.name);
    };
    expect(orders(timeline())).toEqual(['batch', 'web']);
    expect(orders(paused())).toEqual([]);
    expect(orders(paused(OF_BATCH))).toEqual(['web']);
  });
});

describe('a pause of one workload', () => {
  test('lets another workload be evicted, and the ranking says why', () => {
    const made = paused(OF_BATCH);
    const [evict] = made.at(1, SHORT, {}, at(1)).filter(({ kind }) => kind === 'evict');
    expect(evict).toMatchObject({
      decision: { victim: { workload: { name: 'web' } }, ranking: [{ protection: { kind: 'paused', reason: 'disk swap' } }, {}] },
    });
  });

  test('ends by itself', () => {
    const made = paused(OF_BATCH);
    expect(made.effects(1800, SHORT, {}, at(1800))).toEqual(['pause end', 'evict batch grace 0']);
  });

  test('holds for the workload after it was started again, and beside a pause of everything', () => {
    const made = paused(OF_BATCH, {}, candidates([workload('batch', { id: 'another' }), 300n * Mi]));
    expect(made.effects(1, SHORT, {}, at(1))).toContain('alert nothing-evictable');
    made.effects(2, SHORT, {}, { pause: { ...HALF_AN_HOUR, forNs: MINUTE }, ...at(2) });
    expect([...made.state.pauses.keys()]).toEqual(['/batch', '']);
    expect(made.effects(62, SHORT, {}, at(62))).toEqual(['pause end']);
    expect([...made.state.pauses.keys()]).toEqual(['/batch']);
  });

  test.each<[rule: string, path: string, protection: string | undefined]>([
    ['the workload', '/a/b', 'paused'],
    ['a workload in the paused one is paused', '/a/b/c', 'paused'],
    ['a workload that contains the paused one is protected', '/a', 'contains'],
    ['a workload with a similar name is not protected', '/a/bc', undefined],
  ])('protects the workload and what overlaps it: %s', (_rule, path, protection) => {
    const pauses = paused({ ...HALF_AN_HOUR, workload: { name: 'b', path: '/a/b' } }).state.pauses;
    const found = withPausedWorkloads({ candidates: () => candidates([workload('x', { path }), 1n]) }, pauses).candidates();
    expect(found.usages[0]?.workload.protection?.kind).toBe(protection);
  });

  test('does not change what a pass measures', () => {
    const { pauses } = paused(OF_BATCH).state;
    const usages = [...ALL.usages];
    const measure: Candidates['measure'] = (asked) => {
      const index = usages.findIndex((usage) => usage.workload === asked);
      const stats = { ...usages[index]?.stats, workingSetBytes: 7n } as never;
      usages[index] = { workload: asked, stats };
      return stats;
    };
    const found = withPausedWorkloads({ candidates: () => ({ ...ALL, usages, measure }) }, pauses).candidates();
    for (const { workload: item } of [...found.usages]) expect(found.measure(item)).toMatchObject({ workingSetBytes: 7n });
    expect(found.usages).toMatchObject([
      { workload: { name: 'batch', protection: { kind: 'paused' } }, stats: { workingSetBytes: 7n } },
      { workload: { name: 'web', protection: undefined }, stats: { workingSetBytes: 7n } },
    ]);
  });
});
