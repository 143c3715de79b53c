import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Mapping } from '../../../src/features/config-import/migration.js';
import { PROGRAMS } from '../../../src/features/config-import/programs.js';

const PAGE = readFileSync('docs/migrating.md', 'utf8');

test.each(Object.entries(PROGRAMS))('docs/migrating.md has the table of %s', (name, { rows }) => {
  const [, written = ''] = new RegExp(`<!-- ${name} -->\n([^]*?)<!-- /${name} -->`).exec(PAGE) ?? [];
  expect(written).toBe(tableOf(rows));
});

function tableOf(rows: readonly Mapping[]): string {
  const lines = rows.map((row) => `| ${row.settings.map((each) => `\`${each}\``).join(', ')} | ${textOf(row)} |`);
  return ['| setting | in evictd |', '| --- | --- |', ...lines, ''].join('\n');
}

function textOf({ becomes, note }: Mapping): string {
  if (becomes === undefined) return `no counterpart: ${note ?? ''}`;
  return note === undefined ? becomes : `${becomes}; ${note}`;
}
