/** The keys and list indexes from the root of a document to a value. */
export type KeyPath = readonly (string | number)[];

/** `rules[0].match.name`, `evictionHard.memory.available`. */
export function keyText(path: KeyPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${String(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** The most similar candidate, ignoring case; undefined: more than 1/`part` of the letters differ from each. */
export function nearest(word: string, candidates: readonly string[], part = 2): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance * part <= Math.max(word.length, best.candidate.length) ? best.candidate : undefined;
}

/** "did you mean X?", or the accepted candidates if none is similar. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? `accepted: ${candidates.join(', ')}` : `did you mean ${near}?`;
}

/** Levenshtein distance, of at most 64 letters of `a`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < Math.min(a.length, 64); i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min((row[j] ?? 0) + (b[j] === a[i] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
