const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** A text as Go quotes it (strconv.Quote): letters, numbers, punctuation, symbols of any script and the plain space as they are, the rest escaped. */
export function quote(text: string): string {
  return `"${Array.from(text, (char) => ESCAPES[char] ?? (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(char) ? char : escaped(char))).join('')}"`;
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0');
  if (code < 0x80) return `\\x${hex(2)}`;
  return code < 0x1_0000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}
