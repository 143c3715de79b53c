/**
 * What must not reach a terminal or log as it is: control characters, invisible ones that reorder or hide text (U+202E,
 * U+200B), line separators, and bytes that are not UTF-8.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * A name as evictd shows it: `leak\xff`, `x\x1b[31mred`, `a\u202eb`. Names are untrusted, and need not be UTF-8. A
 * backslash stays as it is: systemd's unit names have `\x2d` in them.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** Escapes from DEL on are `\u` and four digits, which JSON accepts, too. */
function escaped(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20 || isByte(code)) return `\\x${hex(code & 0xff, 2)}`;
  return Array.from({ length: character.length }, (_, index) => `\\u${hex(character.charCodeAt(index), 4)}`).join('');
}

/** A byte that belongs to no UTF-8 sequence (byte-text.ts). */
function isByte(code: number): boolean {
  return code >= 0xdc80 && code <= 0xdcff;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
