/**
 * A command line that passes each word unchanged (CommandLineToArgvW): quotes every word, escapes quotes, doubles
 * backslashes before quotes.
 */
export function windowsCommandLine(words: readonly string[]): string {
  return words.map((word) => `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`).join(' ');
}
