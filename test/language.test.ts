import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

const source = filesBelow('src', ['.ts']);
const commented = [...source, ...filesBelow('test', ['.ts']), ...filesBelow('packaging', ['.ts'])];
const native = filesBelow('native', ['.cc', '.h']);

test('no text that a program of src can show has a condemned word', () => {
  const suspects = source.map(readText).filter(({ text }) => condemnedWords(text).length > 0);
  const found = suspects.flatMap(({ path, text: whole }) =>
    stringsOf(whole).flatMap(({ line, text }) => condemnedWords(text).map((word) => `${path}:${String(line)}: ${word}`)),
  );
  expect(found).toEqual([]);
});

test('no line of a comment is longer than 140 characters', () => {
  const inScripts = commented.map(readText).flatMap((file) => tooLong(file, commentsOf));
  const inNative = native.map(readText).flatMap((file) => tooLong(file, nativeCommentsOf));
  expect([...inScripts, ...inNative]).toEqual([]);
});

test('no comment has a pronoun for a person', () => {
  const suspects = commented.map(readText).filter(({ text }) => personWords(text).length > 0);
  const inScripts = suspects.flatMap(({ path, text }) => persons(path, commentTextsOf(text)));
  const inNative = native.map(readText).flatMap(({ path, text }) => persons(path, linesOf(text)));
  expect([...inScripts, ...inNative]).toEqual([]);
});

test('no name of a test, and no other text of one, has a pronoun for a person', () => {
  const files = filesBelow('test', ['.ts']).filter((path) => !WITH_THE_WORDS.has(path));
  const suspects = files.map(readText).filter(({ text }) => personWords(text).length > 0);
  const texts = suspects.flatMap(({ path, text: whole }) =>
    persons(
      path,
      stringsOf(whole).filter(({ text }) => !USER.test(text)),
    ),
  );
  expect(texts).toEqual([]);
});

describe('what is looked at', () => {
  test.each<[what: string, text: string, found: Piece[]]>([
    ['a string', "f('a b');", [{ line: 1, text: 'a b' }]],
    ['a template, and each of its parts', '\nf(`a ${b} c ${d} e`);', [' c ', ' e', 'a '].map((text) => ({ line: 2, text }))],
    ['no comment', "// 'a'\n/* 'b' */", []],
    ['no module that is imported', "import { a } from './nobody.js';", []],
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
  });
});

function persons(path: string, texts: readonly Piece[]): string[] {
  return texts.flatMap(({ line, text }) => personWords(text).map((word) => `${path}:${String(line)}: ${word}`));
}

/** The lines of comments that are too long. A file without a long line is not parsed. */
function tooLong({ path, text: whole }: SourceText, comments: (text: string) => readonly Piece[]): string[] {
  if (!whole.split('\n').some((line) => line.length > LONGEST)) return [];
  const long = comments(whole).filter(({ text }) => text.length > LONGEST);
  return long.map(({ line, text }) => `${path}:${String(line)}: ${String(text.length)} characters`);
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

/** The lines that a comment stands in, with the code before it. */
function commentsOf(text: string): Piece[] {
  const file = parse(text);
  const lines = new Set<number>();
  for (const [pos, end] of commentRangesOf(file, text)) {
    for (let line = lineOf(file, pos); line <= lineOf(file, end); line += 1) lines.add(line);
  }
  return linesAt(text, [...lines]);
}

/** The comments without the code before them. */
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

function filesBelow(root: string, extensions: readonly string[]): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => extensions.some((extension) => path.endsWith(extension)) && !path.includes('node_modules'))
    .map((path) => join(root, path))
    .sort();
}
