import { expect, test } from 'vitest';
import { native } from './native.js';
import { evictd } from './program.js';
import { spawnSync } from './spawn.js';

// Under Wine every user is an administrator with the privilege, which gives access to no further process there.

test('SeDebugPrivilege is enabled if the token has it, and false if it was removed', () => {
  expect(spawnSync('build\\wine\\privilege_test.exe', { stdio: 'ignore' }).status).toBe(0);
});

test("SeDebugPrivilege may be enabled repeatedly (Wine's token has it)", () => {
  expect([native.enableDebugPrivilege(), native.enableDebugPrivilege()]).toEqual([true, true]);
});

test('doctor reports that evictd may terminate processes of all users', () => {
  const { checks } = JSON.parse(evictd('doctor', '-o', 'json').stdout) as {
    readonly checks: readonly { readonly id: string; readonly status: string; readonly summary: string; readonly details: unknown }[];
  };
  expect(checks.find(({ id }) => id === 'process.rights')).toMatchObject({
    status: 'ok',
    summary: 'evictd can end processes of all users (SeDebugPrivilege is enabled)',
    details: { canSignalOthers: true, isAdministrator: true },
  });
});
