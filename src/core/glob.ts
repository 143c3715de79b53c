/**
 * The patterns of rules and sources, compiled: `*` is any run of characters except `/`, `**` any run, `?` one character except `/`; everything else stands
 * for itself, and the whole text must match. So `batch-*` does not reach into `batch-a/worker`, and `batch-**` does.
 */
export function compileGlob(glob: string): RegExp {
  const source = glob.replace(/\*{2,}|[*?]|[\\^$.|+()[\]{}]/g, (token) => {
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    return token.startsWith('**') ? '.*' : `\\${token}`;
  });
  return new RegExp(`^${source}$`, 'su'); // s: a cgroup's name may hold a newline; u: `?` is a character, not half of one
}

/** Whether it stands for one text only. */
export function isLiteral(glob: string): boolean {
  return !/[*?]/.test(glob);
}
