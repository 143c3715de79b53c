import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { UnavailableError, messageOf } from '../errors.js';

/** A shorter token could be guessed. */
const MIN_CHARACTERS = 16;
const MAX_BYTES = 4_096;

interface SecretFile {
  readonly bytes: Buffer;
  /** All users of the machine may read or write the file. Of no meaning on Windows. */
  readonly isPublic: boolean;
}

/** The first 4 KiB of a file that is a secret. A FIFO is an empty file. */
export async function readSecretFile(path: string): Promise<SecretFile> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { mode } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES));
    return { bytes: buffer.subarray(0, bytesRead), isPublic: (mode & 0o006) !== 0 };
  } finally {
    await file.close();
  }
}

/**
 * Reads a token: the only line of a file.
 *
 * @throws UnavailableError  it cannot be read or is too short
 */
export async function readTokenFile(path: string): Promise<{ readonly token: string; readonly isPublic: boolean }> {
  try {
    const { bytes, isPublic } = await readSecretFile(path);
    const token = bytes.toString('utf8').trim();
    if (token.length < MIN_CHARACTERS) throw new Error(`the token has fewer than ${String(MIN_CHARACTERS)} characters`);
    return { token, isPublic };
  } catch (error) {
    throw new UnavailableError('EVICTD_API_TOKEN_FILE', `${path}: ${messageOf(error)}`, {
      hint: `umask 077; head -c 24 /dev/urandom | base64 >${path}`,
      cause: error,
    });
  }
}
