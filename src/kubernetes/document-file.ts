import { closeSync, openSync, readSync } from 'node:fs';
import { DocumentError, InputError, messageOf } from '../errors.js';
import { parseJson } from './json.js';

const STANDARD_INPUT = 0;
const CHUNK_BYTES = 64 * 1024;

export interface DocumentFile {
  readonly maxBytes: number;
  /** How to get the document. */
  readonly hint: string;
}

/**
 * Parses a JSON file ('-': standard input) and passes it to `read`. Keeps integers beyond 2^53. Reads synchronously:
 * streams need a thread, which a node without free process IDs cannot create.
 *
 * @throws InputError  if the file is unreadable, too large or not JSON, or if `read` throws a DocumentError
 */
export function readDocument<T>(file: string, { maxBytes, hint }: DocumentFile, read: (document: unknown) => T): T {
  const from = file === '-' ? 'standard input' : file;
  const text = textOf(file, from, maxBytes);
  try {
    return read(parseJson(text));
  } catch (cause) {
    if (cause instanceof SyntaxError) {
      const what = text.trim() === '' ? 'empty' : `not JSON: ${cause.message}`;
      throw new InputError('EVICTD_KUBERNETES_FILE', `${from} is ${what}`, { isMissing: false, hint, cause });
    }
    if (cause instanceof DocumentError) throw new InputError(cause.code, `${from}: ${cause.message}`, { isMissing: false, hint, cause });
    throw cause;
  }
}

function textOf(file: string, from: string, maxBytes: number): string {
  let bytes: Buffer | undefined;
  try {
    bytes = bytesOf(file, maxBytes);
  } catch (cause) {
    throw new InputError('EVICTD_KUBERNETES_FILE', `${from} cannot be read: ${messageOf(cause)}`, { isMissing: true, cause });
  }
  if (bytes !== undefined) return bytes.toString('utf8');
  const most = `${String(maxBytes / 1024 ** 2)} MiB`;
  throw new InputError('EVICTD_KUBERNETES_FILE', `${from} is too large: more than ${most}`, { isMissing: false });
}

/** undefined: more than `maxBytes`. */
function bytesOf(file: string, maxBytes: number): Buffer | undefined {
  const descriptor = file === '-' ? STANDARD_INPUT : openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; length <= maxBytes;) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const count = readSync(descriptor, chunk, 0, chunk.length, null);
      if (count === 0) return Buffer.concat(chunks);
      length += count;
      chunks.push(chunk.subarray(0, count));
    }
    return undefined;
  } finally {
    if (file !== '-') closeSync(descriptor);
  }
}
