import { describe, expect, test } from 'vitest';
import type { Decision } from '../../../src/core/decide/eviction.js';
import {
  applyHoldChanges,
  evictionsBefore,
  holdOf,
  withEviction,
  type HoldChange,
  type StoppedUnit,
} from '../../../src/core/systemd/restart-storm.js';
import { type Hold } from '../../../src/core/systemd/unit-hold.js';
import type { UnitStop } from '../../../src/core/systemd/unit-stop.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, SECOND, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

type Stop = Extract<UnitStop, { kind: 'stop' }>;
const stop = ({ dependants = [], triggers = [], timers = [], ...what }: Partial<Stop> = {}): Stop => ({
  kind: 'stop',
  dependants,
  triggers,
  timers,
  restarts: false,
  running: [...dependants, ...triggers, ...timers],
  affected: [],
  ...what,
});
const restarting = stop({ restarts: true });

describe('units that are kept stopped', () => {
  type Row = [rule: string, means: 'stopped' | 'killed', evictions: number, stop: UnitStop, expected: string | undefined];
  test.each<Row>([
    ['killed, it restarts as it says', 'killed', 1, restarting, undefined],
    ['a killed unit restarts the second time after a minute', 'killed', 2, restarting, 'for 60 s: batch'],
    ['a killed unit restarts the third time when the condition has cleared', 'killed', 3, restarting, 'until it clears: batch'],
    ['a killed unit restarts from the third time on when the condition has cleared', 'killed', 7, restarting, 'until it clears: batch'],
    ['systemd stops it, and it would not restart by itself', 'stopped', 1, restarting, 'until it clears: batch'],
    ['a unit that never restarts is left stopped', 'stopped', 1, stop(), undefined],
    ['killed for the third time, it never restarts by itself', 'killed', 3, stop(), undefined],
    [
      'the socket of the unit is stopped with it, and started again',
      'stopped',
      1,
      stop({ triggers: ['b.socket'] }),
      'until it clears: b.socket',
    ],
    ['a timer starts it some time', 'stopped', 1, stop({ timers: ['b.timer'] }), undefined],
    ['a timer starts it all the time', 'stopped', 3, stop({ timers: ['b.timer'] }), 'until it clears: b.timer'],
    [
      'units that were stopped with it are started after it',
      'stopped',
      1,
      stop({ restarts: true, dependants: ['web'], triggers: ['b.socket'], timers: ['b.timer'] }),
      'until it clears: b.socket b.timer batch web',
    ],
    [
      'units that did not run are not started',
      'stopped',
      1,
      stop({ restarts: true, triggers: ['b.socket'], dependants: ['web'], running: [] }),
      'until it clears: batch',
    ],
    ['nothing of the unit ran', 'stopped', 1, stop({ triggers: ['b.socket'], running: [] }), undefined],
    ['systemd is not asked', 'killed', 3, { kind: 'signal', because: 'protected', unit: 'dear', affected: [] }, undefined],
  ])('%s', (_rule, means, evictions, how, expected) => {
    expect(inWords(holdOf(stopped({ evictions, stop: how, isGraceful: means === 'stopped' }), new Map(), 0n))).toBe(expected);
  });

  const [graceNs, fiveMinutesNs] = [10n * SECOND, 300n * SECOND];
  test.each<[rule: string, evictions: number, by: StoppedUnit['byPolicy'], expected: string | undefined]>([
    ['its first kill is left to systemd', 1, { graceNs: 0n, stormNs: fiveMinutesNs }, undefined],
    ['its second kill holds the unit for a minute', 2, { graceNs: 0n, stormNs: fiveMinutesNs }, 'for 60 s: batch'],
    ['a storm of kills holds it for the transition period', 3, { graceNs: 0n, stormNs: fiveMinutesNs }, 'for 300 s: batch'],
    ['a storm is never held for less than the second kill', 3, { graceNs: 0n, stormNs: 0n }, 'for 60 s: batch'],
    ['a stop holds it for a minute after the grace period', 1, { graceNs, stormNs: fiveMinutesNs }, 'for 70 s: batch'],
    ['so does the second stop', 2, { graceNs, stormNs: fiveMinutesNs }, 'for 70 s: batch'],
    ['a storm of stops holds it for the transition period', 3, { graceNs, stormNs: fiveMinutesNs }, 'for 310 s: batch'],
  ])('by a policy, which no condition ends: %s', (_rule, evictions, byPolicy, expected) => {
    const isGraceful = byPolicy !== undefined && byPolicy.graceNs > 0n;
    expect(inWords(holdOf(stopped({ evictions, stop: restarting, isGraceful, ...(byPolicy && { byPolicy }) }), new Map(), 0n))).toBe(
      expected,
    );
  });

  test('units that are still to be started from the time before are remembered', () => {
    const first = holdOf(stopped({ stop: stop({ restarts: true, triggers: ['b.socket'] }), isGraceful: true }), new Map(), 0n);
    const held = new Map(first && [['batch', first] as const]);
    // The unit was started without its socket, and not by evictd.
    expect(inWords(holdOf(stopped({ decision: 2, stop: restarting, isGraceful: true }), held, 0n))).toBe('until it clears: b.socket batch');
  });

  function stopped(what: Partial<StoppedUnit>): StoppedUnit {
    return {
      unit: 'batch',
      decision: 1,
      stop: undefined,
      evictions: 1,
      isGraceful: false,
      condition: 'MemoryPressure',
      ...what,
    };
  }

  function inWords(hold: ReturnType<typeof holdOf>): string | undefined {
    return hold && `${hold.untilNs === undefined ? 'until it clears' : `for ${String(hold.untilNs / SECOND)} s`}: ${hold.start.join(' ')}`;
  }
});

test.each<[seconds: number, before: number]>([
  [599, 1],
  [600, 0],
])('an eviction %i s ago counts as %i', (seconds, before) => {
  const unitEvictions = withEviction(new Map(), '/batch', 0n);
  expect(evictionsBefore('/batch', { unitEvictions }, BigInt(seconds) * SECOND)).toBe(before);
  expect(evictionsBefore('/other', { unitEvictions }, 0n)).toBe(0);
  expect([...withEviction(unitEvictions, '/other', BigInt(seconds) * SECOND).keys()]).toEqual(
    before === 1 ? ['/batch', '/other'] : ['/other'],
  );
});

describe('a unit that restarts repeatedly', () => {
  const hard = threshold('memory.available', '100Mi');
  const batch = workload('batch', { unit: { name: 'batch', manager: 'system' } });
  const all = (how: UnitStop): Candidates => ({ ...candidates([batch, 300n * Mi]), stop: () => how });
  const gone = (serial: number) => ({ [serial]: { processes: 0, usageBytes: 0n } });

  function storm(how: UnitStop = restarting): Timeline {
    const timeline = new Timeline(policy([hard]), all(how));
    timeline.memory(0, 50n); // the first time it is left to itself
    timeline.memory(1, 500n, gone(1));
    timeline.memory(10, 50n);
    return timeline;
  }

  test('stays stopped for a minute the second time and until the condition has cleared the third time, which is reported', () => {
    const timeline = storm();
    expect(timeline.memory(11, 500n, gone(2))).toEqual(['killed batch 300Mi', 'cleared memory.available']);
    expect(timeline.memory(69.999, 500n)).toEqual([]);
    expect(timeline.memory(70, 500n)).toEqual(['start batch']); // though the condition has not cleared
    const started = { holdChanges: new Map([['batch', 'started'] as const]) };
    expect(timeline.effects(80, { 'memory.available': 50n * Mi }, {}, started)).toContain('alert restart-storm');
    expect(timeline.memory(81, 500n, gone(3))).not.toContain('start batch');
    expect(timeline.memory(379.999, 500n)).toEqual([]);
    expect(timeline.memory(380, 500n)).toEqual(['MemoryPressure=false', 'start batch']);
    timeline.effects(381, { 'memory.available': 500n * Mi }, {}, { holdChanges: new Map([['batch', 'started']]) });
    expect(timeline.state.held.size).toBe(0);
  });

  test('whose start has no answer is started again after the answer was lost, and not before', () => {
    const timeline = storm();
    timeline.memory(11, 500n, gone(2));
    const reading = { 'memory.available': 500n * Mi };
    expect(timeline.effects(75, reading)).toContain('start batch');
    expect(timeline.effects(76, reading)).toEqual([]);
    expect(timeline.effects(77, reading, {}, { holdChanges: new Map([['batch', 'lost']]) })).toEqual(['start batch']);
  });

  test('is not started while a threshold of the condition is met', () => {
    const timeline = storm();
    timeline.candidates = candidates();
    timeline.memory(11, 500n, gone(2));
    timeline.memory(12, 50n);
    expect(timeline.memory(75, 50n)).toEqual([]);
    expect(timeline.memory(76, 500n)).toEqual(['cleared memory.available', 'start batch']);
  });

  test('is not started while systemd cannot be reached', () => {
    const timeline = storm();
    timeline.memory(11, 500n, gone(2));
    const reading = { 'memory.available': 500n * Mi };
    expect(timeline.effects(75, reading, {}, { unitsOutOfReach: true })).not.toContain('start batch');
    expect(timeline.effects(76, reading)).toContain('start batch');
  });

  test('is started when the minute is over, though nothing else happens', () => {
    const timeline = storm();
    timeline.memory(11, 500n, gone(2));
    timeline.memory(21, 500n);
    expect(timeline.dueAtNs).toBe(70n * SECOND);
  });

  test('is not kept stopped if it ended before evictd acted', () => {
    const timeline = storm();
    expect(timeline.state.held.size).toBe(1);
    timeline.memory(11, 500n, { 2: { vanished: true, processes: undefined } });
    expect(timeline.state.held.size).toBe(0);
  });

  test('is only reported in a dry run', () => {
    const timeline = new Timeline(policy([threshold('memory.available', '100Mi', { graceSeconds: 1 })], { dryRun: true }), all(restarting));
    timeline.memory(0, 50n);
    const decided = timeline.at(2, { 'memory.available': 50n * Mi }).find(({ kind }) => kind === 'evict');
    expect(decided?.kind === 'evict' && decided.decision.unit?.hold).toMatchObject({ start: ['batch'] });
    expect(timeline.state.held.size).toBe(0);
  });

  test('is reported if it cannot be kept stopped', () => {
    const timeline = storm({ kind: 'signal', because: 'protected', unit: 'dear', affected: [] });
    timeline.memory(11, 500n, gone(2));
    const [, alert] = timeline.at(80, { 'memory.available': 50n * Mi }).filter(({ kind }) => kind === 'alert' || kind === 'evict');
    const decision: Decision | undefined = alert?.kind === 'alert' ? alert.decision : undefined;
    expect(decision?.unit).toEqual({
      evictions: 3,
      stop: { kind: 'signal', because: 'protected', unit: 'dear', affected: [] },
      hold: undefined,
    });
  });
});

test.each<[news: HoldChange | undefined, start: string[]]>([
  [undefined, ['b.socket', 'batch', 'web']],
  ['lost', ['b.socket', 'batch', 'web']],
  ['started', []],
  ['not stopped', ['b.timer']],
  ['started elsewhere', ['b.socket']],
])('the state of a unit that is kept stopped, after "%s"', (news, start) => {
  const hold: Hold = {
    unit: 'batch',
    decision: 2,
    start: ['b.socket', 'batch', 'web'],
    unstarted: ['b.timer'],
    condition: 'MemoryPressure',
    untilNs: undefined,
  };
  const held = applyHoldChanges(new Map([['batch', hold]]), new Map(news && [['batch', news]]));
  expect(held.get('batch')?.start ?? []).toEqual(start);
});
