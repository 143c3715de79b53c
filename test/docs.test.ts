import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { load } from './config/scratch.js';
import { condemnedWords } from './support/language.js';

interface Line {
  readonly number: number;
  readonly text: string;
}

interface Page {
  readonly path: string;
  readonly lines: readonly Line[];
  /** Without code fences and what a program writes between `<!-- name -->` and `<!-- /name -->`. */
  readonly prose: readonly Line[];
  /** The targets of its links, as written, but for those to other hosts. */
  readonly links: readonly string[];
  readonly anchors: ReadonlySet<string>;
}

const pages = ['README.md', 'CHANGELOG.md', ...below('docs')].map(readPage);
const byPath = new Map(pages.map((page) => [page.path, page]));

test('no line, also of code, is longer than 120 characters, no row of a table and no line with one link than 140', () => {
  const tooLong = pages.flatMap(({ path, lines }) =>
    lines.filter(({ text }) => text.length > longest(text)).map(({ number, text }) => `${path}:${String(number)}: ${String(text.length)}`),
  );
  expect(tooLong).toEqual([]);
});

test('no page has a condemned word', () => {
  expect(each(({ text }) => condemnedWords(text))).toEqual([]);
});

test('every link leads to a file, and its anchor to a heading', () => {
  const broken = pages.flatMap(({ path, links }) => links.filter((link) => !leadsSomewhere(path, link)).map((link) => `${path}: ${link}`));
  expect(broken).toEqual([]);
});

test('every page can be reached from README.md', () => {
  const reached = new Set(['README.md']);
  for (const path of reached) {
    for (const link of byPath.get(path)?.links ?? []) {
      const target = targetOf(path, link).path;
      if (byPath.has(target)) reached.add(target);
    }
  }
  expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
});

/** Those of Prometheus begin with groups. */
const examples = pages.flatMap(({ path }) =>
  [...readFileSync(path, 'utf8').matchAll(/^```yaml\n([^]*?)^```/gm)]
    .map(([, text = '']) => text)
    .filter((text) => !text.startsWith('groups:'))
    .map((text, index) => [`${path}: ${String(index + 1)}`, text] as const),
);

test.each(examples)('the configuration in %s is valid', (_where, text) => {
  expect(load({ 'config.yaml': text }).config).toBeDefined();
});

test('anchors are those of GitHub', () => {
  expect([...anchorsOf(['# evictd `check`', '## A, b: [c](d.md)!', '## Twice', '### Twice', 'no heading'])]).toEqual([
    'evictd-check',
    'a-b-c',
    'twice',
    'twice-1',
  ]);
});

function each(faults: (line: Line) => readonly string[]): string[] {
  return pages.flatMap(({ path, prose }) =>
    prose.flatMap((line) => faults(line).map((fault) => `${path}:${String(line.number)}: ${fault}`)),
  );
}

function longest(text: string): number {
  const isRow = text.startsWith('|');
  const isOneLink = /^\W*(\d+\. )?\[[^\]]*\]\([^)]*\)$/.test(text);
  return isRow || isOneLink ? 140 : 120;
}

function leadsSomewhere(from: string, link: string): boolean {
  const { path, anchor } = targetOf(from, link);
  return existsSync(path) && (anchor === undefined || byPath.get(path)?.anchors.has(anchor) === true);
}

function targetOf(from: string, link: string): { path: string; anchor: string | undefined } {
  const [path = '', anchor] = link.split('#');
  return { path: path === '' ? from : normalize(join(dirname(from), path)), anchor };
}

function readPage(path: string): Page {
  const lines = readFileSync(path, 'utf8').split('\n');
  const prose: Line[] = [];
  let skipsTo: RegExp | undefined;
  for (const [index, text] of lines.entries()) {
    const generated = /^<!-- ([\w-]+) -->$/.exec(text)?.[1];
    if (skipsTo !== undefined) {
      if (skipsTo.test(text)) skipsTo = undefined;
    } else if (text.startsWith('```')) skipsTo = /^```/;
    else if (generated !== undefined && lines.includes(`<!-- /${generated} -->`)) skipsTo = new RegExp(`^<!-- /${generated} -->`);
    else prose.push({ number: index + 1, text });
  }
  const links = prose.flatMap(({ text }) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => link));
  return {
    path,
    lines: lines.map((text, index) => ({ number: index + 1, text })),
    prose,
    links: links.filter((link) => !/^[a-z]+:/.test(link)),
    anchors: anchorsOf(prose.map(({ text }) => text)),
  };
}

/** As GitHub makes them: small letters, hyphens for spaces, a number where a heading comes again. */
function anchorsOf(lines: readonly string[]): Set<string> {
  const seen = new Map<string, number>();
  const anchors = lines.flatMap((line) => {
    const heading = /^#{1,6} (.*)$/.exec(line)?.[1];
    if (heading === undefined) return [];
    const text = heading
      .trim()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase();
    const anchor = text.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${String(times)}`;
  });
  return new Set(anchors);
}

function below(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(root, path))
    .sort();
}
