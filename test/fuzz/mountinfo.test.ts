import { readFileSync, readdirSync } from 'node:fs';
import { fc } from '../support/property.js';
import { describe, expect, test } from 'vitest';
import { parseMountinfo, type Mount } from '../../src/host/linux/disk/mountinfo.js';

const seconds = Number(process.env.FUZZ_SECONDS ?? '0.5');

/**
 * `make fuzz` goes on for FUZZ_SECONDS; otherwise some hundreds of inputs, and a hundred however slow the machine is.
 */
function search(property: fc.IProperty<[string] | [string, string]>): void {
  const end = performance.now() + seconds * 500;
  do fc.assert(property as fc.IProperty<unknown>, { numRuns: 100 });
  while (performance.now() < end);
}

const corpus = 'native/test/corpus/mountinfo';
const texts = readdirSync(corpus).map((name) => readFileSync(`${corpus}/${name}`, 'latin1'));

/** A real text with some of its bytes replaced, cut out or doubled. */
const mutated = fc
  .tuple(
    fc.constantFrom(...texts),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('replace', 'cut', 'double'), fc.integer({ min: 0, max: 255 }), fc.nat(40)), {
      maxLength: 8,
    }),
  )
  .map(([text, edits]) =>
    edits.reduce((before, [at, edit, byte, length]) => {
      const start = at % (before.length + 1);
      const head = before.slice(0, start);
      switch (edit) {
        case 'replace':
          return head + String.fromCharCode(byte) + before.slice(start + 1);
        case 'cut':
          return head + before.slice(start + length);
        default:
          return before.slice(0, start + length) + before.slice(start);
      }
    }, text),
  );

/** As the kernel writes a path (fs/proc_namespace.c, mangle). */
const escaped = (path: string): string =>
  path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);

const path = fc.array(fc.constantFrom('/', 'a', ' ', '\t', '\n', '\\', '-', '0', '4', 'ü')).map((parts) => `/${parts.join('')}`);
const word = fc.stringMatching(/^[a-z0-9.]{1,8}$/);

describe('a parsed mountinfo', () => {
  test('has at most one mount a line, each with all its fields, whatever the text', () => {
    search(
      fc.property(mutated, (text) => {
        const mounts = parseMountinfo(text);
        expect(mounts.length).toBeLessThanOrEqual(text.split('\n').length);
        for (const { root, mountPoint, type, options } of mounts)
          expect([typeof root, typeof mountPoint, typeof type, options.length > 0]).toEqual(['string', 'string', 'string', true]);
      }),
    );
  }, 120_000);

  test('loses only an invalid line', () => {
    search(
      fc.property(mutated, fc.constantFrom(...texts), (garbage, text) => {
        expect(parseMountinfo(`${garbage}\n${text}`)).toEqual([...parseMountinfo(garbage), ...parseMountinfo(text)]);
      }),
    );
  }, 120_000);

  test('has the paths that the kernel writes, whatever they are', () => {
    const options = fc.array(word, { minLength: 1, maxLength: 4 });
    const mount = fc.record<Mount>({ device: fc.constant(21n), root: path, mountPoint: path, type: word, options });
    fc.assert(
      fc.property(fc.array(mount), (mounts) => {
        const lines = mounts.map(
          ({ root, mountPoint, type, options }) =>
            `22 27 0:21 ${escaped(root)} ${escaped(mountPoint)} rw,relatime shared:1 - ${type} source ${options.join(',')}\n`,
        );
        expect(parseMountinfo(lines.join(''))).toEqual(mounts);
      }),
      { numRuns: 200 },
    );
  });

  test('has every line of every file of the corpus', () => {
    for (const text of texts) expect(parseMountinfo(text)).toHaveLength(text.trimEnd().split('\n').length);
  });
});
