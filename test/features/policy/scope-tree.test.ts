import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { compileScope } from '../../../src/core/policy/scope-pattern.js';
import { ScopeTree } from '../../../src/features/policy/scope-tree.js';
import { FollowedTree } from '../../support/followed-tree.js';

const APPS = 'user.slice/user-1.slice/user@1.service/app.slice';

let made: FollowedTree;
const many = (above: string, count: number) => Array.from({ length: count }, (_, index) => `${above}/x${String(index)}`);
const inManager = () => [...made.followed].filter((path) => path.includes('user@1.service'));

beforeEach(() => {
  made = new FollowedTree();
  made.make('user.slice/user-2.slice/user@2.service/app.slice/heavy.service', APPS);
});

describe('a scope with ** reaches into a unit or a manager', () => {
  test.each([
    ['with as many cgroups as the limit', () => many(APPS, 511), undefined], // app.slice is one
    ['with one cgroup more', () => many(APPS, 512), '/user.slice/user-1.slice/user@1.service'],
    ['as deep as the limit', () => [`${APPS}${'/a'.repeat(7)}`], undefined],
    ['one level deeper', () => [`${APPS}${'/a'.repeat(8)}`], '/user.slice/user-1.slice/user@1.service'],
    ['of the machine with more cgroups', () => many('system.slice/delegated.service', 600), '/system.slice/delegated.service'],
  ])('%s', (_what, paths, cut) => {
    made.make(...paths());
    const tree = new ScopeTree([compileScope({ cgroup: '/**' })]);
    const found = tree.list(made.root, made.visitor);
    expect([...tree.cut]).toEqual(cut === undefined ? [] : [cut]);
    expect([tree.isCut, tree.hasWhole]).toEqual([false, cut !== undefined]);
    expect([...made.followed].filter((path) => cut !== undefined && `/${path}`.startsWith(cut))).toEqual([]);
    expect(found).toContain('user.slice/user-2.slice/user@2.service/app.slice/heavy.service');
    expect(made.followed).toContain('user.slice/user-2.slice/user@2.service/app.slice');
  });

  test('with too many cgroups is not listed again until they are few', () => {
    made.make(...many(APPS, 600));
    const tree = new ScopeTree([compileScope({ cgroup: '/user.slice/**/heavy.service' })]);
    tree.list(made.root, made.visitor);
    const again: string[] = [];
    tree.list(made.root, { ...made.visitor, follow: (holder) => again.push(holder) });
    expect([again.filter((holder) => holder.includes('user@1.service')), tree.cut.size]).toEqual([[], 1]);
    for (const path of many(APPS, 600)) rmSync(join(made.root, path), { recursive: true });
    made.make(`${APPS}/heavy.service`);
    for (const isBehind of [true, false]) {
      expect(tree.list(made.root, made.visitor)).toContain(`${APPS}/heavy.service`);
      expect([tree.cut.size, tree.hasWhole, inManager().length > 0]).toEqual([0, isBehind, !isBehind]);
    }
  });

  test('counts new cgroups, also where only members can appear', () => {
    made.make(...many(APPS, 510));
    const tree = new ScopeTree([compileScope({ cgroup: '/user.slice/*/*/app.slice/*' })]);
    tree.list(made.root, made.visitor);
    expect([1, 2].map((index) => tree.admits(`${APPS}/late${String(index)}`))).toEqual([true, false]);
  });
});

test('cgroups that contain scopes of all users are limited together, though no scope matches them', () => {
  for (let user = 1; user <= 9; user += 1) made.make(...many(APPS.replaceAll(/(?<=[-@])1/g, String(user)), 505));
  const tree = new ScopeTree([compileScope({ cgroup: '/user.slice/**/none.service' })]);
  expect(tree.list(made.root, made.visitor)).toEqual([]);
  expect([tree.isCut, made.followed.size <= 4_096]).toEqual([true, true]);
});
