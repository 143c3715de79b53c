type Token =
  | { readonly kind: 'character'; readonly character: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'run'; readonly slashes: boolean };

/**
 * Whether a rule's pattern matches any text at all of the form `prefix` + a name: not empty, without a slash. The patterns are those of rules: `*` a run
 * without slashes, `**` any run, `?` one character that is no slash.
 */
export function matchesSomeName(glob: string, prefix: string): boolean {
  const tokens = tokensOf(glob);
  let positions = withSkippedRuns([0], tokens);
  for (const character of prefix) {
    const next = positions.flatMap((position) => consume(tokens[position], position, character));
    positions = withSkippedRuns(next, tokens);
  }
  return positions.some((position) => {
    const rest = tokens.slice(position);
    return rest.length > 0 && !rest.some((token) => token.kind === 'character' && token.character === '/');
  });
}

/** Whether it matches every name. */
export function matchesEveryName(glob: string | undefined): boolean {
  return glob === undefined || /^\*+$/.test(glob);
}

export function isLiteral(glob: string): boolean {
  return !/[*?]/.test(glob);
}

function tokensOf(glob: string): Token[] {
  return [...glob.matchAll(/\*+|[^*]/gsu)].map(([text]): Token => {
    if (text.startsWith('*')) return { kind: 'run', slashes: text.length > 1 };
    return text === '?' ? { kind: 'any' } : { kind: 'character', character: text };
  });
}

/** Where in the pattern one may be after `character`. */
function consume(token: Token | undefined, position: number, character: string): number[] {
  switch (token?.kind) {
    case undefined:
      return [];
    case 'character':
      return token.character === character ? [position + 1] : [];
    case 'any':
      return character === '/' ? [] : [position + 1];
    case 'run':
      return token.slashes || character !== '/' ? [position] : [];
  }
}

/** A run may be empty. */
function withSkippedRuns(positions: readonly number[], tokens: readonly Token[]): number[] {
  const all = new Set<number>();
  for (let position of positions) {
    all.add(position);
    while (tokens[position]?.kind === 'run') all.add(++position);
  }
  return [...all];
}
