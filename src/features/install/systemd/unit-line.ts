/** A variable of the unit's environment, which systemd expands. */
export interface UnitVariable {
  readonly variable: string;
}

/**
 * A command line for ExecStart= that passes each word unchanged: systemd.service(5), "Command lines"; systemd.unit(5),
 * "Specifiers".
 */
export function commandLine(words: readonly (string | UnitVariable)[]): string {
  return words.map((word) => (typeof word === 'string' ? commandWord(word) : `$${word.variable}`)).join(' ');
}

/** The words of a line of `commandLine`; a variable begins with `$`. */
export function wordsOf(line: string): readonly string[] {
  return Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g), ([, inQuotes, plain = '']) => {
    const word = inQuotes?.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_: string, code: string | undefined, escaped: string) =>
      code === undefined ? escaped : String.fromCharCode(parseInt(code, 16)),
    );
    return (word ?? plain).replaceAll('%%', '%').replaceAll('$$', '$');
  });
}

/** A path in a list of paths (ReadWritePaths=, RuntimeDirectory=); with `-` before it, it need not exist. */
export function pathWord(path: string): string {
  return quoted(path.replaceAll('%', '%%'));
}

function commandWord(word: string): string {
  return quoted(word.replaceAll('%', '%%').replaceAll('$', '$$$$'));
}

const PLAIN = /^[A-Za-z0-9_./:=@%$+,-]+$/;

function quoted(word: string): string {
  if (PLAIN.test(word)) return word;
  const escaped = word
    .replace(/["\\]/g, '\\$&')
    .replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `"${escaped}"`;
}
