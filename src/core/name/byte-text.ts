/**
 * Names of the kernel as text. They are bytes, mostly UTF-8. A byte that belongs to no UTF-8 sequence is U+DC00 + byte, a
 * lone surrogate, which no UTF-8 yields (PEP 383, "surrogateescape"). The native layer does the same (byte_text.cc).
 */

const ESCAPE = 0xdc00;
const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const ENCODER = new TextEncoder();

/** Every byte sequence survives the way to text and back. */
export function textOfBytes(bytes: Uint8Array): string {
  try {
    return STRICT.decode(bytes);
  } catch {
    return textOfMixed(bytes);
  }
}

function textOfMixed(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const [text, length] = sequenceAt(bytes, at) ?? [String.fromCharCode(ESCAPE + (bytes[at] ?? 0)), 1];
    parts.push(text);
    at += length;
  }
  return parts.join('');
}

/** The character that is well-formed UTF-8 at `at`, and its length in bytes. */
function sequenceAt(bytes: Uint8Array, at: number): readonly [string, number] | undefined {
  const lead = bytes[at] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length === 0) return undefined;
  try {
    return [STRICT.decode(bytes.subarray(at, at + length)), length];
  } catch {
    return undefined;
  }
}

/** The bytes of a name, for a system call. */
export function bytesOfText(text: string): Uint8Array {
  if (text.isWellFormed()) return ENCODER.encode(text);
  const bytes = Array.from(text, (character) => {
    const unit = character.charCodeAt(0);
    return character.length === 1 && unit >= ESCAPE + 0x80 && unit <= ESCAPE + 0xff ? [unit - ESCAPE] : [...ENCODER.encode(character)];
  });
  return Uint8Array.from(bytes.flat());
}
