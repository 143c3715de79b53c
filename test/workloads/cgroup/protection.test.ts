import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OomPreference, Protection } from '../../../src/core/workload/workload.js';
import { heldBelow, listedProtection, protectedBelow, protectionsOf, type Protectable } from '../../../src/workloads/cgroup/protection.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const names = { isOperator: () => false, isNamedByRoot: () => true };
const at = (path: string, critical = false) => ({
  name: path.slice(1),
  path,
  effect: { critical, liftProtection: false },
  listed: undefined,
});

test.each<[rule: string, path: string, expected: string | undefined]>([
  ['critical by a rule', '/w/db', 'critical'],
  ['evictd lives below it', '/w/home', 'self'],
  ['a workload that contains a critical one', '/w', 'contains'],
  ['outside the node', '/elsewhere', 'outside'],
  ['a workload that contains a cgroup that a rule calls critical by its path, though that is not a workload', '/w/app', 'contains'],
  ['beside all that', '/w/batch', undefined],
  ['a name that only begins alike is not above', '/w/ap', undefined],
])('%s', (_rule, path, expected) => {
  const workloads = [at('/w'), at('/w/db', true), at('/w/home'), at('/w/app'), at('/w/ap'), at('/w/batch'), at('/elsewhere')];
  const protections = protectionsOf(workloads, new Set(['/w/home']), undefined, ['/w/app/main']);
  const outside = protectionsOf(workloads, new Set(), '/w', []);
  expect((expected === 'outside' ? outside : protections).get(path)?.kind).toBe(expected);
});

const unit = (path: string, { liftProtection = false, critical = false, oomPreference }: Partial<Written> = {}): Protectable => ({
  name: path.slice(path.lastIndexOf('/') + 1),
  path,
  effect: { critical, liftProtection },
  listed: listedProtection({ path, effect: { critical, liftProtection } }, names),
  oomPreference,
});
interface Written {
  readonly liftProtection: boolean;
  readonly critical: boolean;
  readonly oomPreference: OomPreference | undefined;
}

test.each<[rule: string, unit: Protectable, expected: string | undefined]>([
  ['a unit that the machine needs', unit('/system.slice/sshd.service'), 'unit'],
  ['a unit that the machine needs, in a cgroup that is not a slice of systemd', unit('/w/sshd.service'), 'unit'],
  [
    'a unit that the machine needs is not protected if a rule lifts that',
    unit('/system.slice/sshd.service', { liftProtection: true }),
    undefined,
  ],
  [
    'a lifted unit that another rule calls critical',
    unit('/system.slice/sshd.service', { liftProtection: true, critical: true }),
    'critical',
  ],
  ['process 1 whatever a rule says', unit('/init.scope', { liftProtection: true }), 'unit'],
  ['a unit that asks to be omitted', unit('/batch.slice/a.service', { oomPreference: 'omit' }), 'omit'],
  [
    'a unit that asks to be omitted, also if a rule lifts the protection of the list',
    unit('/batch.slice/a.service', { oomPreference: 'omit', liftProtection: true }),
    'omit',
  ],
  ['a unit that asks to be avoided is not protected', unit('/batch.slice/a.service', { oomPreference: 'avoid' }), undefined],
])('%s', (_rule, one, expected) => {
  expect(protectionsOf([one], new Set(), undefined, []).get(one.path)?.kind).toBe(expected);
});

test.each<[rule: string, below: Protectable, expected: string | undefined]>([
  ['a unit that the machine needs', unit('/apps.slice/sshd.service'), 'contains'],
  ['a unit that asks to be omitted', unit('/apps.slice/a.service', { oomPreference: 'omit' }), 'contains'],
  ['any other unit', unit('/apps.slice/a.service'), undefined],
])('the protection of a cgroup that contains %s', (_rule, below, expected) => {
  expect(protectionsOf([unit('/apps.slice'), below], new Set(), undefined, []).get('/apps.slice')?.kind).toBe(expected);
});

test.each<[what: string, make: (path: string) => void, units: readonly string[], expected: Protection | undefined]>([
  ['that holds no protected one', (path) => mkdirSync(path), ['batch.service'], undefined],
  ['that was removed meanwhile', (path) => symlinkSync('/nonexistent/evictd-test', path), ['batch.service'], undefined],
  [
    'whose name is that of a file',
    (path) => {
      writeFileSync(path, '');
    },
    ['batch.service'],
    undefined,
  ],
  ['that cannot be listed', (path) => symlinkSync(path, path), ['batch.service'], { kind: 'unlisted' }],
  [
    'that cannot be listed, beside a protected unit',
    (path) => symlinkSync(path, path),
    ['sshd.service'],
    { kind: 'contains', name: 'sshd.service' },
  ],
])('the protection of a slice with a protected unit in it %s', (_what, make, units, expected) => {
  const directory = temporaryDirectory();
  for (const name of units) mkdirSync(join(directory, name));
  make(join(directory, 'apps-a.slice'));
  const below = protectedBelow('/apps.slice', directory, names, () => ({ effect: { critical: false, liftProtection: false } }));
  expect(below).toEqual(expected);
});

test.each<[what: string, make: (directory: string) => void, expected: Protection | undefined]>([
  ['with too many cgroups', (directory) => makeMany(directory, 600), undefined],
  ['with the bus of the user', (directory) => mkdirSync(join(directory, 'dbus.service')), { kind: 'contains', name: 'dbus.service' }],
])("the protection of a slice in a user's manager %s", (_what, make, expected) => {
  const directory = temporaryDirectory();
  make(directory);
  let looks = 0;
  const path = '/user.slice/user-1000.slice/user@1000.service/app.slice';
  const below = protectedBelow(path, directory, names, () => {
    looks += 1;
    return { effect: { critical: false, liftProtection: false } };
  });
  expect([below, looks <= 512]).toEqual([expected, true]);
});

function makeMany(directory: string, count: number): void {
  for (let index = 0; index < count; index += 1) mkdirSync(join(directory, `u${String(index)}.service`));
}

test('a slice whose path is too long to be opened protects nothing', () => {
  const tooLong = `${temporaryDirectory()}/${'a.slice/'.repeat(600)}`;
  const below = protectedBelow('/apps.slice', tooLong, names, () => ({ effect: { critical: false, liftProtection: false } }));
  expect(below).toBeUndefined();
});

test('a victim with many cgroups is searched for pods in the nearest ones only', () => {
  const mountPoint = temporaryDirectory();
  const hierarchy = { version: 2, controller: '', mountPoint, root: '/' } as const;
  for (let index = 0; index < 600; index += 1) mkdirSync(join(mountPoint, 'w', String(index)), { recursive: true });
  let listed = 0;
  const counted = {
    isNamedByRoot: () => true,
    isOwnedByRoot: () => {
      listed += 1;
      return true;
    },
  };
  expect([heldBelow('/w', hierarchy, counted, undefined), listed]).toEqual([undefined, 512]);
  mkdirSync(join(mountPoint, 'w', 'kubepods'));
  expect(heldBelow('/w', hierarchy, counted, undefined)).toEqual({ kind: 'contains', name: 'kubepods' });
});
