import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { SourceRoot } from '../../../src/workloads/cgroup/source-root.js';
import { UnitTree } from '../../../src/workloads/systemd/unit-tree.js';
import { FollowedTree } from '../../support/followed-tree.js';

// A tree of directories that has the shape of cgroup v2 with user managers: users make what is below those.
const MANAGER = 'user-1.slice/user@1.service';

let made: FollowedTree;
const units = (count: number) => Array.from({ length: count }, (_, index) => `${MANAGER}/app.slice/u${String(index)}.service`);
const levels = (depth: number) =>
  `${MANAGER}/${Array<string>(depth - 1)
    .fill('a.slice')
    .join('/')}/deep.service`;
const tree = (isWanted: (name: string) => boolean = () => true) => new UnitTree('/user.slice', true, isWanted);

beforeEach(() => {
  made = new FollowedTree();
  made.make('system.service', `${MANAGER}/init.scope`);
});

describe("the units in a user's manager", () => {
  test.each<[rule: string, paths: string[], members: 'units' | 'manager']>([
    ['with as many cgroups as the limit', units(510), 'units'], // app.slice and init.scope are two
    ['with one cgroup more', units(511), 'manager'],
    ['with many cgroups that are not units', units(600).map((path) => path.replace(/\.service$/, '')), 'manager'],
    ['with as many levels as the limit', [levels(8)], 'units'],
    ['with one level more', [levels(9)], 'manager'],
  ])('%s', (_rule, paths, expected) => {
    made.make(...paths);
    const listed = tree().list(made.root, made.visitor);
    const all = [`${MANAGER}/init.scope`, ...paths, 'system.service'];
    expect(listed.sort()).toEqual(expected === 'units' ? all.sort() : ['system.service', MANAGER]);
    const inside = [...made.followed].filter((path) => path.startsWith(MANAGER));
    expect(inside.length > 0).toBe(expected === 'units');
    expect(made.followed).toContain('user-1.slice');
  });

  test('are listed at each reading while the manager is one workload, and are workloads again when they are few', () => {
    made.make(...units(600));
    const shape = tree();
    for (let look = 0; look < 3; look++) {
      expect(shape.list(made.root, made.visitor).sort()).toEqual(['system.service', MANAGER]);
      expect([shape.hasWhole, shape.isWhole(MANAGER), shape.place(MANAGER)]).toEqual([true, true, 'member']);
    }
    for (const path of units(600).slice(1)) rmSync(join(made.root, path), { recursive: true });
    const few = [`${MANAGER}/app.slice/u0.service`, `${MANAGER}/init.scope`, 'system.service'];
    expect(shape.list(made.root, made.visitor).sort()).toEqual(few.sort());
    expect([shape.hasWhole, shape.isWhole(MANAGER), shape.place(MANAGER)]).toEqual([false, false, 'holder']);
    expect(made.followed).toContain(`${MANAGER}/app.slice`);
  });

  test('are added until there are too many, while those of the machine have no limit', () => {
    made.make(...units(509));
    const shape = tree();
    shape.list(made.root, made.visitor);
    expect([1, 2].map(() => shape.admits(`${MANAGER}/app.slice/new.service`))).toEqual([true, false]);
    expect(Array.from({ length: 600 }, () => shape.admits('new.service'))).not.toContain(false);
  });

  test('are workloads where units are selected by name, and the manager is not one', () => {
    made.make(`${MANAGER}/wanted.service`, levels(9));
    const listed = tree((name) => name === 'wanted.service').list(made.root, made.visitor);
    expect(listed).toEqual([`${MANAGER}/wanted.service`]);
  });
});

test.each([
  ['as many slices as the limit are watched', 512, 512],
  ['one slice more is not watched, and is a problem', 513, 0],
])('a source in a manager has the same limits: %s', (_what, slices, follows) => {
  const path = `/user.slice/${MANAGER}/app.slice`;
  const directory = join(made.root, 'app.slice');
  made.make(...Array.from({ length: slices }, (_, index) => `app.slice/x${String(index)}.slice`), 'app.slice/x0.slice/web.service');
  rmSync(join(made.root, `app.slice/x${String(slices - 1)}.slice`), { recursive: true }); // web.service counts, too
  const shape = new UnitTree(path, true, () => true);
  for (const look of [1, 2]) {
    shape.list(directory, made.visitor);
    expect([made.followed.size, shape.hasWhole], String(look)).toEqual([Math.max(0, follows - 1), follows === 0]);
  }
  const source = new SourceRoot(path, directory, undefined, shape);
  expect(source.problem()?.code).toBe(follows === 0 ? 'EVICTD_SOURCE_CUT' : undefined);
});

test.each([
  ['may be evicted, though it is protected otherwise', 1, undefined],
  ["stays protected if it is an operator's", 0, 'unit'],
])('a manager with too many cgroups %s', (_rule, uid, protection) => {
  const manager = `user-${String(uid)}.slice/user@${String(uid)}.service`;
  const identity = { name: 'machine', cgroup: undefined, cgroupVersion: 2 } as const;
  const workloads = [{ systemd: { slices: ['user.slice'], units: [] } }];
  const hierarchy = { version: 2, controller: '', mountPoint: made.root, root: '/' } as const;
  for (let unit = 0; unit < 600; unit++) made.make(`user.slice/${manager}/u${String(unit)}.service`);
  for (const [file, text] of [
    ['memory.current', '1048576\n'],
    ['memory.stat', 'inactive_file 0\nactive_file 0\n'],
    ['cgroup.events', 'populated 1\n'],
  ] as const)
    writeFileSync(join(made.root, 'user.slice', manager, file), text);
  const source = openWorkloads({ workloads, rules: [] }, native, { identity, hierarchy }, false, { operators: new Set([0]) });
  const { usages } = source.candidates();
  source.close();
  expect(usages.map(({ workload }) => [workload.path, workload.protection?.kind])).toEqual([[`/user.slice/${manager}`, protection]]);
});
