import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd, evictd, scratchDirectory } from '../e2e/evictd.js';
import { eventually } from '../support/eventually.js';
import { hasSystemd, property, TestUnits } from '../support/systemd.js';
import { leaking, NODE, SLICE, small, softly } from './slice.js';

const LEAK = 'evictd-test-leak.service';
const SOCKET = 'evictd-test-leak.socket';
const FALLBACK = 'evictd-test-fallback.service';

describe.skipIf(!hasSystemd)('a systemd unit that is kept stopped (needs systemd)', () => {
  const units = new TestUnits();
  // Registered before the evictd of a test, so that evictd, which starts units again, has ended by then.
  beforeEach(() => {
    onTestFinished(() => {
      units.remove();
    });
  });

  test('is started again by `evictd restore` after SIGKILL of evictd, once', async () => {
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking({ Restart: 'always' }), 'evictd-test-other.service': small() });
    units.start('evictd-test-other.service');
    const killed = await new Evictd({ config: softly({ evictionPressureTransitionPeriod: '1h' }) }).guarding();
    units.start(LEAK);
    await killed.recorded('outcome');
    expect(await killed.stop('SIGKILL')).toBe('SIGKILL');
    expect(property(LEAK, 'ActiveState')).toBe('inactive');

    const restore = () => evictd('restore', '--config', killed.configFile, '--runtime-directory', `${killed.directory}/run`);
    const { code, stdout } = await restore();
    expect([code, stdout]).toEqual([0, expect.stringContaining(`(${LEAK}, which was kept stopped: started ${LEAK})`)]);
    await eventually('the unit is active', () => property(LEAK, 'ActiveState') === 'active');
    expect(await killed.history('release')).toMatchObject([{ node: `/${SLICE}`, decision: 1, unit: LEAK, start: [LEAK] }]);
    units.stop(LEAK);
    expect(await restore()).toMatchObject({ code: 0, stdout: 'nothing is left to undo\n' });
    expect(property(LEAK, 'ActiveState')).toBe('inactive');
  });

  test('is not started against a conflicting running unit after SIGKILL of evictd, neither by the next one nor by `evictd restore`', async () => {
    units.writeAll({
      [SLICE]: NODE,
      [LEAK]: leaking({ Restart: 'always' }, { Conflicts: FALLBACK }),
      [FALLBACK]: small(),
      'evictd-test-other.service': small(),
    });
    units.start('evictd-test-other.service');
    const directory = scratchDirectory();
    const config = softly({ evictionPressureTransitionPeriod: '1h' });
    const killed = await new Evictd({ config, directory }).guarding();
    units.start(LEAK);
    await killed.recorded('outcome');
    expect(await killed.stop('SIGKILL')).toBe('SIGKILL');
    units.start(FALLBACK);
    const states = () => [LEAK, FALLBACK].map((name) => property(name, 'ActiveState'));
    const why = `${LEAK} conflicts with ${FALLBACK}, which is running`;

    const restore = () => evictd('restore', '--config', killed.configFile, '--runtime-directory', `${directory}/run`);
    const { code, stdout } = await restore();
    const ways = `to start it: systemctl stop ${FALLBACK} && evictd restore; to leave it stopped: evictd restore --forget ${LEAK}`;
    expect([code, stdout]).toEqual([1, expect.stringContaining(`(${LEAK} is kept stopped: ${why}; ${ways})`)]);
    expect(states()).toEqual(['inactive', 'active']);
    expect(await killed.history('release')).toMatchObject([{ decision: 1, unit: LEAK, errors: [why] }]);

    const next = await new Evictd({ config: { ...config, evictionPressureTransitionPeriod: '100ms' }, directory }).guarding();
    expect((await next.logged(/EVICTD_UNIT_NOT_STARTED/)).msg).toContain(`systemctl stop ${FALLBACK} && systemctl start ${LEAK}`);
    expect(await next.stop()).toBe(0);
    expect(states()).toEqual(['inactive', 'active']);
    expect((await next.history('release')).map(({ errors }) => errors)).toEqual([[why], undefined, [why]]);
  });

  test('is kept stopped by the next evictd after SIGKILL, and started again', async () => {
    units.writeAll({
      [SLICE]: NODE,
      [LEAK]: leaking({ Restart: 'always' }),
      [SOCKET]: { Socket: { ListenStream: '/run/evictd-test-leak.sock' } },
      'evictd-test-other.service': small(),
    });
    units.start('evictd-test-other.service', SOCKET);
    const directory = scratchDirectory();
    const config = softly({ evictionPressureTransitionPeriod: '1h' });
    const first = await new Evictd({ config, directory }).guarding();
    units.start(LEAK);
    expect((await first.recorded('decision')).unit).toMatchObject({ start: [SOCKET, LEAK] });
    await first.recorded('outcome');
    expect(await first.stop('SIGKILL')).toBe('SIGKILL');

    const second = await new Evictd({ config, directory }).guarding();
    await eventually('the metric counts it', async () => (await second.metric('evictd_units_held')) === 1);
    expect([LEAK, SOCKET].map((name) => property(name, 'ActiveState'))).toEqual(['inactive', 'inactive']);
    expect(await second.stop()).toBe(0);
    expect(await second.history('release')).toMatchObject([{ decision: 1, unit: LEAK, start: [SOCKET, LEAK] }]);
    await eventually('the unit is active', () => [LEAK, SOCKET].every((name) => property(name, 'ActiveState') === 'active'));
  });
});
