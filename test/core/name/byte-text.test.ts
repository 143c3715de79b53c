import { fc } from '../../support/property.js';
import { expect, test } from 'vitest';
import { bytesOfText, textOfBytes } from '../../../src/core/name/byte-text.js';

test.each<[rule: string, bytes: readonly number[], text: string]>([
  ['ASCII', [0x61, 0x2f, 0x62], 'a/b'],
  ['UTF-8 of two, three and four bytes', [0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80], 'ä€😀'],
  ['a byte that begins no sequence', [0x6c, 0xff], 'l\udcff'],
  ['a continuation without a beginning', [0x80, 0x61], '\udc80a'],
  ['a sequence that is cut off', [0xe2, 0x82], '\udce2\udc82'],
  ['an overlong sequence', [0xc0, 0xaf], '\udcc0\udcaf'],
  ['an encoded surrogate', [0xed, 0xb3, 0xbf], '\udced\udcb3\udcbf'],
  ['a byte order mark stays', [0xef, 0xbb, 0xbf, 0x61], '\ufeffa'],
])('%s', (_rule, bytes, text) => {
  expect(textOfBytes(Uint8Array.from(bytes))).toBe(text);
  expect([...bytesOfText(text)]).toEqual(bytes);
});

test('every name can be converted to text and back, and only UTF-8 is well-formed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
      const text = textOfBytes(bytes);
      expect(bytesOfText(text)).toEqual(bytes);
      expect(text.isWellFormed()).toBe(
        !new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).includes('\ufffd') || text.includes('\ufffd'),
      );
    }),
  );
});

test('a lone surrogate that stands for no byte becomes U+FFFD', () => {
  expect([...bytesOfText('a\ud83d')]).toEqual([0x61, 0xef, 0xbf, 0xbd]);
  expect([...bytesOfText('\udc41')]).toEqual([0xef, 0xbf, 0xbd]);
});
