import { expect, test } from 'vitest';
import { jsonText } from '../../../src/core/name/json-text.js';
import { printable } from '../../../src/core/name/printable.js';

test.each<[rule: string, name: string, shown: string]>([
  ['letters of any script', 'web-1 Straße 日本 😀', 'web-1 Straße 日本 😀'],
  ['a terminal escape', 'x\u001b[31mred', 'x\\x1b[31mred'],
  ['a line feed and a tab', 'a\nb\tc', 'a\\x0ab\\x09c'],
  ['DEL and the controls beyond ASCII', 'a\u007f\u0085\u009bb', 'a\\u007f\\u0085\\u009bb'],
  ['text that runs backwards', 'a\u202egpj', 'a\\u202egpj'],
  ['invisible characters', 'we\u200bb\u2066\ufeff', 'we\\u200bb\\u2066\\ufeff'],
  ['invisible characters beyond the BMP', '\u{e0041}', '\\udb40\\udc41'],
  ['line separators', 'a\u2028b\u2029', 'a\\u2028b\\u2029'],
  ['a byte that is not UTF-8', 'leak\udcff', 'leak\\xff'],
  ['half a character', 'a\ud83d', 'a\\ud83d'],
  ["the backslash of a unit's name stays", 'dev-disk\\x2da.swap', 'dev-disk\\x2da.swap'],
])('%s', (_rule, name, shown) => {
  expect(printable(name)).toBe(shown);
});

test.each<[rule: string, name: string, read: string]>([
  ['a byte that is not UTF-8 becomes its escape', 'leak\udcff', 'leak\\xff'],
  ['text that looks like the escape stays as it is', 'a\\udcff', 'a\\udcff'],
  ['a backslash before such a byte', 'a\\\udcff', 'a\\\\xff'],
  ['a control character stays as it is', 'x\u001b', 'x\u001b'],
  ['half a character', 'a\ud83d', 'a\\ud83d'],
])('a name in JSON: %s', (_rule, name, read) => {
  const text = jsonText({ [name]: [name] }, 2);
  expect(text).not.toMatch(/(?<!\\)(?:\\\\)*\\ud/);
  expect(JSON.parse(text)).toEqual({ [read]: [read] });
});
