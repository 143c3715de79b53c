/** A suggestion for an amount with a unit that Kubernetes does not know (`100MB`, `64MiB`, `1 gb`). */
export function meantAmount(text: string): string | undefined {
  const [, number, letter = '', binary] = /^\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgtpe]?)(i?)(?:b|bytes?)?\s*$/i.exec(text) ?? [];
  if (number === undefined || (letter === '' && binary !== '')) return undefined;
  const decimal = letter.toLowerCase() === 'k' ? 'k' : letter.toUpperCase();
  const meant = [...(binary === '' ? [decimal] : []), ...(letter === '' ? [] : [`${letter.toUpperCase()}i`])];
  return `did you mean ${meant.map((unit) => number + unit).join(' or ')}?`;
}
