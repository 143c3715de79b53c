import { createHash, timingSafeEqual } from 'node:crypto';
import { open } from 'node:fs/promises';
import { EvictdError, UnavailableError } from '../errors.js';

/** A shorter token could be guessed. */
const LEAST_CHARACTERS = 16;
const MOST_BYTES = 4_096;

/**
 * Reads a token: the only line of a file. The file is read for each request, so that a new token takes effect at once.
 *
 * @throws UnavailableError  it cannot be read or is too short
 */
async function readToken(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES));
      const token = buffer.toString('utf8', 0, bytesRead).trim();
      if (token.length < LEAST_CHARACTERS) throw new Error(`the token has fewer than ${String(LEAST_CHARACTERS)} characters`);
      return token;
    } finally {
      await file.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnavailableError('EVICTD_API_TOKEN_FILE', `${path}: ${reason}`, {
      hint: `umask 077; head -c 24 /dev/urandom | base64 >${path}`,
      cause: error,
    });
  }
}

/**
 * Whether a request has the token of a file: `Bearer TOKEN`, or any user with the token as the password (`Basic`), for
 * which a browser asks.
 *
 * @param header  `Authorization`
 * @returns undefined: the token is right
 * @throws UnavailableError  as readToken
 */
export async function tokenRefusal(header: string | undefined, path: string): Promise<EvictdError | undefined> {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +([!-~]+) *$/i.exec(header ?? '') ?? [];
  const given =
    scheme.toLowerCase() === 'basic'
      ? Buffer.from(credentials, 'base64')
          .toString()
          .replace(/^[^:]*:/, '')
      : credentials;
  if (isSame(given, await readToken(path))) return undefined;
  return new EvictdError('EVICTD_API_TOKEN', given === '' ? 'the request has no token' : 'the token is wrong', {
    hint: 'send Authorization: Bearer TOKEN, or the token as the password; it is in the file of metrics.tokenFile',
  });
}

/** Compares in constant time: digests have the same length. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
