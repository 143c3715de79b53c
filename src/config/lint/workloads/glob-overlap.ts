import { namesIn } from '../../../core/workload/cgroup.js';
import type { Rule } from '../../../core/workload/rule.js';

type Token =
  | { readonly kind: 'character'; readonly character: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'run'; readonly slashes: boolean };

/** The tokens of a pattern (core/workload/glob.ts). */
export type Glob = readonly Token[];

export function globOf(pattern: string): Glob {
  return [...pattern.matchAll(/\*+|[^*]/gsu)].map(([text]): Token => {
    if (text.startsWith('*')) return { kind: 'run', slashes: text.length > 1 };
    return text === '?' ? { kind: 'any' } : { kind: 'character', character: text };
  });
}

/** Matches the text itself: the name of a cgroup may contain `*`. */
export function literal(text: string): Glob {
  return Array.from(text, (character): Token => ({ kind: 'character', character }));
}

/** The cgroups of a scope, and everything below them. A `**` of a scope stands for no name, too. */
export function scopeGlobs(scope: string): readonly Glob[] {
  const whole = namesIn(scope).flatMap((name) => (name === '**' ? globOf(name) : [...literal('/'), ...globOf(name)]));
  return [whole, [...whole, ...literal('/'), ...globOf('**')]];
}

/** A name: not empty, without a slash. */
export const ANY_NAME: Glob = globOf('?*');

/** Whether some text matches both. */
export function overlap(a: Glob, b: Glob): boolean {
  const seen = new Set<string>();
  const meet = (i: number, j: number): boolean => {
    const key = `${String(i)},${String(j)}`;
    if (seen.has(key)) return false; // tried already
    seen.add(key);
    const [one, other] = [a[i], b[j]];
    if (one === undefined && other === undefined) return true;
    // A run may be empty or continue.
    if (one?.kind === 'run' && meet(i + 1, j)) return true;
    if (other?.kind === 'run' && meet(i, j + 1)) return true;
    if (one === undefined || other === undefined || !share(one, other)) return false;
    return meet(one.kind === 'run' ? i : i + 1, other.kind === 'run' ? j : j + 1);
  };
  return meet(0, 0);
}

export function matchesEvery({ name, path, labels }: Rule['match']): boolean {
  return labels === undefined && (name === undefined || /^\*+$/.test(name)) && (path === undefined || /^(\/?\*{2,})$/.test(path));
}

function share(a: Token, b: Token): boolean {
  if (a.kind === 'character' && b.kind === 'character') return a.character === b.character;
  const [one, other] = [takesSlash(a), takesSlash(b)];
  return !(one === 'only' && other === 'never') && !(one === 'never' && other === 'only');
}

function takesSlash(token: Token): 'only' | 'never' | 'too' {
  if (token.kind === 'character') return token.character === '/' ? 'only' : 'never';
  return token.kind === 'run' && token.slashes ? 'too' : 'never';
}
