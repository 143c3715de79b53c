import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd, type JournalLine } from '../e2e/evictd.js';
import { eventually } from '../support/eventually.js';
import { hasSystemd, property, TestUnits } from '../support/systemd.js';
import { guardingSlice, leaking, NODE, SLICE, small } from './slice.js';

const LEAK = 'evictd-test-leak.service';
const TIMER = 'evictd-test-leak.timer';
const OTHER = 'evictd-test-other.service';

describe.skipIf(!hasSystemd)('a systemd unit that is evicted and comes back (needs systemd)', () => {
  const units = new TestUnits();
  // Registered before the evictd of a test, so that evictd, which starts units again, has ended by then.
  beforeEach(() => {
    onTestFinished(() => {
      units.remove();
    });
  });

  const active = (name: string): string => property(name, 'ActiveState');
  const of = (evictd: Evictd, type: string): JournalLine[] => evictd.journal().filter((line) => line.type === type);
  const reach = (evictd: Evictd, type: string, count: number): Promise<void> =>
    evictd.until(`${String(count)} × ${type}`, () => of(evictd, type).length >= count);

  test('is kept stopped for a minute the second time, until the condition clears the third time, and comes back', async () => {
    units.writeAll({
      [SLICE]: NODE,
      [LEAK]: leaking({ Restart: 'always', RestartSec: '500ms' }),
      [TIMER]: { Timer: { OnUnitInactiveSec: '1s', AccuracySec: '100ms' } },
      [OTHER]: small(),
    });
    units.start(OTHER, TIMER);
    const before = property(OTHER, 'MainPID');
    const config = guardingSlice({ evictionHard: { 'memory.available': '384Mi' }, evictionPressureTransitionPeriod: '3s' });
    const evictd = await new Evictd({ config }).guarding();
    units.start(LEAK);

    // The first time systemd starts it again, the second time evictd keeps it stopped.
    await reach(evictd, 'decision', 2);
    expect(of(evictd, 'decision').map(({ unit }) => unit)).toMatchObject([{ evictions: 1 }, { evictions: 2, keptStopped: 'back-off' }]);
    expect(of(evictd, 'decision')[0]?.unit).not.toHaveProperty('keptStopped');
    const heldAtMs = Date.now();
    await eventually('the unit and its timer are stopped', () => active(LEAK) !== 'active' && active(TIMER) === 'inactive');

    // Released after a minute, it is evicted a third time: a restart storm.
    await evictd.until('the unit is released', () => of(evictd, 'release').length === 1, 90_000);
    expect(Date.now() - heldAtMs).toBeGreaterThan(45_000);
    await reach(evictd, 'decision', 3);
    expect(of(evictd, 'decision')[2]).toMatchObject({
      action: 'SIGKILL',
      unit: { evictions: 3, keptStopped: 'until MemoryPressure has cleared', start: [TIMER, LEAK] },
    });
    expect(await evictd.recorded('alert')).toMatchObject({ alert: 'restart-storm', victim: { name: LEAK }, evictions: 3 });

    // It comes back when the condition clears.
    await reach(evictd, 'release', 2);
    const journal = evictd.journal();
    const released = journal.findLastIndex(({ type }) => type === 'release');
    const alert = journal.findIndex(({ type }) => type === 'alert');
    expect(journal.slice(alert, released).some(({ type, status }) => type === 'condition' && status === false)).toBe(true);
    await reach(evictd, 'decision', 4);
    await reach(evictd, 'outcome', 4);
    expect(of(evictd, 'outcome').map(({ result, victim }) => [result, (victim as { name: string }).name])).toEqual(
      Array.from({ length: 4 }, () => ['killed', LEAK]),
    );
    expect(property(OTHER, 'MainPID')).toBe(before);
  });
});
