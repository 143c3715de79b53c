import { expect, test } from 'vitest';
import { withTable } from './published.js';

const DOCUMENT =
  'before\n\n<!-- bench -->\n\n| old |\n\n<!-- /bench -->\n\nbetween\n\n<!-- bench-race -->\n\n<!-- /bench-race -->\n\nafter\n';

test('what was between the markers of this name is replaced, and nothing else', () => {
  expect(withTable(DOCUMENT, 'bench', '| new |')).toBe(DOCUMENT.replace('| old |', '| new |'));
});

test('a table is written where there is none yet, and written again to the same place', () => {
  const once = withTable(DOCUMENT, 'bench-race', '| first |');
  expect(once).toContain('<!-- bench-race -->\n\n| first |\n\n<!-- /bench-race -->\n\nafter\n');
  expect(withTable(once, 'bench-race', '| first |')).toBe(once);
});

test('a table that has dollar signs in it is written as it is', () => {
  expect(withTable(DOCUMENT, 'bench', "$& $1 $'")).toContain("-->\n\n$& $1 $'\n\n<!--");
});

test('a document without the place is an error, not a loss', () => {
  expect(() => withTable('<!-- bench --> but no end', 'bench', '| new |')).toThrow('no place');
});
