import { expect, test } from 'vitest';
import { HostError } from '../../src/errors.js';
import { selectHost, selectPlatform } from '../../src/host/select.js';

test('Linux', () => {
  expect(selectHost('linux').openNode).toBeTypeOf('function');
});

test.each(['darwin', 'win32', 'freebsd'] as const)('%s: not yet, and said', (platform) => {
  expect(() => selectHost(platform)).toThrow(HostError);
  expect(() => selectHost(platform)).toThrow(expect.objectContaining({ code: 'EVICTD_HOST_PLATFORM' }));
});

test.each<[rule: string, platform: NodeJS.Platform, env: NodeJS.ProcessEnv, chosen: ReturnType<typeof selectPlatform>]>([
  ['Linux', 'linux', { ProgramData: 'D:\\' }, { os: 'linux' }],
  ['Windows', 'win32', { ProgramData: 'D:\\Data' }, { os: 'windows', programData: 'D:\\Data' }],
  ['Windows without the variable', 'win32', {}, { os: 'windows', programData: 'C:\\ProgramData' }],
  ['where evictd does not run a configuration is checked as Linux has it', 'darwin', {}, { os: 'linux' }],
])('what a configuration is for: %s', (_rule, platform, env, chosen) => {
  expect(selectPlatform(platform, env)).toEqual(chosen);
});
