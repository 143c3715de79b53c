import { readFileSync } from 'node:fs';
import { DocumentError, InputError } from '../errors.js';
import { parseJson } from '../kubernetes/json.js';

const STANDARD_INPUT = 0;

/**
 * What `read` makes of the JSON in a file, '-' for standard input. Integers beyond 2^53 are read as they are.
 *
 * @throws InputError  it cannot be read, is no JSON, or `read` refuses it with a DocumentError: the message then begins with the file's name
 */
export function readDocument<T>(file: string, read: (document: unknown) => T): T {
  const from = file === '-' ? 'standard input' : file;
  const text = textOf(file, from);
  try {
    return read(parseJson(text));
  } catch (cause) {
    if (cause instanceof SyntaxError) {
      const what = text.trim() === '' ? 'nothing' : `no JSON: ${cause.message}`;
      throw new InputError('EVICTD_KUBERNETES_FILE', `${from} holds ${what}`, { isMissing: false, cause });
    }
    if (cause instanceof DocumentError) throw new InputError(cause.code, `${from}: ${cause.message}`, { isMissing: false, cause });
    throw cause;
  }
}

function textOf(file: string, from: string): string {
  try {
    return readFileSync(file === '-' ? STANDARD_INPUT : file, 'utf8');
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new InputError('EVICTD_KUBERNETES_FILE', `${from} cannot be read: ${message}`, { isMissing: true, cause });
  }
}
