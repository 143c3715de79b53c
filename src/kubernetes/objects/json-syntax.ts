const TOKEN = /\s*(?:("(?:[^"\\\n]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)|([{}[\],:]))/y;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'end';

/** The offset of what is not JSON; JSON.parse does not say where it is. */
export function syntaxErrorOffset(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  TOKEN.lastIndex = 0;
  for (let at = 0; ; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    const start = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
    if (match === null) return start;
    const [, value, mark = ''] = match;
    const next = nextOf(expected, value, mark, open);
    if (next === undefined) return start;
    expected = next;
  }
}

/** What may follow; undefined: this may not stand here. */
function nextOf(expected: Expected, value: string | undefined, mark: string, open: string[]): Expected | undefined {
  const takesValue = expected.startsWith('value');
  if (value !== undefined) {
    if (takesValue) return 'end';
    return expected.startsWith('key') && value.startsWith('"') ? 'colon' : undefined;
  }
  const inside = open.at(-1);
  switch (mark) {
    case '{':
    case '[':
      if (takesValue) open.push(mark);
      return takesValue ? (mark === '{' ? 'key or }' : 'value or ]') : undefined;
    case '}':
      return inside === '{' && (expected === 'end' || expected === 'key or }') ? closed(open) : undefined;
    case ']':
      return inside === '[' && (expected === 'end' || expected === 'value or ]') ? closed(open) : undefined;
    case ':':
      return expected === 'colon' ? 'value' : undefined;
    default:
      return expected === 'end' && inside !== undefined ? (inside === '{' ? 'key' : 'value') : undefined;
  }
}

function closed(open: string[]): Expected {
  open.pop();
  return 'end';
}
