import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Mapping } from '../../../src/features/config-import/migration.js';
import { PROGRAMS } from '../../../src/features/config-import/programs.js';
import { listItem, LONGEST_ROW } from '../../support/markdown-list.js';

const PAGE = readFileSync('docs/migrating.md', 'utf8');

test.each(Object.entries(PROGRAMS))('docs/migrating.md has the settings of %s', (name, { rows }) => {
  const [, written = ''] = new RegExp(`<!-- ${name} -->\n([^]*?)<!-- /${name} -->`).exec(PAGE) ?? [];
  expect(written).toBe(textOf(rows));
});

/** A table, and below it a list of the settings whose row would be too long. */
function textOf(rows: readonly Mapping[]): string {
  const all = rows.map((row) => ({ settings: row.settings.map((each) => `\`${each}\``).join(', '), text: mappingText(row) }));
  const lines = all.map(({ settings, text }) => {
    const row = `| ${settings} | ${text} |`;
    return row.length <= LONGEST_ROW ? { row } : { item: listItem(`${settings} → ${text}`) };
  });
  const items = lines.flatMap(({ item = [] }) => item);
  return ['| setting | in evictd |', '| --- | --- |', ...lines.flatMap(({ row = [] }) => row), '', ...items, ''].join('\n');
}

function mappingText({ becomes, note }: Mapping): string {
  if (becomes === undefined) return `no counterpart: ${note ?? ''}`;
  return note === undefined ? becomes : `${becomes}; ${note}`;
}
