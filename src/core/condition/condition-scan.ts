/** A piece of a condition. `offset` counts UTF-16 units from the start of the text. */
export interface Token {
  readonly kind: 'symbol' | 'word' | 'end';
  readonly text: string;
  readonly offset: number;
}

/** Doubled and foreign operators are tokens, too, so that the parser can name what is meant. `cgroup(PATH).NAME` is a word. */
const TOKEN = /\s*(?:(&&?|\|\|?|!=|[<>=]=|[!()<>=,;])|(cgroup\([^()\n]*\)[^\s&|!()<>=,;]*|[^\s&|!()<>=,;]+))/gy;

/** Every text has tokens; the last is `end`. */
export function scanCondition(text: string): readonly Token[] {
  const tokens = [...text.matchAll(TOKEN)].map((match): Token => {
    const [whole, symbol, word = ''] = match;
    const piece = symbol ?? word;
    return { kind: symbol === undefined ? 'word' : 'symbol', text: piece, offset: match.index + whole.length - piece.length };
  });
  return [...tokens, { kind: 'end', text: '', offset: text.trimEnd().length }];
}
