/**
 * A command line from which a program of Windows gets each word as it is here (CommandLineToArgvW): every word in quotes, a quote in it behind a backslash, and backslashes doubled that
 * stand before a quote.
 */
export function windowsCommandLine(words: readonly string[]): string {
  return words.map((word) => `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`).join(' ');
}
