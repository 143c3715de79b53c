import { describe, expect, test } from 'vitest';
import { conditionsText, presentConditions, type PublishedConditions } from '../../../src/features/admission/published-conditions.js';

const SECOND = 1_000_000_000n;
const HOUR = 3600n * SECOND;

const published: PublishedConditions = {
  node: 'machine',
  pid: 42,
  bootId: 'this-boot',
  updatedNs: 9_007_199_254_740_993n, // more than a double holds
  updated: '2026-11-21T17:00:00.000Z',
  monitoringIntervalNs: 10n * SECOND,
  conditions: [{ type: 'MemoryPressure', since: '2026-11-21T16:59:00.000Z' }],
};
const requested = { node: 'machine', bootId: 'this-boot', nowNs: published.updatedNs };

test('published conditions are read as they were written, to the nanosecond', () => {
  expect(presentConditions(conditionsText(published), requested)).toEqual(published);
  const tainted = { ...published, taints: [{ key: 'maintenance', value: 'yes', effect: 'NoSchedule' }] } as const;
  expect(presentConditions(conditionsText(tainted), requested)).toEqual(tainted);
});

describe('published conditions hold for three intervals', () => {
  test.each<[rule: string, ageNs: bigint, holds: boolean]>([
    ['just written', 0n, true],
    ['exactly three intervals', 30n * SECOND, true],
    ['a nanosecond more', 30n * SECOND + 1n, false],
    ['a day', 24n * HOUR, false],
    ['an update from the future comes from another clock', -1n, false],
  ])('%s', (_rule, ageNs, holds) => {
    const read = () => presentConditions(conditionsText(published), { ...requested, nowNs: published.updatedNs + ageNs });
    if (holds) expect(read()).toEqual(published);
    else expect(read).toThrow(expect.objectContaining({ code: 'EVICTD_CONDITIONS_STALE' }));
  });

  test('of the interval in the file', () => {
    const text = conditionsText({ ...published, monitoringIntervalNs: HOUR });
    expect(presentConditions(text, { ...requested, nowNs: published.updatedNs + 3n * HOUR }).pid).toBe(42);
  });

  test('and the error has their age', () => {
    expect(() => presentConditions(conditionsText(published), { ...requested, nowNs: published.updatedNs + 312_450_000_000n })).toThrow(
      'the node conditions are not known: the last update by evictd (process 42) is from 2026-11-21T17:00:00.000Z: 312.4s ago, and evictd reads the node every 10.0s',
    );
  });

  test.each<[rule: string, written: string, now: string]>([
    ['the boot has changed', 'that-boot', 'this-boot'],
    ['a boot that was not known at the time of writing', '', 'this-boot'],
    ['a boot that is not known now', '', ''],
  ])('but not across a boot: %s', (_rule, written, now) => {
    const text = conditionsText({ ...published, bootId: written });
    expect(() => presentConditions(text, { ...requested, bootId: now })).toThrow(
      expect.objectContaining({ code: 'EVICTD_CONDITIONS_STALE' }),
    );
  });
});

describe('a file that does not contain published conditions', () => {
  const file = JSON.parse(conditionsText(published)) as Readonly<Record<string, unknown>>;
  test.each<[rule: string, text: string]>([
    ['nothing', ''],
    ['a part', conditionsText(published).slice(0, -20)],
    ['text that is not JSON', 'MemoryPressure'],
    ['JSON that is not an object', '[]'],
    ['null', 'null'],
    ['NULs, as a crash may leave them', '\0'.repeat(100)],
    ['another format', JSON.stringify({ ...file, format: 2 })],
    ['a condition that this version does not know', JSON.stringify({ ...file, conditions: [{ type: 'SwapPressure', since: '' }] })],
    ['conditions that are not a list', JSON.stringify({ ...file, conditions: 'MemoryPressure' })],
    ['a time as a number, which rounds it', JSON.stringify({ ...file, updatedNs: 1 })],
    ['a negative interval', JSON.stringify({ ...file, monitoringIntervalNs: '-1' })],
    ['an interval with more digits than a time has', JSON.stringify({ ...file, monitoringIntervalNs: '1'.repeat(20) })],
    ...Object.keys(file).map((key): [string, string] => [`without ${key}`, JSON.stringify({ ...file, [key]: undefined })]),
  ])('%s', (_rule, text) => {
    expect(() => presentConditions(text, requested)).toThrow(expect.objectContaining({ code: 'EVICTD_CONDITIONS_MALFORMED' }));
  });

  test('is that of another node', () => {
    expect(() => presentConditions(conditionsText(published), { ...requested, node: '/demo' })).toThrow(
      'it is about the node machine, not /demo',
    );
  });

  test('is not one with a field that a later version adds', () => {
    expect(presentConditions(JSON.stringify({ ...file, victims: 3 }), requested)).toEqual(published);
  });
});
