import { jsonDocument } from '../../core/name/json-text.js';

export type OutputFormat = 'text' | 'json';

/** The answer of the running evictd to a request of an operator: its message, or all of it. */
export function answerText(answer: unknown, output: OutputFormat): string {
  return output === 'json' ? jsonDocument(answer) : `${(answer as { readonly message: string }).message}\n`;
}
