import { expect, test } from 'vitest';
import { flagText, page, roffText } from '../../packaging/manual/roff.js';
import { manual } from '../../packaging/manual/build.js';
import { COMMANDS } from '../../src/cli/commands.js';
import { DESCRIPTIONS } from '../../src/config/descriptions.js';
import { evictd } from '../cli/support.js';

const files = await manual();
const text = (file: string): string => (files.get(`man/${file}`) ?? '').replaceAll('\\-', '-').replaceAll(/\\f[BIR]/g, '');

test('there is a page for evictd, for its configuration and for each command', () => {
  const pages = [...files.keys()].filter((file) => file.startsWith('man/')).sort();
  expect(pages).toEqual(
    ['evictd.8', 'evictd.yaml.5', ...Object.keys(COMMANDS).map((name) => `evictd-${name}.8`)].map((file) => `man/${file}`).sort(),
  );
});

test.each(Object.keys(COMMANDS))('evictd-%s(8) has the text of --help-all', async (name) => {
  const { stdout } = await evictd([name, '--help-all']);
  const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag).filter((flag) => flag !== '--help');
  const described = text(`evictd-${name}.8`) + text('evictd.8');
  expect(options.filter((flag) => !new RegExp(`^(?:-\\w, )?${flag}( |$)`, 'm').test(described))).toEqual([]);
  expect(text(`evictd-${name}.8`)).toMatch(/\.SH EXAMPLES\n|EXAMPLES\n/);
  expect(text(`evictd-${name}.8`)).toContain('EXIT STATUS');
});

test('evictd.yaml(5) has every key with its description', () => {
  const shown = text('evictd.yaml.5');
  expect(Object.keys(DESCRIPTIONS).filter((key) => !key.endsWith('.*') && !shown.includes(`.TP\n${key}\n`))).toEqual([]);
  expect(shown).toMatch(/^log\.level\nLeast level of a line\. One of debug, info, warn, error\. Default:\ninfo\.$/m);
});

test.each<[rule: string, plain: string, roff: string]>([
  ['a hyphen is not a dash', '--all', '\\-\\-all'],
  ['a backslash', 'a\\b', 'a\\eb'],
  ['a dot at the start of a line is not a request', '.d/*.yaml', '\\&.d/*.yaml'],
  ['a quote at the start of a line, too', "'a'", '\\&\\(aqa\\(aq'],
])('%s', (_rule, plain, roff) => {
  expect(roffText(plain)).toBe(roff);
});

test('a flag is bold, its value is in italics', () => {
  expect(flagText('-s, --signal <signal>')).toBe('\\fB\\-s\\fR, \\fB\\-\\-signal\\fR \\fIsignal\\fR');
});

test('the head of a page has the date and the version', () => {
  const edition = { date: '2026-11-26', version: '1.2.3' };
  expect(page({ ...edition, name: 'evictd-x', volume: 8, description: 'does x' }, [])).toBe(
    '.TH EVICTD-X 8 2026-11-26 "evictd 1.2.3" "System administration"\n.nh\n.ad l\n.SH NAME\nevictd\\-x \\- does x\n',
  );
});
