/** A word of a command line, and where each of its letters was. */
export interface Word {
  readonly text: string;
  /** As long as `text`, and the offset of the end. */
  readonly offsets: readonly number[];
}

/** What does not end: a quote, and where it begins. */
export interface OpenQuote {
  readonly quote: string;
  readonly offset: number;
}

/**
 * Splits a text as a shell does: white space, single and double quotes, backslash. Variables and `$(…)` stay as they
 * are.
 *
 * @param offsets  of the letters of `text`, if it was a word itself
 * @param comments  whether `#` at the beginning of a word begins a comment
 */
export function shellWords({ text, offsets }: Word, comments: boolean): readonly Word[] | OpenQuote {
  const words: Word[] = [];
  let word: { text: string; offsets: number[] } | undefined;
  let at = 0;
  const take = (letter: string): void => {
    word ??= { text: '', offsets: [] };
    word.text += letter;
    word.offsets.push(offsets[at] ?? 0);
  };
  const end = (): void => {
    if (word !== undefined) words.push({ text: word.text, offsets: [...word.offsets, offsets[at] ?? 0] });
    word = undefined;
  };
  for (; at < text.length; at++) {
    const letter = text[at] ?? '';
    if (/\s/.test(letter)) end();
    else if (comments && letter === '#' && word === undefined) at = lineEnd(text, at) - 1;
    else if (letter === '\\') {
      at += 1;
      if (text[at] !== '\n' && at < text.length) take(text[at] ?? '');
    } else if (letter === "'" || letter === '"') {
      const close = closingQuote(text, at);
      if (close === undefined) return { quote: letter, offset: offsets[at] ?? 0 };
      word ??= { text: '', offsets: [] };
      for (at += 1; at < close; at++) {
        const isEscape = letter === '"' && text[at] === '\\' && /["\\$`\n]/.test(text[at + 1] ?? '');
        if (isEscape) at += 1;
        if (!isEscape || text[at] !== '\n') take(text[at] ?? '');
      }
    } else take(letter);
  }
  end();
  return words;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function closingQuote(text: string, open: number): number | undefined {
  const quote = text[open];
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === quote) return at;
    if (quote === '"' && text[at] === '\\') at += 1;
  }
  return undefined;
}

/** A text as one word, each letter where it is. */
export function wordOf(text: string): Word {
  return { text, offsets: Array.from({ length: text.length + 1 }, (_letter, index) => index) };
}
