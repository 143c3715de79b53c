import { expect, test } from 'vitest';
import { native } from './native.js';
import { evictd } from './program.js';
import { spawnSync } from './spawn.js';

// Under Wine everybody is an administrator, whose token has the privilege; it opens nobody there who was not open before.

test('SeDebugPrivilege is enabled where the token has it, and false where it was taken from it', () => {
  expect(spawnSync('build\\wine\\privilege_test.exe', { stdio: 'ignore' }).status).toBe(0);
});

test("it may be enabled again and again (Wine's token has it)", () => {
  expect([native.enableDebugPrivilege(), native.enableDebugPrivilege()]).toEqual([true, true]);
});

test('doctor says that processes of all users may be ended', () => {
  const { checks } = JSON.parse(evictd('doctor', '-o', 'json').stdout) as {
    readonly checks: readonly { readonly id: string; readonly status: string; readonly summary: string; readonly details: unknown }[];
  };
  expect(checks.find(({ id }) => id === 'process.rights')).toMatchObject({
    status: 'ok',
    summary: 'evictd can end processes of all users (SeDebugPrivilege is enabled)',
    details: { mayEndOthers: true, isAdministrator: true },
  });
});
