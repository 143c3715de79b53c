import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { JsonObjects } from '../../../src/kubernetes/objects/json-objects.js';
import { readObjects } from '../../../src/kubernetes/objects/object-file.js';
import { member, textOf } from '../../../src/kubernetes/document.js';
import { fc } from '../../support/property.js';

const directory = mkdtempSync(join(tmpdir(), `evictd-objects-${String(process.pid)}-`));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** 'Pod a 1:1' for each object, and '1:1 message' for what is none. */
function read(text: string): readonly string[] {
  const file = join(directory, 'dump');
  writeFileSync(file, text, text.startsWith('\x1f') || text.startsWith('\xff') ? 'latin1' : 'utf8');
  const lines: string[] = [];
  readObjects(file, {
    object: ({ kind, object, at }) => lines.push(`${kind} ${textOf(member(object, 'n'))} ${String(at.line)}:${String(at.column)}`),
    bad: ({ object, message, at }) => lines.push(`${String(at.line)}:${String(at.column)} ${object}${object && ': '}${message}`),
  });
  return lines;
}

const NO_TEXT = '1:1 neither JSON nor YAML in UTF-8: it has bytes of value 0, as UTF-16 and compressed files have';
const A = '{"kind":"Pod","n":"a"}';
const NAMED = '{"kind":"Pod","n":"c","metadata":{"name":"c","namespace":"shop"}}';
const B = '{"kind":"Node","n":"b"}';

test.each<[rule: string, text: string, lines: readonly string[]]>([
  ['one object', A, ['Pod a 1:1']],
  ['several objects', `${A}\n ${B}`, ['Pod a 1:1', 'Node b 2:2']],
  ['an array', `[${A},\n${B}]`, ['Pod a 1:2', 'Node b 2:1']],
  ['a List whose kind comes last', `{"items":[\n${A},${B}],"kind":"List"}`, ['Pod a 2:1', 'Node b 2:24']],
  ['items of a PodList have no kind', '{"items":[{"n":"a"}],"kind":"PodList","apiVersion":"v1"}', ['Pod a 1:11']],
  ['braces and quotes in text', '{"items":[{"kind":"Pod","n":"]}\\"{"}],"kind":"List"}', ['Pod ]}"{ 1:11']],
  ['items that are not a list of objects', '{"kind":"Pod","n":"a","items":"items"}', ['Pod a 1:1']],
  ['YAML documents', 'kind: Pod\nn: a\n---\nkind: List\nitems:\n- kind: Node\n  n: b\n', ['Pod a 1:1', 'Node b 6:3']],
  [
    'cut off within an object',
    `{"items":[${NAMED},\n{"kind":"Po`,
    ['Pod c 1:11', '2:11 truncated: the file ends within the object that begins in line 2, after Pod shop/c'],
  ],
  ['cut off between objects', `{"items":[${NAMED},`, ['Pod c 1:11', '1:76 truncated: the file ends within a list, after Pod shop/c']],
  [
    'cut off after the name',
    '{"items":[{"kind":"Pod","metadata":{"name":"b","namespace":"shop"},"spec":{"x":"\\',
    ['1:81 Pod shop/b: truncated: the file ends within the object that begins in line 1'],
  ],
  [
    'cut off within the name',
    '{"items":[{"kind":"Pod","metadata":{"name":"abc',
    ['1:47 truncated: the file ends within the object that begins in line 1'],
  ],
  ['broken after the name', '{"kind":"Pod","metadata":{"name":"b"},"spec":,}', ["1:46 Pod b: not JSON: Unexpected token ','"]],
  ['a byte order mark', `\ufeff${A}`, ['Pod a 1:1']],
  ['a file with only a byte order mark', '\ufeff', ['1:1 empty']],
  [
    'an invalid object does not affect the others',
    `{"items":[${A},\n {"kind":,},\n${B}],"kind":"List"}`,
    ['Pod a 1:11', "2:10 not JSON: Unexpected token ','", 'Node b 3:1'],
  ],
  [
    'items that are not objects do not affect the others',
    `{"items":[null,${A}, -1.5e3 ,\ntrue\n,${B},"te\\"xt]",[{}, "a"],\n${A}],"kind":"List"}`,
    [
      '1:11 null: an object is expected',
      'Pod a 1:16',
      '1:40 -1500: an object is expected',
      '2:1 true: an object is expected',
      'Node b 3:2',
      '3:26 te"xt]: an object is expected',
      '3:36 a list: an object is expected',
      'Pod a 4:1',
    ],
  ],
  ['cut off within a text', `{"items":[${A},"nu`, ['Pod a 1:11', '1:36 truncated: the file ends within a list, after Pod']],
  [
    'an item of YAML that is not an object',
    'items:\n- null\n- text\n- kind: Node\n  n: b\nkind: List\n',
    ['2:3 null: an object is expected', '3:3 text: an object is expected', 'Node b 4:3'],
  ],
  [
    'YAML that is cut off between two lines has no kind, which comes last',
    'items:\n- kind: Node\n  n: b\n  metadata:\n    name: b\n',
    ['Node b 2:3', '1:1 the list has no kind, as in a file that is cut off after Node b'],
  ],
  [
    'YAML that is cut off within a text',
    'items:\n- kind: Node\n  n: b\n- kind: Pod\n  metadata:\n    name: a\n    namespace: shop\n  n: "a',
    ['Node b 2:3', '8:8 Pod shop/a: not YAML: Missing closing "quote'],
  ],
  [
    'YAML that is cut off within the namespace',
    'kind: Pod\nmetadata: {name: a, namespace: sh',
    [expect.stringMatching(/^2:34 not YAML: Flow map/)],
  ],
  [
    'an alias without its anchor',
    'kind: Pod\nn: *a\n---\nkind: Node\nn: b',
    [expect.stringMatching(/^1:1 not YAML: .*alias/), 'Node b 4:1'],
  ],
  ['a word that is not JSON', `{"items":[nix,${A}],"kind":"List"}`, ["1:11 not JSON: Unexpected token 'i'", 'Pod a 1:15']],
  ['cut off within a word', `{"items":[${A},nu`, ['Pod a 1:11', '1:35 truncated: the file ends within a list, after Pod']],
  ['text between objects', `${A} x`, ['Pod a 1:1', '1:24 unexpected "x": an object is expected, after Pod']],
  ['broken YAML', 'kind: [', ['1:8 not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]']],
  ['long text that is not an object', 'x'.repeat(50), [`1:1 ${'x'.repeat(40)}…: an object is expected`]],
  ['UTF-16, as of PowerShell', Buffer.from(`\ufeff${A}`, 'utf16le').toString('latin1'), [NO_TEXT]],
  ['a compressed file', gzipSync(A).toString('latin1'), [NO_TEXT]],
  ['an empty file', ' \n', ['1:1 empty']],
])('%s', (_rule, text, lines) => {
  expect(read(text)).toEqual(lines);
});

test('an object is read wherever the parts of a file end', () => {
  const text = Buffer.from(`{"a":"ü\\\\", "items" : [\n${A},null ,${B}, "\\\\", {"n":"\\"items\\":["}],"kind":"List"}\n[${A}]${B}`);
  const whole = [...new JsonObjects().take(text)];
  expect(whole).toHaveLength(9);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 6 }), (cuts) => {
      const objects = new JsonObjects();
      const ends = [...cuts.sort((one, other) => one - other), text.length];
      const found = ends.flatMap((end, index) => [...objects.take(text.subarray(ends[index - 1] ?? 0, end))]);
      objects.end();
      expect(found).toEqual(whole);
    }),
  );
});
