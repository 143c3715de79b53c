import * as crypto from 'node:crypto';
import { EvictdError } from '../errors.js';
import { readTokenFile } from '../storage/token-file.js';

/**
 * Whether a request has the token of a file: `Bearer TOKEN`, or any user with the token as the password (`Basic`), for
 * which a browser asks. The file is read for each request, so that a new token takes effect at once.
 *
 * @param header  `Authorization`
 * @returns undefined: the token is right
 * @throws UnavailableError  as readTokenFile
 */
export async function tokenRefusal(header: string | undefined, path: string): Promise<EvictdError | undefined> {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +([!-~]+) *$/i.exec(header ?? '') ?? [];
  const given =
    scheme.toLowerCase() === 'basic'
      ? Buffer.from(credentials, 'base64')
          .toString()
          .replace(/^[^:]*:/, '')
      : credentials;
  if (isSame(given, (await readTokenFile(path)).token)) return undefined;
  return new EvictdError('EVICTD_API_TOKEN', given === '' ? 'the request has no token' : 'the token is wrong', {
    hint: 'send Authorization: Bearer TOKEN, or the token as the password; it is in the file of metrics.tokenFile',
  });
}

/** Compares in constant time: digests have the same length. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => crypto.createHash('sha256').update(text).digest();
  return crypto.timingSafeEqual(digest(one), digest(other));
}
