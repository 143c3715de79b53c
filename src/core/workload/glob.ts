/**
 * Patterns of rules and sources. `*`: any characters except `/`; `**`: any characters; `?`: one character except `/`.
 * Other characters stand for themselves, and the whole text must match. `batch-*` does not match `batch-a/worker`;
 * `batch-**` does.
 */
export function compileGlob(glob: string): RegExp {
  const source = glob.replace(/\*{2,}|[*?]|[\\^$.|+()[\]{}]/g, (token) => {
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    return token.startsWith('**') ? '.*' : `\\${token}`;
  });
  return new RegExp(`^${source}$`, 'su'); // s: a cgroup's name may hold a newline; u: `?` is a character, not half of one
}

/** Reports whether it has no wildcard. */
export function isLiteral(glob: string): boolean {
  return !/[*?]/.test(glob);
}
