/** What systemd expands in a command line ($NAME) or anywhere (%n) is left to it: a variable of the unit's environment, an argument each. */
export interface UnitVariable {
  readonly variable: string;
}

/**
 * A command line as ExecStart= takes it, so that each word arrives as it is here, whatever is in it: systemd.service(5), "Command lines"; systemd.unit(5),
 * "Specifiers".
 */
export function commandLine(words: readonly (string | UnitVariable)[]): string {
  return words.map((word) => (typeof word === 'string' ? commandWord(word) : `$${word.variable}`)).join(' ');
}

/** The words of what `commandLine` has written; a variable is one with `$` before it. */
export function wordsOf(line: string): readonly string[] {
  return Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g), ([, inQuotes, plain = '']) => {
    const word = inQuotes?.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_: string, code: string | undefined, escaped: string) =>
      code === undefined ? escaped : String.fromCharCode(parseInt(code, 16)),
    );
    return (word ?? plain).replaceAll('%%', '%').replaceAll('$$', '$');
  });
}

/** A path in a list of paths (ReadWritePaths=, RuntimeDirectory=); with `-` before it, it need not be there. */
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
