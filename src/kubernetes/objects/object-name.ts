import { member, type Field } from '../document.js';

/** 'Pod shop/web', for messages: an object of any form has one. */
export function objectName(kind: string, object: Field): string {
  const metadata = member(object, 'metadata');
  if (typeof metadata.value !== 'object' || metadata.value === null) return kind === '' ? 'object' : kind;
  const { namespace, name } = metadata.value as { readonly namespace?: unknown; readonly name?: unknown };
  const own = typeof name === 'string' ? name : '?';
  return `${kind} ${typeof namespace === 'string' ? `${namespace}/` : ''}${own}`.trim();
}
