import { describe, expect, test } from 'vitest';
import { takeOver } from '../../../src/core/decide/remembered-state.js';
import { departuresOf } from '../../../src/core/decide/departures.js';
import type { Policy } from '../../../src/core/decide/state.js';
import { thresholdMessage } from '../../../src/core/message/message.js';
import { threshold as handler } from '../../../src/monitor/effects/threshold.js';
import { candidates, Mi, policy, SECOND, threshold, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

const hard = threshold('memory.available', '100Mi');
const protectedOnly = candidates();

/** A loop that also says what is reported of its thresholds, and its alerts. */
class Reported extends Timeline {
  reported(seconds: number, mebibytes: bigint | undefined): string[] {
    return this.at(seconds, mebibytes === undefined ? {} : { 'memory.available': mebibytes * Mi }).flatMap((effect) => {
      if (effect.kind === 'threshold') return [effect.met ? 'begins' : 'ends'];
      return effect.kind === 'alert' ? [`alert ${effect.alert}`] : [];
    });
  }
}

const loop = (more: Partial<Policy> = {}): Reported => new Reported(policy([hard], more), protectedOnly);

/** From `from` on: nine times a second below the threshold and above it. */
function swinging(timeline: Reported, from: number, seconds: number): string[] {
  return Array.from({ length: seconds * 9 }, (_, swing) => {
    const at = from + swing / 9;
    return [...timeline.reported(at, 96n), ...timeline.reported(at + 0.05, 104n)];
  }).flat();
}

describe('usage that swings around a threshold', () => {
  test.each(['evictd', 'kubelet'] as const)('is one episode with one alert, however often it crosses the threshold (%s)', (profile) => {
    const timeline = loop({ departures: departuresOf(profile) });
    expect(swinging(timeline, 0, 60)).toEqual(['begins', 'alert nothing-evictable']);
    expect(timeline.state.conditions).toEqual(['MemoryPressure']);
    expect(timeline.state.episodes.size).toBe(0); // what decides follows each crossing
  });

  test('reports at its end how often the threshold was met, and for how long it has been clear', () => {
    const timeline = loop();
    swinging(timeline, 0, 60);
    const [end] = timeline.at(70, { 'memory.available': 150n * Mi });
    expect(end).toMatchObject({ kind: 'threshold', met: false, over: { timesMet: 540 } });
    if (end?.kind !== 'threshold') throw new Error('no end');
    expect(thresholdMessage(end)).toBe(
      'memory.available is back above 100Mi (hard): 150MiB available; it was met 540 times in this episode',
    );
    expect(handler.record?.(end, { wake: { source: 'tick', atNs: 0n }, timesOf: () => undefined })).toMatchObject({
      met: false,
      timesMet: 540,
      clearForSeconds: 10.061,
    });
  });

  test('causes an eviction at each crossing', () => {
    const timeline = new Timeline(policy([hard]), candidates([workload('batch'), 300n * Mi], [workload('web'), 50n * Mi]));
    expect(evicted(timeline.memory(0, 50n))).toEqual(['evict batch grace 0']);
    timeline.memory(1, 500n, { 1: { processes: 0, usageBytes: 0n } });
    expect(evicted(timeline.memory(2, 50n))).toHaveLength(1);
  });

  test('causes one decision in a dry run', () => {
    const timeline = loop({ dryRun: true });
    timeline.candidates = candidates([workload('batch'), 300n * Mi]);
    const decided = Array.from({ length: 20 }, (_, swing) => evicted(timeline.memory(swing, swing % 2 === 0 ? 50n : 500n))).flat();
    expect(decided).toEqual(['evict batch grace 0 dry']);
  });
});

describe('the end of an episode', () => {
  test.each<[rule: string, seconds: number, said: string[]]>([
    ['does not come before the threshold has been clear for 10 s', 10.999, []],
    ['comes after exactly 10 s', 11, ['ends']],
  ])('%s', (_rule, seconds, said) => {
    const timeline = loop();
    timeline.reported(0, 50n);
    timeline.reported(1, 150n);
    expect(timeline.dueAtNs).toBe(11n * SECOND);
    expect(timeline.reported(seconds, 150n)).toEqual(said);
  });

  test('is followed by a new episode with an alert of its own', () => {
    const timeline = loop();
    for (const [seconds, mebibytes] of [[0, 50n], [1, 150n], [11, 150n]] as const) timeline.reported(seconds, mebibytes); // oxfmt-ignore
    expect(timeline.reported(12, 50n)).toEqual(['begins', 'alert nothing-evictable']);
  });

  test('does not come while min reclaim is owed', () => {
    const timeline = loop();
    timeline.policy = policy([threshold('memory.available', '100Mi', { minReclaim: '100Mi' })]);
    timeline.reported(0, 50n);
    for (const seconds of [1, 20, 40]) expect(timeline.reported(seconds, 150n)).toEqual([]);
    expect([timeline.reported(41, 200n), timeline.reported(51, 200n)]).toEqual([[], ['ends']]);
  });

  test.each<[rule: string, thresholds: Policy['thresholds']]>([
    ['the configuration no longer has the threshold', [threshold('pid.available', '1')]],
    ['every threshold was removed', []],
  ])('comes at once where %s', (_rule, thresholds) => {
    const timeline = loop();
    timeline.reported(0, 50n);
    timeline.policy = policy(thresholds);
    expect(timeline.reported(1, 50n)).toEqual(['ends']);
  });

  test('comes at once where every threshold was removed, though nothing else is to be decided', () => {
    const timeline = loop({ pressureTransitionPeriodNs: 0n });
    timeline.reported(0, 50n);
    timeline.reported(1, 150n);
    timeline.policy = policy([], { pressureTransitionPeriodNs: 0n });
    expect(timeline.reported(2, 150n)).toEqual(['ends']);
  });

  test('comes 10 s after a clock that jumped back', () => {
    const timeline = loop();
    timeline.reported(100, 50n);
    timeline.reported(101, 150n);
    expect([timeline.reported(1, 150n), timeline.reported(11, 150n)]).toEqual([[], ['ends']]);
  });
});

test.each<[rule: string, sleptSeconds: number]>([
  ['an evictd that is started again continues it', 0],
  ['the sleep of the machine counts as time without pressure', 5],
])('%s', (_rule, sleptSeconds) => {
  const timeline = loop();
  timeline.reported(0, 50n);
  timeline.reported(1, 150n);
  const awayNs = BigInt(1 + sleptSeconds) * SECOND;
  timeline.state = takeOver(timeline.policy, timeline.state, { awayNs, sleptNs: BigInt(sleptSeconds) * SECOND }, 2n * SECOND).state;
  expect(timeline.reported(3, 150n)).toEqual([]);
  expect(timeline.dueAtNs).toBe(BigInt(11 - sleptSeconds) * SECOND);
  expect(timeline.reported(4, 50n)).toEqual([]); // neither a beginning nor an alert
});
