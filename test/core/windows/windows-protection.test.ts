import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  PROTECTED_PROGRAMS,
  PROTECTED_SERVICES,
  serviceProtection,
  systemProtection,
  type EndableProcess,
} from '../../../src/core/windows/windows-protection.js';

const named = (name: string, given: Partial<EndableProcess> = {}): EndableProcess => ({
  pid: 200,
  name,
  critical: false,
  errno: 0,
  ...given,
});
const own = new Set([50, 40]);

test.each<[rule: string, processes: readonly EndableProcess[], protection: ReturnType<typeof systemProtection>]>([
  ['an unknown program', [named('web.exe')], undefined],
  ['evictd', [named('node.exe', { pid: 50 })], { kind: 'self' }],
  ['what evictd descends from, among others', [named('web.exe'), named('cmd.exe', { pid: 40 })], { kind: 'self' }],
  ['the system dies with it', [named('web.exe', { critical: true })], { kind: 'system', why: 'web.exe: the machine stops without it' }],
  ['a process is protected by a name in upper-case letters', [named('LSASS.EXE')], { kind: 'system', why: 'LSASS.EXE: logins need it' }],
  [
    'a name of several protects a process',
    [named('web.exe'), named('svchost.exe')],
    { kind: 'system', why: 'svchost.exe: services of Windows live in it' },
  ],
  ['the kernel, whatever its name', [named('', { pid: 4 })], { kind: 'system', why: ': the kernel' }],
  ['a process whose identity cannot be read', [named('web.exe'), named('odd.exe', { errno: 5 })], { kind: 'unlisted' }],
  [
    'a system process ranks before one that cannot be read',
    [named('odd.exe', { errno: 5 }), named('lsass.exe')],
    { kind: 'system', why: 'lsass.exe: logins need it' },
  ],
])('%s', (_rule, processes, protection) => {
  expect(systemProtection(processes, own)).toEqual(protection);
});

test.each<[rule: string, service: Parameters<typeof serviceProtection>[0], why: string | undefined]>([
  ['an unknown service', { name: 'web', ownProcess: true }, undefined],
  ['the name of the service is in the list', { name: 'SSHD', ownProcess: true }, 'SSHD: a way into the machine'],
  ['other services end with the service', { name: 'web', ownProcess: false }, 'it shares its process with other services'],
])('the protection of a service: %s', (_rule, service, why) => {
  expect(serviceProtection(service)).toEqual(why === undefined ? undefined : { kind: 'system', why });
});

test('names in the list are lower-case, and each is there once', () => {
  for (const rows of [PROTECTED_PROGRAMS, PROTECTED_SERVICES]) {
    const names = rows.flatMap((row) => row.names);
    expect(names).toEqual([...new Set(names)].map((name) => name.toLowerCase()));
  }
});

test('docs/windows.md names all protected processes and services', () => {
  const text = readFileSync('docs/windows.md', 'utf8');
  const names = [...PROTECTED_PROGRAMS, ...PROTECTED_SERVICES].flatMap((row) => row.names);
  const isNamed = (name: string): boolean => text.includes(`\`${name}\``) || text.includes(`\`${name}.exe\``);
  expect(names.filter((name) => !isNamed(name))).toEqual([]);
});
