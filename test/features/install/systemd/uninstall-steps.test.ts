import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { installSteps } from '../../../../src/features/install/systemd/install-steps.js';
import type { Machine } from '../../../../src/features/install/install-machine.js';
import { take, type InstallStep } from '../../../../src/features/install/install-step.js';
import { uninstallSteps, type UninstallRequest } from '../../../../src/features/install/systemd/uninstall-steps.js';
import { playedMachine, put, request, reported, uninstallRequest } from '../machine.js';

const UNITS = 'etc/systemd/system';

function installed(overrides: Partial<Machine> = {}): ReturnType<typeof playedMachine> {
  const played = playedMachine(overrides);
  const { machine, ran, at } = played;
  for (const step of installSteps(request(machine, { now: true }), machine)) take(step, machine.systemctl);
  put(at('run/evictd/machine.lock'), '42\n');
  put(at('var/lib/evictd/journal.jsonl'), '');
  ran.length = 0;
  return played;
}

/** Taken, unless it is a dry run. */
async function uninstalled(machine: Machine, overrides: Partial<UninstallRequest> = {}): Promise<InstallStep[]> {
  const steps: InstallStep[] = [];
  for await (const step of uninstallSteps(uninstallRequest(machine, overrides), machine)) {
    if (overrides.dryRun !== true) take(step, machine.systemctl);
    steps.push(step);
  }
  return steps;
}

test('uninstall stops evictd, removes units and runtime directory, and keeps and lists configuration and journal', async () => {
  const { machine, ran, at } = installed();
  put(at(`${UNITS}/evictd.service.d/mine.conf`), '');
  expect(reported(await uninstalled(machine), at(''))).toEqual([
    'run systemctl disable --now evictd.service',
    'run systemctl stop evictd.slice',
    `remove ${UNITS}/evictd.service`,
    `remove ${UNITS}/evictd.slice`,
    'run systemctl daemon-reload',
    'run systemctl reset-failed evictd.service',
    'remove run/evictd',
    'keep etc/evictd',
    `keep ${UNITS}/evictd.service.d`,
    'keep var/lib/evictd',
  ]);
  expect(ran[0]).toBe('systemctl disable --now evictd.service'); // stopped before its unit is gone
  expect([`${UNITS}/evictd.service`, `${UNITS}/evictd.slice`, 'run/evictd'].filter((path) => existsSync(at(path)))).toEqual([]);
  expect(reported(await uninstalled(machine), at(''))).toEqual([
    'keep etc/evictd',
    `keep ${UNITS}/evictd.service.d`,
    'keep var/lib/evictd',
  ]);
});

test('uninstall lists a state directory that does not answer, without waiting', async () => {
  const { machine, at } = installed({ isThere: () => Promise.resolve(undefined) });
  const why = 'the journal, perhaps: the directory does not answer';
  expect((await uninstalled(machine)).at(-1)).toEqual({ action: 'keep', path: at('var/lib/evictd'), why });
});

test('a dry run of uninstall changes nothing, and does not count the service that it would stop', async () => {
  const restored: string[] = [];
  const restore: Machine['restore'] = ({ runtimeDirectory }) => {
    restored.push(runtimeDirectory);
    return Promise.resolve({ restored: [], unrestored: [], hangs: false });
  };
  const { machine, at } = installed({ running: () => [42], restore });
  expect(reported(await uninstalled(machine, { dryRun: true }), at(''))).toContain('remove run/evictd');
  expect([existsSync(at('run/evictd')), restored]).toEqual([true, []]);
});

test('uninstall keeps a runtime directory that another evictd uses', async () => {
  const { machine, at } = installed({ running: () => [99] });
  const steps = await uninstalled(machine);
  expect(steps).toContainEqual({ action: 'keep', path: at('run/evictd'), why: 'used by another evictd (process 99)' });
  expect(existsSync(at('run/evictd'))).toBe(true);
});

test('uninstall restores the changes of a killed evictd after the service has stopped, and then removes its directory', async () => {
  const { machine, ran, at } = installed({
    restore: () => {
      ran.push('restore');
      return Promise.resolve({ restored: ['oom_score_adj of 2 processes'], unrestored: [], hangs: false });
    },
  });
  const steps = await uninstalled(machine);
  expect(ran.slice(0, 2).concat(ran.slice(-1))).toEqual([
    'systemctl disable --now evictd.service',
    'systemctl stop evictd.slice',
    'restore',
  ]);
  expect(steps).toContainEqual({ action: 'restore', path: at('run/evictd'), what: 'oom_score_adj of 2 processes' });
  expect(existsSync(at('run/evictd'))).toBe(false);
});

test('uninstall keeps the directory while any change is not restored, and prints each reason', async () => {
  const unrestored = ['b.service is kept stopped: masked', '3 journal records: No space left'];
  const { machine, at } = installed({ restore: () => Promise.resolve({ restored: ['…'], unrestored, hangs: false }) });
  const steps = await uninstalled(machine);
  for (const why of unrestored) expect(steps).toContainEqual({ action: 'keep', path: at('run/evictd'), why, unrestored: true });
  expect(existsSync(at('run/evictd/machine.lock'))).toBe(true);
});

test('uninstall keeps a configured runtime directory, which may be shared, though no change in it is unrestored', async () => {
  const restored: string[] = [];
  const { machine, at } = installed({
    restore: ({ runtimeDirectory }) => {
      restored.push(runtimeDirectory);
      return Promise.resolve({ restored: [], unrestored: [], hangs: false });
    },
  });
  put(at('srv/run/machine.lock'), '');
  put(at('srv/state/journal.jsonl'), '');
  put(at('srv/evictd.yaml'), '');
  const { directories } = uninstallRequest(machine);
  const configured = { ...directories, runtimeDirectory: at('srv/run'), stateDirectory: at('srv/state') };
  const steps = await uninstalled(machine, { directories: configured, configFile: at('srv/evictd.yaml') });
  expect(restored).toEqual([at('run/evictd'), at('srv/run')]);
  expect(reported(steps, at('')).slice(-5)).toEqual([
    'remove run/evictd',
    'keep srv/run',
    'keep etc/evictd',
    'keep srv/evictd.yaml',
    'keep srv/state',
  ]);
  expect(existsSync(at('srv/run/machine.lock'))).toBe(true);
});

test('uninstall keeps foreign units, and stops nothing', async () => {
  const { machine, ran, at } = installed();
  put(at(`${UNITS}/evictd.service`), '[Service]\n');
  expect(reported(await uninstalled(machine), at(''))).toEqual([
    `remove ${UNITS}/evictd.slice`,
    'run systemctl daemon-reload',
    'run systemctl reset-failed evictd.service',
    'remove run/evictd',
    `keep ${UNITS}/evictd.service`,
    'keep etc/evictd',
    'keep var/lib/evictd',
  ]);
  expect(ran).toEqual(['systemctl daemon-reload', 'systemctl reset-failed evictd.service']);
});

test('a failing systemctl reset-failed does not fail the uninstallation', () => {
  const { machine } = playedMachine({ systemctl: () => ({ status: 1, output: 'not loaded' }) });
  take({ action: 'run', command: ['systemctl', 'reset-failed', 'evictd.service'], mayFail: true }, machine.systemctl);
});

test.each([
  ['uninstall', 'apt remove evictd'],
  ['install', 'systemctl enable --now evictd.service'],
])('uninstall with %s keeps what a package has installed', (what, hint) => {
  const { machine, at } = playedMachine();
  put(at('usr/lib/systemd/system/evictd.service'), '');
  expect(() => (what === 'install' ? installSteps(request(machine), machine) : uninstallSteps(uninstallRequest(machine), machine))).toThrow(
    expect.objectContaining({ code: 'EVICTD_INSTALL_PACKAGED', hint }),
  );
});

test('uninstall removes the files that install wrote before the package was installed', async () => {
  const { machine, at } = installed();
  put(at('usr/lib/systemd/system/evictd.service'), '');
  expect(reported(await uninstalled(machine), at(''))).toContain(`remove ${UNITS}/evictd.service`);
});
