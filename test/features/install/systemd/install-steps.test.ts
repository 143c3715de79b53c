import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { installSteps } from '../../../../src/features/install/systemd/install-steps.js';
import { installedConfig } from '../../../../src/features/install/systemd/starter-config.js';
import { take } from '../../../../src/features/install/install-step.js';
import { playedMachine, put, request, reported } from '../machine.js';

const SERVICE = 'etc/systemd/system/evictd.service';
const SLICE = 'etc/systemd/system/evictd.slice';
const CONFIG = 'etc/evictd/config.yaml';

describe('install', () => {
  test('writes configuration, slice and service, and reloads systemd; with --now it starts the service', () => {
    const { machine, at } = playedMachine();
    const steps = installSteps(request(machine, { now: true }), machine);
    expect(reported(steps, at(''))).toEqual([
      `write ${CONFIG}`,
      `write ${SLICE}`,
      `write ${SERVICE}`,
      'run systemctl daemon-reload',
      'run systemctl enable evictd.service',
      'run systemctl restart evictd.service',
    ]);
    for (const step of steps) take(step, machine.systemctl);
    expect(readFileSync(at(SERVICE), 'utf8')).toMatch(/^# Written by `evictd install`.*\n\[Unit]\n/);
    expect([SERVICE, CONFIG].map((path) => statSync(at(path)).mode & 0o7777)).toEqual([0o644, 0o644]);
  });

  test('changes nothing the second time, and starts nothing again', () => {
    const { machine, ran, at } = playedMachine();
    for (const step of installSteps(request(machine), machine)) take(step, machine.systemctl);
    ran.length = 0;
    const again = installSteps(request(machine, { now: true }), machine);
    expect(reported(again, at(''))).toEqual([
      `keep ${CONFIG}`,
      `keep ${SLICE}`,
      `keep ${SERVICE}`,
      'run systemctl enable evictd.service',
      'run systemctl start evictd.service',
    ]);
  });

  test('never writes to an existing configuration', () => {
    const { machine, at } = playedMachine();
    put(at(CONFIG), 'mine');
    for (const step of installSteps(request(machine), machine)) take(step, machine.systemctl);
    expect(readFileSync(at(CONFIG), 'utf8')).toBe('mine');
  });

  test('with a configuration elsewhere makes no default one, and makes its directories writable for the service', () => {
    const { machine, at } = playedMachine();
    const requested = request(machine, { configFile: '/srv/evictd.yaml', stateDirectory: at('srv/journal') });
    const steps = installSteps(requested, machine);
    expect(reported(steps, at('')).slice(0, 3)).toEqual(['make srv/journal', `write ${SLICE}`, `write ${SERVICE}`]);
    for (const step of steps) take(step, machine.systemctl);
    expect(statSync(at('srv/journal')).isDirectory()).toBe(true);
    const unit = readFileSync(at(SERVICE), 'utf8');
    expect(unit).toContain('run --config /srv/evictd.yaml $RUN_OPTIONS\n');
    expect(unit).toContain(`ReadWritePaths=-${at('srv/journal')}\n`);
  });

  test('keeps the configuration of the installed service', () => {
    const { machine, at } = playedMachine();
    const asked = { configFile: '/srv/my evictd.yaml', configDirectory: '/srv/kubelet.d' };
    const first = installSteps(request(machine, asked), machine);
    expect(installedConfig(machine.places)).toEqual({ config: undefined, configDir: undefined });
    for (const step of first) take(step, machine.systemctl);
    expect(installedConfig(machine.places)).toEqual({ config: '/srv/my evictd.yaml', configDir: '/srv/kubelet.d' });
    const again = installSteps(request(machine, { ...asked, configKept: true }), machine);
    expect(again.slice(0, 3)).toEqual([
      { action: 'keep', path: '/srv/my evictd.yaml', why: 'the service uses it; --config selects another' },
      { action: 'keep', path: at(SLICE), why: 'unchanged' },
      { action: 'keep', path: at(SERVICE), why: 'unchanged' },
    ]);
  });

  test('ignores the default configuration and that of a foreign unit', () => {
    const { machine, at } = playedMachine();
    for (const step of installSteps(request(machine), machine)) take(step, machine.systemctl);
    expect(readFileSync(at(SERVICE), 'utf8')).toContain(`run --config ${at(CONFIG)} $RUN_OPTIONS\n`);
    expect(installedConfig(machine.places)).toEqual({ config: undefined, configDir: undefined });
    writeFileSync(at(SERVICE), '[Service]\nExecStart=/bin/evictd run --config /srv/evictd.yaml\n');
    expect(installedConfig(machine.places)).toEqual({ config: undefined, configDir: undefined });
  });

  test('rewrites a unit of an older evictd, and restarts the service', () => {
    const { machine, at } = playedMachine();
    put(at(SERVICE), '# Written by `evictd install` of old\n');
    const steps = installSteps(request(machine, { now: true }), machine);
    expect(reported(steps, at(''))).toContain(`write ${SERVICE}`);
    expect(reported(steps, at('')).at(-1)).toBe('run systemctl restart evictd.service');
  });

  test.each<[rule: string, prepare: (at: (path: string) => string) => void, code: string, hint: RegExp]>([
    [
      'systemd does not run',
      (at) => {
        rmSync(at('run/systemd'), { recursive: true });
      },
      'EVICTD_INSTALL_SYSTEMD',
      /evictd run/,
    ],
    [
      'a package has the unit',
      (at) => {
        put(at('usr/lib/systemd/system/evictd.service'), '');
      },
      'EVICTD_INSTALL_PACKAGED',
      /systemctl enable/,
    ],
    [
      'a unit that evictd did not write',
      (at) => {
        writeFileSync(at(SERVICE), '[Service]\n');
      },
      'EVICTD_INSTALL_FOREIGN',
      /mv /,
    ],
    [
      'the unit is masked',
      (at) => {
        symlinkSync('/dev/null', at(SERVICE));
      },
      'EVICTD_INSTALL_FOREIGN',
      /unmask/,
    ],
    [
      'a directory in its place',
      (at) => {
        mkdirSync(at(SLICE));
      },
      'EVICTD_INSTALL_FOREIGN',
      /unmask/,
    ],
  ])('is refused without any change: %s', (_rule, prepare, code, hint) => {
    const { machine, ran, at } = playedMachine();
    prepare(at);
    expect(() => installSteps(request(machine), machine)).toThrow(
      expect.objectContaining({ code, hint: expect.stringMatching(hint) as string }),
    );
    expect(ran).toEqual([]);
  });

  test('is permitted to root only, and --dry-run to every user', () => {
    const { machine } = playedMachine({ uid: 1000 });
    expect(() => installSteps(request(machine), machine)).toThrow(expect.objectContaining({ code: 'EVICTD_INSTALL_ROOT' }));
    expect(installSteps(request(machine, { dryRun: true }), machine)).toHaveLength(5);
  });

  test('refuses a program that other users can change', () => {
    const { machine, at } = playedMachine();
    put(at('evictd.js'), '');
    const requested = request(machine, { program: ['/proc/version', at('evictd.js')] });
    expect(() => installSteps(requested, machine)).toThrow(expect.objectContaining({ code: 'EVICTD_INSTALL_UNSAFE' })); // it lies in /tmp
  });

  test('has the output of systemctl in its error', () => {
    const { machine } = playedMachine({ systemctl: () => ({ status: 1, output: 'Job for evictd.service failed.' }) });
    expect(() => {
      take({ action: 'run', command: ['systemctl', 'start', 'evictd.service'] }, machine.systemctl);
    }).toThrow(
      expect.objectContaining({
        code: 'EVICTD_INSTALL_SYSTEMCTL',
        message: 'systemctl start evictd.service failed with status 1: Job for evictd.service failed.',
      }),
    );
  });

  test('has the path in the error about a file that cannot be written', () => {
    const { machine, at } = playedMachine();
    put(at('file'), '');
    expect(() => {
      take({ action: 'write', path: at('file/evictd.service'), text: '' }, machine.systemctl);
    }).toThrow(expect.objectContaining({ code: 'EVICTD_INSTALL_FILE', message: expect.stringContaining('file/evictd.service') as string }));
  });
});
