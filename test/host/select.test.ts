import { expect, test } from 'vitest';
import { HostError } from '../../src/errors.js';
import { selectHost, selectPlatform, selectSignals } from '../../src/host/select.js';

test.each([
  ['linux', 'linux'],
  ['win32', 'windows'],
] as const)('%s', (platform, os) => {
  expect(selectHost(platform)).toMatchObject({ os, openNode: expect.any(Function) as unknown });
});

test('a port that Windows does not have is left out, or gives the reason', async () => {
  const windows = selectHost('win32');
  expect(windows).toMatchObject({ oomKiller: undefined, kernelKills: undefined, lockText: undefined, doctor: undefined });
  expect(Object.values(windows.readHierarchies()).filter((hierarchy) => hierarchy !== undefined)).toEqual([]);
  expect(await windows.readInhibitDelay()).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('Windows') as string });
  expect(windows.openUnitManager().connect()).toBe(false);
});

test.each<[platform: NodeJS.Platform, stop: string, reload: string]>([
  ['linux', 'SIGTERM SIGINT', 'SIGHUP'],
  // The end of its console is SIGHUP there: to read the configuration again would be the last thing that it does.
  ['win32', 'SIGINT SIGBREAK SIGHUP', ''],
])('the signals that ask a process to stop and to reload: %s', (platform, stop, reload) => {
  const signals = selectSignals(platform);
  expect([signals.stop.join(' '), signals.reload.join(' ')]).toEqual([stop, reload]);
});

test.each(['darwin', 'freebsd'] as const)('%s is not supported, which is an error', (platform) => {
  expect(() => selectHost(platform)).toThrow(HostError);
  expect(() => selectHost(platform)).toThrow(expect.objectContaining({ code: 'EVICTD_HOST_PLATFORM' }));
});

test.each<[rule: string, platform: NodeJS.Platform, env: NodeJS.ProcessEnv, chosen: ReturnType<typeof selectPlatform>]>([
  ['Linux', 'linux', { ProgramData: 'D:\\' }, { os: 'linux' }],
  ['Windows', 'win32', { ProgramData: 'D:\\Data' }, { os: 'windows', programData: 'D:\\Data' }],
  ['Windows without the variable', 'win32', {}, { os: 'windows', programData: 'C:\\ProgramData' }],
  ['where evictd does not run a configuration is checked as on Linux', 'darwin', {}, { os: 'linux' }],
])('the platform of a configuration: %s', (_rule, platform, env, chosen) => {
  expect(selectPlatform(platform, env)).toEqual(chosen);
});
