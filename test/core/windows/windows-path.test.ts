import { expect, test } from 'vitest';
import { compileWindowsGlob, foldPath, isWindowsPath } from '../../../src/core/windows/windows-path.js';

test.each<[rule: string, glob: string, path: string, matches: boolean]>([
  ['upper-case letters are equal to lower-case letters', 'c:\\apps\\WEB.exe', 'C:\\Apps\\web.EXE', true],
  ['slashes and backslashes are equal', 'C:/Apps/web.exe', 'C:\\Apps\\web.exe', true],
  ['* stops at a backslash', 'C:\\Apps\\*.exe', 'C:\\Apps\\bin\\web.exe', false],
  ['* stops at a slash', 'C:\\Apps\\*.exe', 'C:/Apps/bin/web.exe', false],
  ['** does not', 'C:\\Apps\\**', 'C:\\Apps\\bin\\web.exe', true],
  ['? matches one character that is not a slash', 'C:\\Apps?web.exe', 'C:\\Apps\\web.exe', false],
  ['the whole path must match', 'web.exe', 'C:\\Apps\\web.exe', false],
  [
    'a character that is special in regular expressions stands for itself',
    'C:\\Program Files (x86)\\a+b.exe',
    'C:\\Program Files (x86)\\a+b.exe',
    true,
  ],
  ['a long path', 'C:\\Apps\\**', '\\\\?\\C:\\Apps\\web.exe', true],
  ['a long path of a share', '\\\\server\\share\\**', '\\\\?\\UNC\\server\\share\\web.exe', true],
])('%s', (_rule, glob, path, matches) => {
  expect(compileWindowsGlob(glob).test(path)).toBe(matches);
});

test('a normalized path stays the same when it is normalized again', () => {
  const once = foldPath('\\\\?\\C:\\Apps');
  expect([once, foldPath(once)]).toEqual(['c:/apps', 'c:/apps']);
});

test.each<[path: string, is: boolean]>([
  ['C:\\', true],
  ['d:/images', true],
  ['\\\\server\\share', true],
  ['\\\\server', false],
  ['C:', false],
  ['C:relative', false],
  ['\\from-the-drive', false],
  ['/var', false],
  ['//server/share', false],
  ['', false],
])('%j as a Windows path: %s', (path, is) => {
  expect(isWindowsPath(path)).toBe(is);
});
