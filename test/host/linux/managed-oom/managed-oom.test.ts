import { chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openManagedOom, SystemdManagedOom } from '../../../../src/host/linux/managed-oom/managed-oom.js';
import { unitPath } from '../../../../src/host/linux/systemd/units/unit-reading.js';
import { eventually } from '../../../support/eventually.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { BusPeer } from '../systemd/bus-peer.js';

/** A service manager with these units, all with ManagedOOMSwap=kill, by name: their cgroups. */
async function manager(units: Record<string, string>): Promise<BusPeer> {
  const peer = await BusPeer.open();
  peer.answer = ({ member, path = '', body = [] }) => {
    if (member === 'ListUnitsByPatterns') {
      const rows = Object.keys(units).map((name) => [name, '', 'loaded', 'active', 'running', '', unitPath(name), 0, '', '/']);
      return { signature: 'a(ssssssouso)', body: [rows] };
    }
    if (member !== 'Get') return { signature: '', body: [] };
    const [, cgroup = ''] = Object.entries(units).find(([name]) => unitPath(name) === path) ?? [];
    if (body[1] === 'ManagedOOMSwap') return { signature: 'v', body: [['s', cgroup === '' ? 'auto' : 'kill']] };
    if (body[1] === 'ControlGroup') return { signature: 'v', body: [['s', cgroup]] };
    return { error: 'org.freedesktop.DBus.Error.UnknownProperty' };
  };
  return peer;
}

interface Scene {
  readonly directory: string;
  readonly managed: SystemdManagedOom;
}
function scene({ path }: BusPeer, users: Readonly<Record<number, BusPeer>> = {}): Scene {
  const directory = temporaryDirectory();
  mkdirSync(`${directory}/user/none`, { recursive: true });
  mkdirSync(`${directory}/cgroup`);
  for (const [uid, peer] of Object.entries(users)) runs(directory, uid, peer);
  const managed = new SystemdManagedOom({
    system: [{ path, daemon: false }],
    runtime: `${directory}/user`,
    mount: `${directory}/cgroup`,
    root: directory,
  });
  onTestFinished(() => {
    managed.close();
  });
  return { directory, managed };
}
function runs(directory: string, uid: string, { path }: BusPeer): void {
  mkdirSync(`${directory}/user/${uid}/systemd`, { recursive: true });
  symlinkSync(path, `${directory}/user/${uid}/systemd/private`);
}
const below = (uid: number, unit: string): string => `/user.slice/user-${String(uid)}.slice/user@${String(uid)}.service/${unit}`;
const paths = ({ managed }: Scene): readonly string[] | undefined => managed.read()?.units.map(({ path }) => path);

test('the units of the system are known before those of users', async () => {
  const found = scene(await manager({ 'a.slice': '/a.slice' }));
  await eventually('systemd has answered', () => found.managed.read());
  expect(paths(found)).toEqual(['/a.slice']);
  expect(found.managed.read()?.isLeftToOomd).toBe(false);
});

test('managed units are left to systemd-oomd while it runs', async () => {
  const found = scene(await manager({ 'a.slice': '/a.slice', 'systemd-oomd.service': '' }));
  await eventually('systemd has answered', () => found.managed.read());
  expect(found.managed.read()?.isLeftToOomd).toBe(true);
});

test('no unit is known before systemd has answered', async () => {
  const peer = await BusPeer.open();
  peer.answer = () => undefined;
  const found = scene(peer);
  await eventually('it was asked', () => peer.calls.length > 0);
  expect(found.managed.read()).toBeUndefined();
});

describe.runIf(process.getuid?.() === 0)('units of users', () => {
  test('count for cgroups of that user below the manager, as users log in and out', async () => {
    const user = await manager({
      'mine.slice': below(1000, 'mine.slice'),
      'roots.slice': below(1000, 'roots.slice'),
      'sys.slice': '/system.slice',
    });
    const found = scene(await manager({}), { 1000: user });
    for (const path of [below(1000, 'mine.slice'), below(1000, 'roots.slice'), '/system.slice'])
      mkdirSync(`${found.directory}/cgroup${path}`, { recursive: true });
    for (const path of [below(1000, 'mine.slice'), '/system.slice']) chownSync(`${found.directory}/cgroup${path}`, 1000, 1000);
    await eventually('the user’s are known', () => paths(found)?.length === 1);
    expect(paths(found)).toEqual([below(1000, 'mine.slice')]);
    rmSync(`${found.directory}/user/1000`, { recursive: true });
    found.managed.look(process.hrtime.bigint());
    expect(paths(found)).toEqual([]);
  });

  test('of a user who logs in later are found at a tick', async () => {
    const found = scene(await manager({}));
    await eventually('systemd has answered', () => found.managed.read());
    const path = below(1001, 'app.slice');
    mkdirSync(`${found.directory}/cgroup${path}`, { recursive: true });
    chownSync(`${found.directory}/cgroup${path}`, 1001, 1001);
    runs(found.directory, '1001', await manager({ 'app.slice': path }));
    found.managed.look(process.hrtime.bigint());
    await eventually('they are found', () => paths(found)?.length === 1);
  });
});

test('files of systemd-oomd are read again at a tick', async () => {
  const found = scene(await manager({}));
  await eventually('systemd has answered', () => found.managed.read());
  mkdirSync(`${found.directory}/etc/systemd/oomd/rules.d`, { recursive: true });
  writeFileSync(`${found.directory}/etc/systemd/oomd/rules.d/a.oomrule`, '[Rule]\nMemoryPressureAbove=1%\nAction=kill-all\n');
  found.managed.look(process.hrtime.bigint());
  expect(found.managed.read()?.rules.map(({ name }) => name)).toEqual(['a']);
});

test('a systemd that does not answer is a problem', async () => {
  const peer = await BusPeer.open();
  peer.admits = false;
  const found = scene(peer);
  await eventually('it was refused', () => found.managed.problems().length > 0);
  expect(found.managed.problems().map(({ code }) => code)).toEqual(['EVICTD_SYSTEMD_UNREACHABLE']);
});

test.each([
  ['cgroup v1', { version: 1, controller: 'memory', mountPoint: '/x', root: '/' } as const],
  ['a missing memory controller', undefined],
])('%s leaves all units unmanaged, which is a problem', (_rule, memory) => {
  const managed = openManagedOom(memory);
  expect(managed.read()?.units).toEqual([]);
  expect(managed.problems().map(({ code, message }) => [code, message.includes('cgroup v2')])).toEqual([['EVICTD_MANAGED_OOM_NONE', true]]);
});
