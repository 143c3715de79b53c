import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd } from '../e2e/evictd.js';
import { eventually } from '../support/eventually.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { used } from './scene.js';
import { leaking, NODE, SLICE, small, softly, WITHOUT_SYSTEMD } from './slice.js';

const LEAK = 'evictd-test-leak.service';
const WITNESS = '/run/evictd-test-stopped';

describe.skipIf(!hasSystemd)('a soft eviction of a systemd unit (needs systemd)', () => {
  const units = new TestUnits();
  // Registered before the evictd of a test, so that evictd, which starts units again, has ended by then.
  beforeEach(() => {
    onTestFinished(() => {
      units.remove();
      rmSync(WITNESS, { force: true });
    });
  });

  const active = (name: string): string => property(name, 'ActiveState');
  const pid = (name: string): string => property(name, 'MainPID');
  const decisions = (evictd: Evictd): number => evictd.journal().filter(({ type }) => type === 'decision').length;

  test('by systemd stops its dependants and the units that would start it again, which come back when evictd stops', async () => {
    const [socket, path] = ['evictd-test-leak.socket', 'evictd-test-leak.path'];
    const [web, other] = ['evictd-test-web.service', 'evictd-test-other.service'];
    const stopping = `/bin/sh -c 'systemctl show --value --property=ActiveState ${LEAK} > ${WITNESS}'`;
    units.writeAll({
      [SLICE]: NODE,
      [LEAK]: leaking({ TimeoutStopSec: '50s', Restart: 'always', RestartSec: '100ms', ExecStop: stopping }),
      [socket]: { Socket: { ListenStream: '/run/evictd-test-leak.sock' } },
      [path]: { Path: { PathExists: '/run/evictd-test-nothing' } },
      [web]: small({}, { Requires: LEAK, After: LEAK }),
      [other]: small(),
    });
    units.start(other, socket, path);
    const before = pid(other);
    const evictd = await new Evictd({ config: softly() }).guarding();
    units.start(LEAK, web);
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({
      kind: 'soft',
      victim: { name: LEAK },
      action: 'systemd stop',
      graceSeconds: 50,
      unit: {
        name: LEAK,
        manager: 'system',
        evictions: 1,
        stopsWith: [web, path, socket],
        keptStopped: 'until MemoryPressure has cleared',
      },
    });
    const outcome = await evictd.recorded('outcome');
    expect(outcome).toMatchObject({ result: 'killed', stoppedWith: [path, socket, web] });
    expect(outcome).not.toHaveProperty('systemdErrors');
    expect(evictd.journal().map(({ type }) => type)).not.toContain('escalation');
    expect(readFileSync(WITNESS, 'utf8').trim()).toBe('deactivating');
    expect([LEAK, web, socket, path].map(active)).toEqual(Array.from({ length: 4 }, () => 'inactive'));
    expect(pid(other)).toBe(before);
    expect(await evictd.stop()).toBe(0);
    expect(await evictd.history('release')).toMatchObject([{ unit: LEAK, start: [path, socket, LEAK, web] }]);
    await eventually('all units are active', () => [LEAK, web, socket, path].every((name) => active(name) === 'active'));
    expect(decisions(evictd)).toBe(1);
  });

  test('does not happen if the pressure ends within the grace period', async () => {
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking(), 'evictd-test-other.service': small() });
    units.start('evictd-test-other.service');
    const evictd = await new Evictd({ config: softly({ evictionSoftGracePeriod: { 'memory.available': '1h' } }) }).guarding();
    units.start(LEAK);
    await evictd.recorded('threshold');
    units.stop(LEAK); // not by evictd
    await evictd.until('the episode ends', () => evictd.journal().some(({ type, met }) => type === 'threshold' && met === false));
    expect(decisions(evictd)).toBe(0);
    expect(active('evictd-test-other.service')).toBe('active');
  });

  test('sends SIGTERM without systemd', async () => {
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking(), 'evictd-test-other.service': small() });
    units.start('evictd-test-other.service');
    const evictd = await new Evictd({ config: softly(), through: WITHOUT_SYSTEMD }).guarding();
    await evictd.logged(/systemd does not answer/);
    units.start(LEAK);
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({ action: 'SIGTERM', unit: { name: LEAK, signalledBecause: expect.any(String) as string } });
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    await eventually('systemd has seen the end', () => active(LEAK) !== 'active');
  });

  test('sends SIGTERM to processes that systemd leaves behind', async () => {
    // systemd signals only the shell, not its two children.
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking({ KillMode: 'process' }), 'evictd-test-other.service': small() });
    units.start('evictd-test-other.service');
    const evictd = await new Evictd({ config: softly() }).guarding();
    units.start(LEAK);
    expect(await evictd.recorded('decision')).toMatchObject({ action: 'systemd stop', graceSeconds: 90 });
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    expect(evictd.journal().map(({ type }) => type)).not.toContain('escalation');
    await eventually('systemd has seen the end', () => active(LEAK) === 'inactive');
  });

  test('sends SIGTERM to a unit that a new protected unit requires, and evicts none that would stop a protected unit', async () => {
    const [bound, dear, dearer] = ['evictd-test-bound.service', 'evictd-test-dear.service', 'evictd-test-dearer.service'];
    const waiting = `/bin/sh -c 'until [ -e ${WITNESS} ]; do sleep 0.2; done; head -c 60M /dev/zero | tail -c 60M | sleep infinity'`;
    units.writeAll({
      [SLICE]: NODE,
      [bound]: leaking({}, {}, 100),
      [dearer]: small({}, { BindsTo: bound, After: bound }),
      [LEAK]: small({ ExecStart: waiting }),
    });
    units.start(bound, dearer, LEAK);
    await eventually('the unit holds its memory', () => used(bound) > 100 * 1024 * 1024);
    const evictd = await new Evictd({ config: softly({ rules: [{ match: { name: 'evictd-test-dear*' }, critical: true }] }) }).guarding();
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // evictd has read their dependants
    systemd('systemd-run', '--quiet', `--unit=${dear}`, `--property=Requires=${LEAK}`, `--property=After=${LEAK}`, 'sleep', 'infinity');
    onTestFinished(() => {
      spawnSync('systemctl', ['stop', dear]); // it may have stopped with its dependency
    });
    const before = [dear, dearer].map(pid);
    writeFileSync(WITNESS, '');
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({ victim: { name: LEAK }, action: 'SIGTERM' });
    expect(decision.unit).toMatchObject({ signalledBecause: expect.stringContaining(dear) as string });
    expect((decision.ranking as { name: string; protected?: string; protectedBecause?: string }[])[0]).toMatchObject({
      name: bound,
      protected: 'protected-dependant',
      protectedBecause: expect.stringContaining(dearer) as string,
    });
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: LEAK } });
    await eventually('systemd has seen the end', () => active(LEAK) !== 'active');
    expect([dear, dearer].map(pid)).toEqual(before);
    expect(active(bound)).toBe('active');
  });
});
