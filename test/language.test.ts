import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { condemnedWords, personWords } from './support/language.js';

/** The longest line of a comment. */
const LONGEST = 140;

/** The Unix user. */
const USER = /^(?:--reuid=)?nobody$/;

/** The list itself, and this file. */
const WITH_THE_WORDS = new Set([join('test', 'support', 'language.ts'), join('test', 'language.test.ts')]);

interface SourceText {
  readonly path: string;
  readonly text: string;
}

interface Piece {
  readonly line: number;
  readonly text: string;
}

interface Language {
  /** Those of `path`, given by what its text begins with where its name says nothing. */
  readonly has: (path: string, text: string) => boolean;
  /** The lines that a comment stands in, with the code before it. */
  readonly lines: (text: string) => readonly Piece[];
  /** The comments without the code before them. */
  readonly comments: (text: string) => readonly Piece[];
}

const LANGUAGES: readonly Language[] = [
  { has: (path) => /\.(?:ts|js|mjs)$/.test(path), lines: commentsOf, comments: commentTextsOf },
  { has: (path) => /\.(?:cc|h|c|proto)$/.test(path), lines: nativeCommentsOf, comments: linesOf },
  {
    has: isScript,
    lines: (text) =>
      linesAt(
        text,
        scriptCommentsOf(text).map(({ line }) => line),
      ),
    comments: scriptCommentsOf,
  },
];

const source = filesBelow('src').filter((path) => path.endsWith('.ts'));
const commented = ['src', 'native', 'test', 'packaging', 'examples', '.ci'].flatMap(filesBelow).concat(filesIn('.')).map(readText);

test('no text that a program of src can show has a condemned word', () => {
  const suspects = source.map(readText).filter(({ text }) => condemnedWords(text).length > 0);
  const found = suspects.flatMap(({ path, text: whole }) =>
    stringsOf(whole).flatMap(({ line, text }) => condemnedWords(text).map((word) => `${path}:${String(line)}: ${word}`)),
  );
  expect(found).toEqual([]);
});

test('no line of a comment is longer than 140 characters', () => {
  expect(commented.flatMap(tooLong)).toEqual([]);
});

test('no comment has a pronoun for a person', () => {
  const suspects = commented.filter(({ text }) => personWords(text).length > 0);
  expect(suspects.flatMap((file) => persons(file.path, languageOf(file)?.comments(file.text) ?? []))).toEqual([]);
});

test('no name of a test, and no other text of one, has a pronoun for a person', () => {
  const files = filesBelow('test').filter((path) => path.endsWith('.ts') && !WITH_THE_WORDS.has(path));
  const suspects = files.map(readText).filter(({ text }) => personWords(text).length > 0);
  const texts = suspects.flatMap(({ path, text: whole }) =>
    persons(
      path,
      stringsOf(whole).filter(({ text }) => !USER.test(text)),
    ),
  );
  expect(texts).toEqual([]);
});

describe('the texts that this test reads', () => {
  test.each<[what: string, text: string, found: Piece[]]>([
    ['a string', "f('a b');", [{ line: 1, text: 'a b' }]],
    ['a template with each of its parts', '\nf(`a ${b} c ${d} e`);', [' c ', ' e', 'a '].map((text) => ({ line: 2, text }))],
    ['comments are not strings', "// 'a'\n/* 'b' */", []],
    ['names of imported modules are not strings', "import { a } from './nobody.js';", []],
  ])('%s', (_what, text, found) => {
    expect(stringsOf(text).sort((a, b) => (a.text < b.text ? -1 : 1))).toEqual(found);
  });

  test('comments of every kind, with and without the code before them', () => {
    expect(commentsOf("const a = 'b // c'; // d\n/**\n * e\n */\n").map(({ line, text }) => [line, text])).toEqual([
      [1, "const a = 'b // c'; // d"],
      [2, '/**'],
      [3, ' * e'],
      [4, ' */'],
    ]);
    expect(commentTextsOf("const a = 'b // c'; // d\n/**\n * e\n */\n").map(({ line, text }) => [line, text])).toEqual([
      [1, '// d'],
      [2, '/**\n * e\n */'],
    ]);
    expect(nativeCommentsOf('int a;  // b\nint c;\n/* d\n   e */\n').map(({ line }) => line)).toEqual([1, 3, 4]);
    expect(scriptCommentsOf('#!/bin/sh\na=$#; b=${c#d} # e\n\t# f\n')).toEqual([
      { line: 2, text: ' # e' },
      { line: 3, text: '\t# f' },
    ]);
  });

  test.each<[path: string, text: string, isRead: boolean]>([
    ['test/bench/kill.c', '// a', true],
    ['src/host/linux/cri/api.proto', '// a', true],
    ['packaging/bundles.js', '// a', true],
    ['examples/check.mjs', '// a', true],
    ['test/lab/guest/lib.sh', '# a', true],
    ['native/test/Makefile', '# a', true],
    ['packaging/deb/lintian-overrides', '# a', true],
    ['test/vm/boot', '#!/usr/bin/env bash\n', true],
    ['native/test/corpus/number/6.1-v1-loadavg', '0.00', false],
    ['packaging/deb/icon.png', '\u0089PNG', false],
  ])('%s', (path, text, isRead) => {
    expect(languageOf({ path, text }) !== undefined).toBe(isRead);
  });
});

function persons(path: string, texts: readonly Piece[]): string[] {
  return texts.flatMap(({ line, text }) => personWords(text).map((word) => `${path}:${String(line)}: ${word}`));
}

/** The lines of comments that are too long. A file without a long line is not parsed. */
function tooLong(file: SourceText): string[] {
  if (!file.text.split('\n').some((line) => line.length > LONGEST)) return [];
  const long = (languageOf(file)?.lines(file.text) ?? []).filter(({ text }) => text.length > LONGEST);
  return long.map(({ line, text }) => `${file.path}:${String(line)}: ${String(text.length)} characters`);
}

function languageOf({ path, text }: SourceText): Language | undefined {
  return LANGUAGES.find(({ has }) => has(path, text));
}

function readText(path: string): SourceText {
  return { path, text: readFileSync(path, 'utf8') };
}

/** Literals and the texts of templates, but for names of modules. */
function stringsOf(text: string): Piece[] {
  const file = parse(text);
  const found: Piece[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node);
    const isModule = ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent) || ts.isLiteralTypeNode(node.parent);
    if (isText && !isModule) found.push({ line: lineOf(file, node.getStart(file)), text: node.text });
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(file, visit);
  return found;
}

function commentsOf(text: string): Piece[] {
  const file = parse(text);
  const lines = new Set<number>();
  for (const [pos, end] of commentRangesOf(file, text)) {
    for (let line = lineOf(file, pos); line <= lineOf(file, end); line += 1) lines.add(line);
  }
  return linesAt(text, [...lines]);
}

function commentTextsOf(text: string): Piece[] {
  const file = parse(text);
  return [...commentRangesOf(file, text)].map(([pos, end]) => ({ line: lineOf(file, pos), text: text.slice(pos, end) }));
}

function commentRangesOf(file: ts.SourceFile, text: string): ReadonlyMap<number, number> {
  const ranges = new Map<number, number>();
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) ranges.set(pos, end);
    for (const { pos, end } of ts.getTrailingCommentRanges(text, node.getEnd()) ?? []) ranges.set(pos, end);
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return ranges;
}

/** The lines of C++ with a comment: a simple scan, which takes the `//` of an address in a string for one, too. */
function nativeCommentsOf(text: string): Piece[] {
  const lines: number[] = [];
  let isInside = false;
  for (const [index, line] of text.split('\n').entries()) {
    const begins = line.includes('/*');
    if (isInside || begins || line.includes('//')) lines.push(index + 1);
    if (begins || isInside) isInside = line.lastIndexOf('*/') < (begins ? line.lastIndexOf('/*') : 0);
  }
  return linesAt(text, lines);
}

function isScript(path: string, text: string): boolean {
  const name = basename(path);
  return name.endsWith('.sh') || name === 'Makefile' || text.startsWith('#!') || (path.startsWith('packaging') && !name.includes('.'));
}

/** Comments of shell scripts and Makefiles. Not in quotes: there `#` stands after a blank in no text of this repository. */
function scriptCommentsOf(text: string): Piece[] {
  return linesOf(text).flatMap(({ line, text: whole }) => {
    const [comment] = /(?:^|\s)# .*/.exec(whole) ?? [];
    return comment === undefined ? [] : [{ line, text: comment }];
  });
}

function linesOf(text: string): Piece[] {
  return text.split('\n').map((line, index) => ({ line: index + 1, text: line }));
}

function linesAt(text: string, numbers: readonly number[]): Piece[] {
  const all = text.split('\n');
  return [...numbers].sort((a, b) => a - b).map((line) => ({ line, text: all[line - 1] ?? '' }));
}

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
}

function lineOf(file: ts.SourceFile, position: number): number {
  return file.getLineAndCharacterOfPosition(position).line + 1;
}

function filesBelow(root: string): string[] {
  return filesIn(root, true).filter((path) => !path.includes('node_modules'));
}

function filesIn(root: string, recursive = false): string[] {
  return readdirSync(root, { recursive, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
