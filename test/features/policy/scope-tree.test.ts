import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { compileScope } from '../../../src/core/policy/scope-pattern.js';
import { ScopeTree } from '../../../src/features/policy/scope-tree.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const APPS = 'user.slice/user-1.slice/user@1.service/app.slice';

let root: string;
let followed: Set<string>;
const visitor = {
  follow: (holder: string) => void followed.add(holder),
  unfollow: (holder: string) => {
    for (const path of followed) if (path === holder || path.startsWith(`${holder}/`)) followed.delete(path);
  },
  unlisted: () => expect.fail('all can be listed'),
};
const make = (...paths: string[]) => {
  for (const path of paths) mkdirSync(join(root, path), { recursive: true });
};
const many = (above: string, count: number) => Array.from({ length: count }, (_, index) => `${above}/x${String(index)}`);
const inManager = () => [...followed].filter((path) => path.includes('user@1.service'));

beforeEach(() => {
  root = temporaryDirectory();
  followed = new Set();
  make('user.slice/user-2.slice/user@2.service/app.slice/heavy.service', APPS);
});

describe('a scope with ** reaches into a unit or a manager', () => {
  test.each([
    ['with as many cgroups as are listed', () => many(APPS, 511), undefined], // app.slice is one
    ['with one more', () => many(APPS, 512), '/user.slice/user-1.slice/user@1.service'],
    ['as deep as is listed', () => [`${APPS}${'/a'.repeat(7)}`], undefined],
    ['one deeper', () => [`${APPS}${'/a'.repeat(8)}`], '/user.slice/user-1.slice/user@1.service'],
    ['of the machine with more', () => many('system.slice/delegated.service', 600), '/system.slice/delegated.service'],
  ])('%s', (_what, paths, cut) => {
    make(...paths());
    const tree = new ScopeTree([compileScope({ cgroup: '/**' })]);
    const found = tree.list(root, visitor);
    expect([...tree.cut]).toEqual(cut === undefined ? [] : [cut]);
    expect([tree.isCut, tree.hasWhole]).toEqual([false, cut !== undefined]);
    expect([...followed].filter((path) => cut !== undefined && `/${path}`.startsWith(cut))).toEqual([]);
    expect(found).toContain('user.slice/user-2.slice/user@2.service/app.slice/heavy.service');
    expect(followed).toContain('user.slice/user-2.slice/user@2.service/app.slice');
  });

  test('with too many is not followed again until they are few', () => {
    make(...many(APPS, 600));
    const tree = new ScopeTree([compileScope({ cgroup: '/user.slice/**/heavy.service' })]);
    tree.list(root, visitor);
    const again: string[] = [];
    tree.list(root, { ...visitor, follow: (holder) => again.push(holder) });
    expect([again.filter((holder) => holder.includes('user@1.service')), tree.cut.size]).toEqual([[], 1]);
    for (const path of many(APPS, 600)) rmSync(join(root, path), { recursive: true });
    make(`${APPS}/heavy.service`);
    for (const isBehind of [true, false]) {
      expect(tree.list(root, visitor)).toContain(`${APPS}/heavy.service`);
      expect([tree.cut.size, tree.hasWhole, inManager().length > 0]).toEqual([0, isBehind, !isBehind]);
    }
  });

  test('counts what appears, also where only members can', () => {
    make(...many(APPS, 510));
    const tree = new ScopeTree([compileScope({ cgroup: '/user.slice/*/*/app.slice/*' })]);
    tree.list(root, visitor);
    expect([1, 2].map((index) => tree.admits(`${APPS}/late${String(index)}`))).toEqual([true, false]);
  });
});

test('the holders of all users together are limited, though none of them matches', () => {
  for (let user = 1; user <= 9; user += 1) make(...many(APPS.replaceAll(/(?<=[-@])1/g, String(user)), 505));
  const tree = new ScopeTree([compileScope({ cgroup: '/user.slice/**/none.service' })]);
  expect(tree.list(root, visitor)).toEqual([]);
  expect([tree.isCut, followed.size <= 4_096]).toEqual([true, true]);
});
