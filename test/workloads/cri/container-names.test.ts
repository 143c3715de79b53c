import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Rule } from '../../../src/core/workload/rule.js';
import type { WorkloadSourceSpec } from '../../../src/workloads/kinds/source-spec.js';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { compileRules } from '../../../src/workloads/workload-rules.js';
import { ContainerNames } from '../../../src/workloads/cri/container-names.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];
const CONFIG = `containers/${A}/config.v2.json`;
const WEB = '{"Name": "/web"}';
const LIST = JSON.stringify([{ id: A, names: ['web'] }]);
/** A user's list of containers that is read. */
const LARGEST = 4 * 1024 * 1024;
const STORAGE = '[storage]\ndriver = "overlay"\n  graphroot = "/srv/pods"\n';
const USER = 4242;
const ROOT = (): number => 0;
const docker = (id: string): string => `/system.slice/docker-${id}.scope`;
const podman = (id: string): string => `/machine.slice/libpod-${id}.scope`;

let root: string;
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const PODMAN = 'var/lib/containers/storage/overlay-containers';

beforeEach(() => {
  root = temporaryDirectory();
});

describe.each([true, false])('names of containers, which are read at once: %s', (waits) => {
  const nameOf = async (path: string): Promise<string | undefined> => {
    const names = new ContainerNames(waits, root);
    const first = names.of(path, ROOT);
    if (waits) return first;
    expect(first).toBeUndefined();
    await eventually('it is known', () => names.found().includes(path));
    return names.of(path, ROOT);
  };

  test('are read for Docker', async () => {
    write(`var/lib/docker/containers/${A}/config.v2.json`, JSON.stringify({ ID: A, Name: '/web', Config: {} }));
    expect(await nameOf(docker(A))).toBe('web');
    expect(await nameOf(`/docker/${A}`)).toBe('web');
  });

  test.each(['containers.json', 'volatile-containers.json'])('are read for Podman, in %s', async (file) => {
    write(
      `${PODMAN}/${file}`,
      JSON.stringify([
        { id: B, names: ['other'] },
        { id: A, names: ['db', 'alias'] },
      ]),
    );
    expect(await nameOf(podman(A))).toBe('db');
  });
});

test.each<[rule: string, text: string]>([
  ['text that is not JSON', '{"Name": "/we'],
  ['a null', 'null'],
  ['a missing name', '{}'],
  ['an empty name', '{"Name": "/"}'],
  ['a name that is not text', '{"Name": 1}'],
])('a container with %s has the name of its cgroup', (_rule, text) => {
  write(`var/lib/docker/containers/${A}/config.v2.json`, text);
  expect(new ContainerNames(true, root).of(docker(A), ROOT)).toBeUndefined();
});

test.each(['null', '{}', '[null]', '[{"id": 1}]', JSON.stringify([{ id: A }]), JSON.stringify([{ id: A, names: [] }])])(
  'the name that Podman states is used: %s',
  (text) => {
    write(`${PODMAN}/containers.json`, text);
    expect(new ContainerNames(true, root).of(podman(A), ROOT)).toBeUndefined();
  },
);

test('a name is read once, found or not', () => {
  const names = new ContainerNames(true, root);
  expect(names.of(docker(A), ROOT)).toBeUndefined();
  write(`var/lib/docker/containers/${A}/config.v2.json`, '{"Name": "/web"}');
  expect(names.of(docker(A), ROOT)).toBeUndefined();
});

test('a container that was renamed has its new name when all names are read again', async () => {
  const file = `var/lib/docker/containers/${A}/config.v2.json`;
  write(file, '{"Name": "/web"}');
  const names = new ContainerNames(false, root);
  names.of(docker(A), ROOT);
  await eventually('it is known', () => names.of(docker(A), ROOT) === 'web');
  expect(names.found()).toEqual([docker(A)]);
  write(file, '{"Name": "/db"}');
  names.renew();
  expect([names.of(docker(A), ROOT), names.missing(docker(A))]).toEqual(['web', undefined]);
  await eventually('it is known', () => names.of(docker(A), ROOT) === 'db');
  expect(names.found()).toEqual([docker(A)]);
});

test('a disk that hangs leaves no name pending for longer than five seconds', async () => {
  const file = `var/lib/docker/containers/${A}/config.v2.json`;
  mkdirSync(dirname(join(root, file)), { recursive: true });
  execFileSync('mkfifo', [join(root, file)]); // a reader blocks until there is a writer
  const names = new ContainerNames(false, root);
  names.of(docker(A), ROOT);
  const nowNs = process.hrtime.bigint();
  const clock = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(nowNs);
  const first = names.missing(docker(A));
  clock.mockReturnValue(nowNs + 5_000_000_000n);
  const last = names.missing(docker(A));
  clock.mockRestore();
  await writeFile(join(root, file), '{"Name": "/web"}'); // before anything can fail: it would wait for ever
  expect([first, last]).toEqual(['pending', 'lost']);
  await eventually('it is known all the same', () => names.of(docker(A), ROOT) === 'web');
});

test('a cgroup that is not a container has no name', () => {
  expect(new ContainerNames(true, root).of('/system.slice/web.service', ROOT)).toBeUndefined();
});

test('a rule matches a container by its name, and by that of its cgroup', () => {
  const matches = (name: string, path: string, pattern: string): boolean =>
    compileRules([{ match: { name: pattern } }])({ name, path }).matched.length === 1;
  expect(matches('web', docker(A), 'web')).toBe(true);
  expect(matches('web', docker(A), 'docker-*.scope')).toBe(true);
  expect(matches('web', docker(A), 'docker-*')).toBe(true);
  expect(matches('web', docker(A), 'db')).toBe(false);
  expect(matches('web', '/system.slice/docker-x.scope', 'docker-*')).toBe(false);
  expect(matches('lxc.payload.web', '/lxc.payload.web', 'web')).toBe(true);
  expect(matches('lxc.payload.web', '/lxc.payload.web', 'payload*')).toBe(false);
});

describe('the state directories of the runtimes', () => {
  test.each<[rule: string, files: Readonly<Record<string, string>>]>([
    ['data-root of daemon.json', { 'etc/docker/daemon.json': '{"data-root": "/srv/docker"}', [`srv/docker/${CONFIG}`]: WEB }],
    ['graph, its older name', { 'etc/docker/daemon.json': '{"graph": "/srv/docker"}', [`srv/docker/${CONFIG}`]: WEB }],
    ['the snap', { [`var/snap/docker/common/var-lib-docker/${CONFIG}`]: WEB }],
    [
      'the configuration of the snap',
      { 'var/snap/docker/current/config/daemon.json': '{"data-root": "/srv/d"}', [`srv/d/${CONFIG}`]: WEB },
    ],
    ['userns-remap', { [`var/lib/docker/231072.231072/${CONFIG}`]: WEB }],
    [
      'userns-remap in another root',
      { 'etc/docker/daemon.json': '{"data-root": "/srv/docker"}', [`srv/docker/100000.100000/${CONFIG}`]: WEB },
    ],
    [
      'the command line of dockerd',
      { 'run/docker.pid': '17', 'proc/17/cmdline': 'dockerd\0-H\0fd://\0--data-root\0/srv/d\0', [`srv/d/${CONFIG}`]: WEB },
    ],
    [
      'the command line of dockerd, written with =',
      { 'run/docker.pid': '17\n', 'proc/17/cmdline': 'dockerd\0--data-root=/srv/d\0', [`srv/d/${CONFIG}`]: WEB },
    ],
    [
      'the command line of dockerd, as -g/path',
      { 'run/docker.pid': '17', 'proc/17/cmdline': 'dockerd\0-g/srv/d\0', [`srv/d/${CONFIG}`]: WEB },
    ],
    [
      'another configuration of dockerd',
      {
        ...{ 'run/docker.pid': '17', 'proc/17/cmdline': 'dockerd\0--config-file=/opt/d.json\0' },
        ...{ 'opt/d.json': '{"data-root": "/srv/d/"}', [`srv/d/${CONFIG}`]: WEB },
      },
    ],
    ['a byte-order mark', { 'etc/docker/daemon.json': '\uFEFF{"data-root": "/srv/d"}', [`srv/d/${CONFIG}`]: WEB }],
    ['a daemon.json that is not valid', { 'etc/docker/daemon.json': '{', [`var/lib/docker/${CONFIG}`]: WEB }],
  ])('are found for Docker: %s', (_rule, files) => {
    for (const [path, text] of Object.entries(files)) write(path, text);
    expect(new ContainerNames(true, root).of(docker(A), ROOT)).toBe('web');
  });

  test.each<[rule: string, files: Readonly<Record<string, string>>]>([
    ['graphroot', { 'etc/containers/storage.conf': STORAGE, 'srv/pods/overlay-containers/containers.json': LIST }],
    ["the distribution's", { 'usr/share/containers/storage.conf': STORAGE, 'srv/pods/overlay-containers/containers.json': LIST }],
    [
      'a quoted key',
      {
        'etc/containers/storage.conf': '[storage]\n"graphroot" = "/srv/pods/"\n',
        'srv/pods/overlay-containers/containers.json': LIST,
      },
    ],
    ...['etc/containers/storage.conf.d', 'etc/containers/storage.rootful.conf.d', 'usr/share/containers/storage.conf.d'].map(
      (directory): [string, Readonly<Record<string, string>>] => [
        `a drop-in in ${directory}`,
        { [`${directory}/10-site.conf`]: STORAGE, 'srv/pods/overlay-containers/containers.json': LIST },
      ],
    ),
    ['another driver', { 'var/lib/containers/storage/vfs-containers/containers.json': LIST }],
    ['a transient store', { 'run/containers/storage/overlay-containers/volatile-containers.json': LIST }],
  ])('are found for Podman: %s', (_rule, files) => {
    for (const [path, text] of Object.entries(files)) write(path, text);
    expect(new ContainerNames(true, root).of(podman(A), ROOT)).toBe('web');
  });

  test.each(['etc/containers/storage.conf.d/10-site.bak', 'etc/containers/storage.rootless.conf.d/10-site.conf'])(
    'are not found for Podman by %s',
    (file) => {
      write(file, STORAGE);
      write('srv/pods/overlay-containers/containers.json', LIST);
      expect(new ContainerNames(true, root).of(podman(A), ROOT)).toBeUndefined();
    },
  );
});

describe('containers with an id alone, or of other engines', () => {
  const TASKS = 'run/containerd/io.containerd.runtime.v2.task';
  const cri = (container?: string) => {
    const prefix = 'io.kubernetes.cri';
    const named = container === undefined ? {} : { [`${prefix}.container-name`]: container };
    return JSON.stringify({ annotations: { [`${prefix}.sandbox-namespace`]: 'shop', [`${prefix}.sandbox-name`]: 'web', ...named } });
  };
  const crio = (name: string) => JSON.stringify([{ id: A, names: [name] }]);

  test.each<[rule: string, path: string, files: Readonly<Record<string, string>>, name: string | undefined]>([
    ['Docker with --cgroup-parent', `/batch/${A}`, { [`var/lib/docker/${CONFIG}`]: WEB }, 'web'],
    ['Podman within a unit', `/system.slice/web.service/libpod-payload-${A}`, { [`${PODMAN}/containers.json`]: LIST }, 'web'],
    [
      'nerdctl',
      `/system.slice/nerdctl-${A}.scope`,
      { [`${TASKS}/default/${A}/config.json`]: '{"annotations": {"nerdctl/name": "web"}}' },
      'web',
    ],
    ['nerdctl by cgroupfs', `/default/${A}`, { [`${TASKS}/default/${A}/config.json`]: '{"annotations": {"nerdctl/name": "web"}}' }, 'web'],
    ['containerd', `/system.slice/cri-containerd-${A}.scope`, { [`${TASKS}/k8s.io/${A}/config.json`]: cri('db') }, 'shop/web/db'],
    ['the pause container', `/kubepods/pod1/${A}`, { [`${TASKS}/k8s.io/${A}/config.json`]: cri() }, 'shop/web'],
    [
      'k3s',
      `/kubepods/pod1/${A}`,
      { [`run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/${A}/config.json`]: cri('db') },
      'shop/web/db',
    ],
    [
      'state of config.toml',
      `/kubepods/pod1/${A}`,
      {
        'etc/containerd/config.toml': 'state = "/srv/c"\n',
        [`srv/c/io.containerd.runtime.v2.task/k8s.io/${A}/config.json`]: cri('db'),
      },
      'shop/web/db',
    ],
    ['CRI-O', `/system.slice/crio-${A}.scope`, { [`${PODMAN}/containers.json`]: crio('k8s_db_web_shop_1f0c-2_0') }, 'shop/web/db'],
    ['its pause container', `/kubepods/pod1/crio-${A}`, { [`${PODMAN}/containers.json`]: crio('k8s_POD_web_shop_1f0c-2_0') }, 'shop/web'],
    ['Docker, whose containerd knows no name', `/batch/${A}`, { [`${TASKS}/moby/${A}/config.json`]: '{"annotations": {}}' }, undefined],
  ])('%s', (_rule, path, files, name) => {
    for (const [file, text] of Object.entries(files)) write(file, text);
    const names = new ContainerNames(true, root);
    expect([names.of(path, ROOT), names.missing(path)]).toEqual([name, name === undefined ? 'lost' : undefined]);
  });

  test('have no name with `ctr run`', () => {
    write(`${TASKS}/default/${A}/config.json`, '{"ociVersion": "1.0.2"}');
    const names = new ContainerNames(true, root);
    expect([names.of(`/default/${A}`, ROOT), names.missing(`/default/${A}`)]).toEqual([undefined, undefined]);
  });
});

describe.each([true, false])("a user's runtime, whose names are read at once: %s", (waits) => {
  const home = 'home/ann';
  const [dockerFile, podmanFile] = [
    `${home}/.local/share/docker/${CONFIG}`,
    `${home}/.local/share/containers/storage/overlay-containers/containers.json`,
  ];
  const nameOf = async (path: string): Promise<string | undefined> => {
    write('etc/passwd', `root:x:0:0::/root:/bin/sh\nann:x:${String(USER)}:${String(USER)}::/home/ann:/bin/sh\n`);
    write(`${home}/.local/share/docker/containers/${B}/config.v2.json`, '{"Name": "/last"}');
    chownSync(join(root, `${home}/.local/share/docker/containers/${B}/config.v2.json`), USER, USER);
    const names = new ContainerNames(waits, root);
    names.of(path, () => USER);
    // The queue of users is empty when a second name has been looked for.
    const last = `/user.slice/docker-${B}.scope`;
    names.of(last, () => USER);
    await eventually('the last is known', () => names.of(last, () => USER) === 'last');
    const name = names.of(path, () => USER);
    // A protection that cannot be evaluated protects.
    expect(names.missing(path)).toBe(name === undefined ? 'lost' : undefined);
    return name;
  };
  const owned = (path: string, text: string): void => {
    write(path, text);
    chownSync(join(root, path), USER, USER);
  };

  test('has the names of its own containers', async () => {
    owned(dockerFile, WEB);
    owned(podmanFile, LIST);
    expect([await nameOf(docker(A)), await nameOf(podman(A))]).toEqual(['web', 'web']);
  });

  test.each<[rule: string, files: Readonly<Record<string, string>>, roots: readonly string[], name: string | undefined]>([
    ['data-root', { [`${home}/.config/docker/daemon.json`]: '{"data-root": "/srv/d"}', [`srv/d/${CONFIG}`]: WEB }, [], 'web'],
    ['graphroot', { [`${home}/.config/containers/storage.conf`]: STORAGE, 'srv/pods/overlay-containers/containers.json': LIST }, [], 'web'],
    [
      "graphroot of a file that is root's",
      { [`${home}/.config/containers/storage.conf`]: STORAGE, 'srv/pods/overlay-containers/containers.json': LIST },
      [`${home}/.config/containers/storage.conf`],
      'web',
    ],
    [
      "rootless_storage_path of root's configuration",
      {
        'etc/containers/storage.conf': '[storage]\ngraphroot = "/x"\nrootless_storage_path = "/srv/$USER/${UID}"\n',
        [`srv/ann/${String(USER)}/overlay-containers/containers.json`]: LIST,
      },
      ['etc/containers/storage.conf'],
      'web',
    ],
    ...[`${home}/.config/containers/storage.conf.d`].map((directory): [string, Readonly<Record<string, string>>, string[], string] => [
      'a drop-in',
      { [`${directory}/a.conf`]: STORAGE, 'srv/pods/overlay-containers/containers.json': LIST },
      [],
      'web',
    ]),
    ...['etc/containers/storage.rootless.conf.d', `etc/containers/storage.rootless.conf.d/${String(USER)}`].map(
      (directory): [string, Readonly<Record<string, string>>, string[], string] => [
        `a drop-in of root's in ${directory}`,
        { [`${directory}/a.conf`]: STORAGE, 'srv/pods/overlay-containers/containers.json': LIST },
        [`${directory}/a.conf`],
        'web',
      ],
    ),
    [
      'no file where root runs containers',
      {
        'etc/containers/storage.rootful.conf.d/a.conf': STORAGE,
        'srv/pods/overlay-containers/containers.json': LIST,
        [podmanFile]: '[]',
      },
      ['etc/containers/storage.rootful.conf.d/a.conf'],
      undefined,
    ],
    [
      'a file of at most 64 KiB',
      { [`${home}/.config/containers/storage.conf`]: STORAGE.padEnd(65_537), 'srv/pods/overlay-containers/containers.json': LIST },
      [],
      undefined,
    ],
    [
      'at most 16 directories, the last ones',
      {
        [`${home}/.config/containers/storage.conf`]: STORAGE + 'graphroot = "/x"\n'.repeat(16),
        'srv/pods/overlay-containers/containers.json': LIST,
      },
      [],
      undefined,
    ],
    [
      'a list of 4 MiB',
      { [`${home}/.config/containers/storage.conf`]: STORAGE, 'srv/pods/overlay-containers/containers.json': LIST.padEnd(LARGEST) },
      [],
      'web',
    ],
    [
      'a list of at most 4 MiB',
      { [`${home}/.config/containers/storage.conf`]: STORAGE, 'srv/pods/overlay-containers/containers.json': LIST.padEnd(LARGEST + 1) },
      [],
      undefined,
    ],
    [
      'lists of at most 8 MiB together',
      {
        [`${home}/.config/containers/storage.conf`]: '[storage]\ngraphroot = "/a"\nrunroot = "/b"\n',
        'a/overlay-containers/containers.json': '[]'.padEnd(LARGEST),
        'b/overlay-containers/containers.json': '[]'.padEnd(LARGEST),
        [podmanFile]: LIST,
      },
      [],
      undefined,
    ],
    [
      "no list that is root's",
      { [`${home}/.config/containers/storage.conf`]: STORAGE, 'srv/pods/overlay-containers/containers.json': LIST },
      ['srv/pods/overlay-containers/containers.json'],
      undefined,
    ],
  ])('has its own configuration: %s', async (_rule, files, roots, name) => {
    for (const [path, text] of Object.entries(files)) (roots.includes(path) ? write : owned)(path, text);
    expect(await nameOf(name !== undefined && `srv/d/${CONFIG}` in files ? docker(A) : podman(A))).toBe(name);
  });

  test("has no names of root's containers", async () => {
    write(`var/lib/docker/${CONFIG}`, WEB);
    expect(await nameOf(docker(A))).toBeUndefined();
  });

  test("has no names by a link to root's state, or by a named pipe", async () => {
    write(`var/lib/docker/${CONFIG}`, WEB);
    mkdirSync(dirname(join(root, dockerFile)), { recursive: true });
    symlinkSync(join(root, `var/lib/docker/${CONFIG}`), join(root, dockerFile));
    expect(await nameOf(docker(A))).toBeUndefined();
    rmSync(join(root, dockerFile));
    execFileSync('mkfifo', [join(root, dockerFile)]);
    chownSync(join(root, dockerFile), USER, USER);
    expect(await nameOf(docker(A))).toBeUndefined();
  });

  test.each(['storage.conf', 'storage.conf.d'])('has its other names despite a named pipe as %s', async (name) => {
    mkdirSync(join(root, `${home}/.config/containers`), { recursive: true });
    execFileSync('mkfifo', [join(root, `${home}/.config/containers/${name}`)]);
    chownSync(join(root, `${home}/.config/containers/${name}`), USER, USER);
    owned(podmanFile, LIST);
    expect(await nameOf(podman(A))).toBe('web');
  });

  test("has no names by a directory that is a link to root's", async () => {
    write(`var/lib/docker/${CONFIG}`, WEB);
    mkdirSync(join(root, `${home}/.local/share`), { recursive: true });
    mkdirSync(join(root, `${home}/.local/share/docker/containers`), { recursive: true });
    symlinkSync(join(root, `var/lib/docker/containers/${A}`), join(root, `${home}/.local/share/docker/containers/${A}`));
    expect(await nameOf(docker(A))).toBeUndefined();
  });
});

test('a container has the name by the user who names the cgroup now', () => {
  write(`var/lib/docker/${CONFIG}`, WEB);
  const names = new ContainerNames(true, root);
  const seen = [ROOT(), USER, ROOT()].map((uid) => [names.of(docker(A), () => uid), names.missing(docker(A))]);
  expect(seen).toEqual([
    ['web', undefined],
    [undefined, undefined],
    ['web', undefined],
  ]);
});

test.each<[rule: string, directory: string | undefined, missing: 'lost' | undefined]>([
  ['without a runtime, has none', undefined, undefined],
  ['with a store of Docker, has lost its name', 'home/ann/.local/share/docker', 'lost'],
  ['with a running Docker, has lost its name, too', `run/user/${String(USER)}/docker`, 'lost'],
  ['with a configuration of Docker, has lost its name, too', 'home/ann/.config/docker/daemon.json', 'lost'],
  ['with a store of Podman alone, is not one of Docker', 'home/ann/.local/share/containers/storage', undefined],
])('a container without a name, of a user %s', (_rule, directory, missing) => {
  write('etc/passwd', `ann:x:${String(USER)}:${String(USER)}::/home/ann:/bin/sh\n`);
  if (directory !== undefined) mkdirSync(join(root, directory), { recursive: true });
  const names = new ContainerNames(true, root);
  expect([names.of(docker(A), () => USER), names.missing(docker(A))]).toEqual([undefined, missing]);
});

describe('many cgroups that are named like containers', () => {
  const ids = (first: number, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => (first + index).toString(16).padStart(64, '0'));

  const ofUsers = (...uids: readonly number[]): ContainerNames => {
    const lines = uids.map((uid) => `u${String(uid)}:x:${String(uid)}:${String(uid)}::/home/u${String(uid)}:/bin/sh\n`);
    write('etc/passwd', lines.join(''));
    for (const uid of uids) mkdirSync(join(root, `run/user/${String(uid)}/docker`), { recursive: true });
    return new ContainerNames(true, root);
  };

  test('protect the last 128 of a user, and push out no container of root or of another user', () => {
    const names = ofUsers(USER, USER + 1);
    names.of(docker(A), ROOT);
    names.of(docker(B), () => USER + 1);
    const many = ids(0, 129);
    for (const id of many) names.of(docker(id), () => USER);
    expect([A, B].map((id) => names.missing(docker(id)))).toEqual(['lost', 'lost']);
    expect(many.map((id) => names.missing(docker(id)))).toEqual([undefined, ...Array.from({ length: 128 }, () => 'lost')]);
  });

  test('of 33 users: the last 32 have containers', () => {
    const users = Array.from({ length: 33 }, (_, index) => USER + index);
    const names = ofUsers(...users);
    users.forEach((uid, index) => names.of(docker(ids(index, 1)[0] ?? ''), () => uid));
    expect(users.map((_, index) => names.missing(docker(ids(index, 1)[0] ?? '')))).toEqual([
      undefined,
      ...users.slice(1).map(() => 'lost'),
    ]);
  });

  test('names that were not found are looked for again 32 at a time, in turns', () => {
    const names = new ContainerNames(true, root);
    const many = ids(0, 64);
    const nowNs = process.hrtime.bigint();
    for (const id of many) names.of(docker(id), ROOT);
    const found = (): readonly string[] => many.filter((id) => names.of(docker(id), ROOT) === 'web');
    const clock = vi.spyOn(process.hrtime, 'bigint');
    const retried = (seconds: bigint): readonly string[] => {
      clock.mockReturnValue(nowNs + seconds * 1_000_000_000n);
      names.retry(() => true);
      return found();
    };
    const known = (id: string): void => {
      write(`var/lib/docker/containers/${id}/config.v2.json`, WEB);
    };
    many.slice(0, 1).forEach(known);
    const turns = [5n, 40n].map(retried);
    many.forEach(known);
    turns.push(...[80n, 85n].map(retried));
    clock.mockRestore();
    expect(turns).toEqual([[], many.slice(0, 1), [...many.slice(0, 1), ...many.slice(32)], many]);
  });
});

test('where several users may name a cgroup no name is read', () => {
  write(`var/lib/docker/${CONFIG}`, WEB);
  const names = new ContainerNames(true, root);
  expect([names.of(docker(A), () => undefined), names.missing(docker(A))]).toEqual([undefined, undefined]);
});

describe('a container as a workload', () => {
  const hierarchy = memoryHierarchy();
  let top: TestCgroup;
  let source: WorkloadSource | undefined;

  beforeEach(() => {
    top = testCgroup(`evictdtest${String(process.pid)}.slice`);
  });
  afterEach(async () => {
    source?.close();
    await top.cleanup();
  });

  test.each<[kind: string, workload: WorkloadSourceSpec]>([
    ['cgroup', { cgroup: `/evictdtest${String(process.pid)}.slice` }],
    ['systemd', { systemd: { slices: [`evictdtest${String(process.pid)}.slice`], units: [] } }],
  ])('of a %s: source has its name as soon as that is known, and its rules', async (_kind, workload) => {
    write(`var/lib/docker/containers/${A}/config.v2.json`, '{"Name": "/web"}');
    const scope = `docker-${A}.scope`;
    await top.child(scope).spawn('sleep', ['600']);
    const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
    const rules = [
      { match: { name: 'web' }, critical: true },
      { match: { name: 'docker-*' }, priority: 3 },
    ];
    const reported = { containerNames: new ContainerNames(false, root) };
    const opened = openWorkloads({ workloads: [workload], rules }, native, { identity, hierarchy }, true, reported);
    source = opened;
    const seen = () => opened.candidates().usages.map(({ workload: { name, priority, protection } }) => [name, priority, protection?.kind]);
    expect(seen()).toEqual([[scope, 3, 'unreported']]);
    await eventually('its name is known', () => seen()[0]?.[0] === 'web');
    expect(seen()).toEqual([['web', 3, 'critical']]);
    expect(opened.holding(`${top.path}/${scope}/below`)).toEqual({ name: 'web', path: `${top.path}/${scope}` });
  });

  const opening = (names: ContainerNames, rules: readonly Rule[]) => {
    source?.close();
    const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
    const opened = openWorkloads({ workloads: [{ cgroup: top.path }], rules }, native, { identity, hierarchy }, true, {
      containerNames: names,
    });
    source = opened;
    return () => opened.candidates().usages.map(({ workload: { name, protection } }) => [name, protection?.kind]);
  };
  const critical = [{ match: { name: 'db' }, critical: true }];

  test('has its name at once in a source that is opened later with other rules', async () => {
    write(`var/lib/docker/containers/${A}/config.v2.json`, '{"Name": "/db"}');
    await top.child(`docker-${A}.scope`).spawn('sleep', ['600']);
    const names = new ContainerNames(false, root);
    const before = opening(names, []);
    expect(before()).toEqual([[`docker-${A}.scope`, undefined]]); // no rule asks for names: it does not matter
    await eventually('its name is known', () => before()[0]?.[0] === 'db');
    expect(opening(names, critical)()).toEqual([['db', 'critical']]);
  });

  test('without a name may be evicted once that is known', async () => {
    write(`${PODMAN}/containers.json`, JSON.stringify([{ id: A, names: [] }]));
    await top.child(`libpod-${A}.scope`).spawn('sleep', ['600']);
    const seen = opening(new ContainerNames(false, root), critical);
    expect(seen()).toEqual([[`libpod-${A}.scope`, 'unreported']]);
    await eventually('it has none', () => seen()[0]?.[1] === undefined);
    expect([seen(), source?.problems()]).toEqual([[[`libpod-${A}.scope`, undefined]], []]);
  });

  test('whose name cannot be found is not evicted, and a warning has the paths that were read', async () => {
    await top.child(`docker-${A}.scope`).spawn('sleep', ['600']);
    const names = new ContainerNames(false, root);
    opening(names, critical)();
    await names.settled();
    const lost = { kind: 'unreported', what: 'lost name' };
    expect(source?.candidates().usages.map(({ workload }) => workload.protection)).toEqual([lost]);
    const message = expect.stringContaining(`(looked for /var/lib/docker/containers/${A}/config.v2.json, /var/snap/`) as string;
    expect(source?.problems()).toMatchObject([{ code: 'EVICTD_CONTAINER_NAME', message }]);
    // Without rules that match by name it does not matter.
    expect([opening(names, [])(), source?.problems()]).toEqual([[[`docker-${A}.scope`, undefined]], []]);
    write(`var/lib/docker/containers/${A}/config.v2.json`, '{"Name": "/web"}');
    expect(opening(names, critical)()).toEqual([[`docker-${A}.scope`, 'unreported']]);
    const clock = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(process.hrtime.bigint() + 30_000_000_000n);
    source?.refresh();
    clock.mockRestore();
    await eventually('it is found', () => source?.candidates().usages[0]?.workload.name === 'web');
    expect([source?.candidates().usages[0]?.workload.protection, source?.problems()]).toEqual([undefined, []]);
  });

  test.each<[rule: string, path: string, protection: string | undefined]>([
    ['a rule by name at its place may match it', '/**', 'unreported'],
    ['a rule by name at another place cannot, so that it may be evicted', '/elsewhere/**', undefined],
  ])('whose name cannot be found: %s', async (_rule, path, protection) => {
    await top.child(`docker-${A}.scope`).spawn('sleep', ['600']);
    const names = new ContainerNames(true, root);
    expect(opening(names, [{ match: { name: 'db', path }, critical: true }])()).toEqual([[`docker-${A}.scope`, protection]]);
    expect(source?.problems()).toHaveLength(protection === undefined ? 0 : 1);
  });

  test('that a user named like a critical container of root has none of its rules', async () => {
    write(`var/lib/docker/containers/${A}/config.v2.json`, '{"Name": "/db"}');
    const users = top.child('users');
    await users.child(`docker-${A}.scope`).spawn('sleep', ['600']);
    await top.child(`docker-${A}.scope`).spawn('sleep', ['600']);
    let names = new ContainerNames(true, root);
    chownSync(users.dir, USER, USER);
    const of = (path: string) => {
      const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
      source?.close();
      source = openWorkloads({ workloads: [{ cgroup: path }], rules: critical }, native, { identity, hierarchy }, true, {
        containerNames: names,
      });
      return source
        .candidates()
        .usages.flatMap(({ workload }) => (workload.name === 'users' ? [] : [[workload.name, workload.protection?.kind]]));
    };
    expect(of(top.path)).toEqual([['db', 'critical']]);
    expect([of(users.path), source?.problems()]).toEqual([[[`docker-${A}.scope`, undefined]], []]);
    mkdirSync(join(root, `run/user/${String(USER)}/docker`), { recursive: true });
    names = new ContainerNames(true, root);
    expect(of(users.path)).toEqual([[`docker-${A}.scope`, 'unreported']]); // it may be one of the user's runtime
    expect(source?.problems()).toMatchObject([{ message: expect.stringContaining('(looked for /etc/passwd)') as string }]);
  });

  test('protects its slice if its scope is critical by name, or its name is unknown', async () => {
    write(`var/lib/docker/containers/${A}/config.v2.json`, '{"Name": "/db"}');
    const slice = top.child('evictdtestinner.slice');
    await slice.child(`docker-${A}.scope`).spawn('sleep', ['600']);
    const names = new ContainerNames(false, root);
    opening(names, critical);
    const veto = () => {
      const found = source?.candidates();
      const [usage] = found?.usages ?? [];
      return usage && found?.veto?.(usage.workload);
    };
    const contains = { kind: 'contains', name: `docker-${A}.scope` };
    expect(veto()).toEqual(contains);
    await eventually('its name is known', () => names.of(`${slice.path}/docker-${A}.scope`, ROOT) === 'db');
    expect(veto()).toEqual(contains);
  });

  test('protects the cgroup that it is in if it is critical by name, or its name is unknown', async () => {
    write(`var/lib/docker/containers/${A}/config.v2.json`, '{"Name": "/db"}');
    write(`var/lib/docker/containers/${B}/config.v2.json`, '{"Name": "/web"}');
    await top.child('docker').child(A).spawn('sleep', ['600']);
    await top.child('batch').child(B).spawn('sleep', ['600']);
    await top.child('lost').child('a').child('c'.repeat(64)).spawn('sleep', ['600']);
    await top.child(`docker-${B}.scope`).child('docker').child('d'.repeat(64)).spawn('sleep', ['600']);
    opening(new ContainerNames(true, root), critical);
    const { usages = [], veto } = source?.candidates() ?? {};
    const found = Object.fromEntries(usages.map(({ workload }) => [workload.name, veto?.(workload)]));
    expect(found).toEqual({
      ...{ docker: { kind: 'contains', name: A }, batch: undefined, lost: { kind: 'contains', name: 'c'.repeat(64) } },
      web: undefined, // the containers of a container are its own
    });
  });
});
