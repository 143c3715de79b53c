import { closeSync, openSync, readSync } from 'node:fs';
import { DocumentError, InputError } from '../errors.js';
import { parseJson } from '../kubernetes/json.js';

const STANDARD_INPUT = 0;
const CHUNK_BYTES = 64 * 1024;

export interface DocumentFile {
  readonly maxBytes: number;
  /** How to come by the document. */
  readonly hint: string;
}

/**
 * What `read` makes of the JSON in a file, '-' for standard input. Integers beyond 2^53 are read as they are. Without Node's streams: on a node
 * without a process id to spare no thread could be made for them.
 *
 * @throws InputError  it cannot be read, is too large or no JSON, or `read` refuses it with a DocumentError: the message then begins with the file's name
 */
export function readDocument<T>(file: string, { maxBytes, hint }: DocumentFile, read: (document: unknown) => T): T {
  const from = file === '-' ? 'standard input' : file;
  const text = textOf(file, from, maxBytes);
  try {
    return read(parseJson(text));
  } catch (cause) {
    if (cause instanceof SyntaxError) {
      const what = text.trim() === '' ? 'nothing' : `no JSON: ${cause.message}`;
      throw new InputError('EVICTD_KUBERNETES_FILE', `${from} holds ${what}`, { isMissing: false, hint, cause });
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
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new InputError('EVICTD_KUBERNETES_FILE', `${from} cannot be read: ${message}`, { isMissing: true, cause });
  }
  if (bytes !== undefined) return bytes.toString('utf8');
  const most = `${String(maxBytes / 1024 ** 2)} MiB`;
  throw new InputError('EVICTD_KUBERNETES_FILE', `${from} is larger than such a document can be: more than ${most}`, { isMissing: false });
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
