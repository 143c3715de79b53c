import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { installSteps } from '../../../../src/features/install/systemd/install-steps.js';
import { logindSteps, type LogindRequest } from '../../../../src/features/install/systemd/logind.js';
import { take } from '../../../../src/features/install/install-step.js';
import { uninstallSteps } from '../../../../src/features/install/systemd/uninstall-steps.js';
import { playedMachine, put, request, reported, uninstallRequest } from '../machine.js';

const DROP_IN = 'etc/systemd/logind.conf.d/zz-evictd.conf';
const HUP = 'run systemctl kill --signal=HUP systemd-logind.service';
const THIRTY = 'InhibitDelayMaxSec=30';

const requested = (change: Partial<LogindRequest> = {}): LogindRequest => ({ wanted: false, setting: THIRTY, suffices: false, ...change });

describe('the logind drop-in of evictd', () => {
  test.each<[rule: string, present: string | undefined, change: Partial<LogindRequest>, steps: readonly string[]]>([
    ['was not requested', undefined, {}, []],
    ['asked for', undefined, { wanted: true }, [`write ${DROP_IN}`, HUP]],
    ['asked for, and what logind has is not known', undefined, { wanted: true, suffices: undefined }, [`write ${DROP_IN}`, HUP]],
    ['asked for, and not needed', undefined, { wanted: true, suffices: true }, [`keep ${DROP_IN}`]],
    ['there already', THIRTY, { suffices: true }, [`keep ${DROP_IN}`]],
    ['there already, and logind waits for less time', THIRTY, {}, [`keep ${DROP_IN}`, HUP]],
    ['there already, and what logind has is not known', THIRTY, { suffices: undefined }, [`keep ${DROP_IN}`]],
    ['there already, and the configuration asks for another time', 'InhibitDelayMaxSec=10', {}, [`write ${DROP_IN}`, HUP]],
    ['there already, and the configuration asks for none any more', THIRTY, { setting: undefined }, [`remove ${DROP_IN}`, HUP]],
  ])('%s', (_rule, present, change, steps) => {
    const { machine, at } = playedMachine();
    const path = machine.places.logindDropIn;
    if (present !== undefined)
      for (const step of logindSteps(requested({ wanted: true, setting: present }), path)) take(step, machine.systemctl);
    expect(reported(logindSteps(requested(change), path), at(''))).toEqual(steps);
  });

  test('is written by an installation, and removed with it', async () => {
    const { machine, at, ran } = playedMachine();
    for (const step of installSteps(request(machine, { logind: requested({ wanted: true }) }), machine)) take(step, machine.systemctl);
    expect(readFileSync(at(DROP_IN), 'utf8')).toMatch(/^# Written by `evictd install`.*\n\[Login]\nInhibitDelayMaxSec=30\n$/);
    ran.length = 0;
    for await (const step of uninstallSteps(uninstallRequest(machine), machine)) take(step, machine.systemctl);
    expect(existsSync(at(DROP_IN))).toBe(false);
    expect(ran).toContain(HUP.slice(4));
  });

  test('does not replace a foreign drop-in', async () => {
    const { machine, at } = playedMachine();
    put(at(DROP_IN), '[Login]\n');
    const path = machine.places.logindDropIn;
    expect(logindSteps(requested(), path)).toEqual([]);
    expect(() => logindSteps(requested({ wanted: true }), path)).toThrow(expect.objectContaining({ code: 'EVICTD_INSTALL_FOREIGN' }));
    for await (const step of uninstallSteps(uninstallRequest(machine), machine)) take(step, machine.systemctl);
    expect(existsSync(at(DROP_IN))).toBe(true);
  });

  test('is refused if the configuration needs no delay', () => {
    const { machine } = playedMachine();
    const none = request(machine, { logind: requested({ wanted: true, setting: undefined, suffices: undefined }) });
    expect(() => installSteps(none, machine)).toThrow(expect.objectContaining({ code: 'EVICTD_INSTALL_LOGIND' }));
  });
});
