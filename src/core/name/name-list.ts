/** 'a, b, c and 4 more'. */
export function firstOf(names: readonly string[], most = 3): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
}
