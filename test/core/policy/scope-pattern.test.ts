import { expect, test } from 'vitest';
import { compileScope } from '../../../src/core/policy/scope-pattern.js';

test.each<[glob: string, path: string, matches: boolean]>([
  ['/user.slice/**/app.slice', '/user.slice/user-1000.slice/user@1000.service/app.slice', true],
  ['/user.slice/**/app.slice', '/user.slice/app.slice', true],
  ['/user.slice/**/app.slice', '/user.slice/app.slice/a.service', false],
  ['/user.slice/**/app.slice', '/system.slice/app.slice', false],
  ['/system.slice/*', '/system.slice/a.service', true],
  ['/system.slice/*', '/system.slice', false],
  ['/system.slice/*', '/system.slice/a.service/b', false],
  ['/system.slice/a-?.service', '/system.slice/a-1.service', true],
  ['/system.slice/', '/system.slice', true],
  ['/a.b', '/axb', false],
  ['/**', '/a/b', true],
  ['/**', '/', true],
  ['/a/**', '/a', true],
  ['/a/**', '/ab', false],
  ['/a/**/b/**/c', '/a/x/b/b/c', true],
  ['/a/x**', '/a/xy', true],
])('%s and %s', (glob, path, matches) => {
  expect(compileScope({ cgroup: glob }).matches(path)).toBe(matches);
});

test.each<[glob: string, path: string, reaches: boolean]>([
  ['/user.slice/**/app.slice', '/', true],
  ['/user.slice/**/app.slice', '/user.slice/user-1000.slice', true],
  ['/user.slice/**/app.slice', '/user.slice/app.slice', true],
  ['/user.slice/**/app.slice', '/system.slice', false],
  ['/system.slice/*', '/system.slice', true],
  ['/system.slice/*', '/system.slice/a.service', false],
  ['/a/**', '/a/b/c', true],
])('%s below %s', (glob, path, reaches) => {
  expect(compileScope({ cgroup: glob }).reachesBelow(path)).toBe(reaches);
});

test('a list of paths is a scope', () => {
  const { matches, reachesBelow } = compileScope({ paths: ['/a/b', '/c'] });
  const paths = ['/', '/a', 'a/b', '/a/b/x', '/c', '/ab'];
  expect(paths.filter((path) => matches(path))).toEqual(['a/b', '/c']);
  expect(paths.filter((path) => reachesBelow(path))).toEqual(['/', '/a']);
});
