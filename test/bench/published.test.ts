import { expect, test } from 'vitest';
import { withTable } from './published.js';

const DOCUMENT =
  'before\n\n<!-- bench -->\n\n| old |\n\n<!-- /bench -->\n\nbetween\n\n<!-- bench-race -->\n\n<!-- /bench-race -->\n\nafter\n';

test('replaces only the text between the markers of this name', () => {
  expect(withTable(DOCUMENT, 'bench', '| new |')).toBe(DOCUMENT.replace('| old |', '| new |'));
});

test('writes a first table, and the next one to the same place', () => {
  const once = withTable(DOCUMENT, 'bench-race', '| first |');
  expect(once).toContain('<!-- bench-race -->\n\n| first |\n\n<!-- /bench-race -->\n\nafter\n');
  expect(withTable(once, 'bench-race', '| first |')).toBe(once);
});

test('writes a table with dollar signs unchanged', () => {
  expect(withTable(DOCUMENT, 'bench', "$& $1 $'")).toContain("-->\n\n$& $1 $'\n\n<!--");
});

test('a document without the markers is an error', () => {
  expect(() => withTable('<!-- bench --> but no end', 'bench', '| new |')).toThrow('no place');
});
