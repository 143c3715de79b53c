import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];
const docker = (id: string): string => `/system.slice/docker-${id}.scope`;
const podman = (id: string): string => `/machine.slice/libpod-${id}.scope`;

let root: string;
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const PODMAN = 'var/lib/containers/storage/overlay-containers';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), `evictd-test-${String(process.pid)}-`));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe.each([true, false])('names are read at once: %s', (waits) => {
  const nameOf = async (path: string): Promise<string | undefined> => {
    const names = new ContainerNames(waits, root);
    const first = names.of(path);
    if (waits) return first;
    expect(first).toBeUndefined();
    await eventually('it is known', () => names.found().includes(path));
    return names.of(path);
  };

  test('of Docker', async () => {
    write(`var/lib/docker/containers/${A}/config.v2.json`, JSON.stringify({ ID: A, Name: '/web', Config: {} }));
    expect(await nameOf(docker(A))).toBe('web');
    expect(await nameOf(`/docker/${A}`)).toBe('web');
  });

  test.each(['containers.json', 'volatile-containers.json'])('of Podman, in %s', async (file) => {
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
  ['no JSON', '{"Name": "/we'],
  ['a null', 'null'],
  ['no name', '{}'],
  ['an empty name', '{"Name": "/"}'],
  ['a name that is no text', '{"Name": 1}'],
])('%s: it goes by the name of its cgroup', (_rule, text) => {
  write(`var/lib/docker/containers/${A}/config.v2.json`, text);
  expect(new ContainerNames(true, root).of(docker(A))).toBeUndefined();
});

test.each(['null', '{}', '[null]', '[{"id": 1}]', JSON.stringify([{ id: A }]), JSON.stringify([{ id: A, names: [] }])])(
  'Podman says %s: so it does',
  (text) => {
    write(`${PODMAN}/containers.json`, text);
    expect(new ContainerNames(true, root).of(podman(A))).toBeUndefined();
  },
);

test('what is there is looked for once, and what is not, too', () => {
  const names = new ContainerNames(true, root);
  expect(names.of(docker(A))).toBeUndefined();
  write(`var/lib/docker/containers/${A}/config.v2.json`, '{"Name": "/web"}');
  expect(names.of(docker(A))).toBeUndefined();
});

test('a container that was renamed has its new name when all are looked for again', async () => {
  const file = `var/lib/docker/containers/${A}/config.v2.json`;
  write(file, '{"Name": "/web"}');
  const names = new ContainerNames(false, root);
  names.of(docker(A));
  await eventually('it is known', () => names.of(docker(A)) === 'web');
  expect(names.found()).toEqual([docker(A)]);
  write(file, '{"Name": "/db"}');
  names.renew();
  expect([names.of(docker(A)), names.isPending(docker(A))]).toEqual(['web', false]);
  await eventually('it is known', () => names.of(docker(A)) === 'db');
  expect(names.found()).toEqual([docker(A)]);
});

test('a disk that hangs leaves no name pending for longer than five seconds', async () => {
  const file = `var/lib/docker/containers/${A}/config.v2.json`;
  mkdirSync(dirname(join(root, file)), { recursive: true });
  execFileSync('mkfifo', [join(root, file)]); // a reader blocks until there is a writer
  const names = new ContainerNames(false, root);
  names.of(docker(A));
  const nowNs = process.hrtime.bigint();
  const clock = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(nowNs);
  const first = names.isPending(docker(A));
  clock.mockReturnValue(nowNs + 5_000_000_000n);
  const last = names.isPending(docker(A));
  clock.mockRestore();
  await writeFile(join(root, file), '{"Name": "/web"}'); // before anything can fail: it would wait for ever
  expect([first, last]).toEqual([true, false]);
  await eventually('it is known all the same', () => names.of(docker(A)) === 'web');
});

test('what is no container is not looked for', () => {
  expect(new ContainerNames(true, root).of('/system.slice/web.service')).toBeUndefined();
});

test('a rule matches it by its name, and by that of its cgroup', () => {
  const matches = (name: string, path: string, pattern: string): boolean =>
    compileRules([{ match: { name: pattern } }])({ name, path }).matched.length === 1;
  expect(matches('web', docker(A), 'web')).toBe(true);
  expect(matches('web', docker(A), 'docker-*.scope')).toBe(true);
  expect(matches('web', docker(A), 'docker-*')).toBe(true);
  expect(matches('web', docker(A), 'db')).toBe(false);
  expect(matches('web', '/system.slice/docker-x.scope', 'docker-*')).toBe(false);
});

describe('as a workload', () => {
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
  ])('of a %s: source it has its name as soon as that is known, and its rules', async (_kind, workload) => {
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

  test('a source opened later with other rules knows the name at once', async () => {
    write(`var/lib/docker/containers/${A}/config.v2.json`, '{"Name": "/db"}');
    await top.child(`docker-${A}.scope`).spawn('sleep', ['600']);
    const names = new ContainerNames(false, root);
    const before = opening(names, []);
    expect(before()).toEqual([[`docker-${A}.scope`, undefined]]); // no rule asks for names: it does not matter
    await eventually('its name is known', () => before()[0]?.[0] === 'db');
    expect(opening(names, critical)()).toEqual([['db', 'critical']]);
  });

  test('a container without a name may be evicted once that is known', async () => {
    await top.child(`docker-${A}.scope`).spawn('sleep', ['600']);
    const seen = opening(new ContainerNames(false, root), critical);
    expect(seen()).toEqual([[`docker-${A}.scope`, 'unreported']]);
    await eventually('it has none', () => seen()[0]?.[1] === undefined);
    expect(seen()).toEqual([[`docker-${A}.scope`, undefined]]);
  });

  test('a slice is not evicted for a scope in it whose name is not known, or that is critical by it', async () => {
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
    await eventually('its name is known', () => names.of(`${slice.path}/docker-${A}.scope`) === 'db');
    expect(veto()).toEqual(contains);
  });
});
