import { rmSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd, scratchDirectory, victimOf, type JournalLine } from '../e2e/evictd.js';
import { dyingAt, type Moment } from '../e2e/mortal.js';
import { ON } from '../e2e/node.js';
import { hasSystemd, property, TestUnits } from '../support/systemd.js';
import { SLOWNESS } from '../support/slowness.js';
import { holding } from '../systemd/scene.js';
import { guardingSlice, leaking, MIB_HELD, NODE, SLICE, small, softly } from '../systemd/slice.js';

const LEAK = 'evictd-test-leak.service';
const OTHER = 'evictd-test-other.service';

const config = {
  hard: guardingSlice({ evictionHard: { 'memory.available': '384Mi' } }),
  /** The unit ignores SIGTERM, and systemd would wait longer than evictd. */
  soft: softly({ evictionMaxPodGracePeriod: 2 * SLOWNESS }),
} as const;
const DEAF = { ExecStart: holding(MIB_HELD).replace("-c '", `-c 'trap "" TERM; `), TimeoutStopSec: '10min' };

describe.runIf(hasSystemd)(`SIGKILL of evictd during the eviction of a systemd unit, and a restart (${ON}; needs systemd)`, () => {
  const units = new TestUnits();
  // Registered before the evictd of a test, so that evictd, which starts units again, has ended by then.
  beforeEach(() => {
    onTestFinished(() => {
      units.remove();
    });
  });

  test.each<[kind: keyof typeof config, when: Moment['when'], at: Moment['at'], results: string[]]>([
    ['hard', 'after', 'ring:decision', ['abandoned', 'killed']],
    ['hard', 'before', 'KILL', ['killed']],
    ['hard', 'after', 'state:dying', ['killed']],
    ['hard', 'before', 'journal:outcome', ['killed']],
    ['soft', 'after', 'state:decided', ['killed']],
    ['soft', 'after', 'state:terminating', ['killed']],
    ['soft', 'before', 'KILL', ['killed']],
    ['soft', 'before', 'journal:outcome', ['killed']],
  ])('evictd is killed at %s: %s %s', async (kind, when, at, results) => {
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking(kind === 'soft' ? DEAF : {}), [OTHER]: small() });
    units.start(OTHER);
    const other = property(OTHER, 'MainPID');
    const directory = scratchDirectory();
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const mortal = await new Evictd({ config: config[kind], directory, through: dyingAt(directory, { when, at }) }).guarding();
    units.start(LEAK);
    expect(await mortal.exited()).toBe('SIGKILL');

    const evictd = await new Evictd({ config: config[kind], directory }).guarding();
    const outcomes = (): JournalLine[] => evictd.journal().filter(({ type }) => type === 'outcome');
    await evictd.until('every decision has its outcome', () => outcomes().length === results.length);
    expect(await evictd.stop()).toBe(0);

    const journal = evictd.journal();
    const decisions = journal.filter(({ type }) => type === 'decision');
    expect([...decisions, ...outcomes()].map(victimOf)).toEqual(Array.from({ length: 2 * results.length }, () => LEAK));
    expect(outcomes().map(({ decision, result }) => [decision, result])).toEqual(
      decisions.map(({ decision }, index) => [decision, results[index]]),
    );
    expect(property(LEAK, 'ActiveState')).not.toBe('active');
    expect([property(OTHER, 'ActiveState'), property(OTHER, 'MainPID')]).toEqual(['active', other]);
  });
});
