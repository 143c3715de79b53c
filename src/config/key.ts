/** Where a value stands in a document: keys and list indexes from the top. */
export type KeyPath = readonly (string | number)[];

/** As messages and `config show` write it: `rules[0].match.name`, `evictionHard.memory.available`. */
export function keyText(path: KeyPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${String(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** The candidate that was probably meant: at most half of the letters (one part in `part`) differ, whatever the case. */
export function nearest(word: string, candidates: readonly string[], part = 2): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance * part <= Math.max(word.length, best.candidate.length) ? best.candidate : undefined;
}

/** "did you mean X?", or what is accepted when nothing is near. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? `accepted: ${candidates.join(', ')}` : `did you mean ${near}?`;
}

/** Levenshtein's distance. Words here are short; a long one is cut, it is near to nothing anyway. */
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
