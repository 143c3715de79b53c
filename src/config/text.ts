import { isIPv4, isIPv6 } from 'node:net';
import { formatDuration, parseDuration } from '../core/duration.js';
import { systemDirectory } from '../core/workload-directory.js';
import { parseQuantity, quantityValue } from '../core/quantity.js';

/** A text that is not what its key takes. */
export class TextError extends Error {
  override readonly name = 'TextError';

  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

/**
 * Nanoseconds of a duration within [`least`, `most`].
 *
 * @throws TextError
 */
export function durationText(text: string, least: bigint, most: bigint): bigint {
  let ns: bigint;
  try {
    ns = parseDuration(text);
  } catch (error) {
    throw new TextError('EVICTD_CONFIG_DURATION', messageOf(error), 'write a number and a unit: 500ms, 10s, 5m, 1h30m');
  }
  if (ns >= least && ns <= most) return ns;
  throw new TextError('EVICTD_CONFIG_RANGE', `out of range: ${text}`, `from ${formatDuration(least)} to ${formatDuration(most)}`);
}

/**
 * Bytes, rounded up, not negative.
 *
 * @throws TextError
 */
export function bytesText(text: string): bigint {
  let bytes: bigint;
  try {
    bytes = quantityValue(parseQuantity(text));
  } catch (error) {
    const hint = meantAmount(text) ?? 'write bytes as 512Mi, 1.5Gi or 500M';
    throw new TextError('EVICTD_CONFIG_QUANTITY', `${messageOf(error)}: ${JSON.stringify(text)}`, hint);
  }
  if (bytes >= 0n) return bytes;
  throw new TextError('EVICTD_CONFIG_RANGE', `must not be negative: ${text}`, 'write bytes as 512Mi, 1.5Gi or 500M');
}

/**
 * Bytes above 0.
 *
 * @throws TextError
 */
export function capacityText(text: string): bigint {
  const bytes = bytesText(text);
  if (bytes > 0n) return bytes;
  throw new TextError('EVICTD_CONFIG_RANGE', `must be above 0: ${text}`, 'write bytes as 512Mi, 1.5Gi or 500M');
}

/**
 * Bytes of a file of the journal: 64Ki to 1Gi.
 *
 * @throws TextError
 */
export function journalSizeText(text: string): bigint {
  const bytes = bytesText(text);
  if (bytes >= 1n << 16n && bytes <= 1n << 30n) return bytes;
  throw new TextError('EVICTD_CONFIG_RANGE', `out of range: ${text}`, 'write 64Ki to 1Gi');
}

/** For an amount with a unit that Kubernetes does not know (`100MB`, `64MiB`, `1 gb`), what was probably meant. */
export function meantAmount(text: string): string | undefined {
  const [, number, letter = '', binary] = /^\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgtpe]?)(i?)(?:b|bytes?)?\s*$/i.exec(text) ?? [];
  if (number === undefined || (letter === '' && binary !== '')) return undefined;
  const decimal = letter.toLowerCase() === 'k' ? 'k' : letter.toUpperCase();
  const meant = [...(binary === '' ? [decimal] : []), ...(letter === '' ? [] : [`${letter.toUpperCase()}i`])];
  return `did you mean ${meant.map((unit) => number + unit).join(' or ')}?`;
}

/** For a percentage with white space in it (`10 %`), what was meant. */
export function meantPercentage(text: string): string | undefined {
  const meant = text.replace(/\s+/g, '');
  return meant !== text && /^[0-9]*\.?[0-9]+%$/.test(meant) ? `remove the space: ${meant}` : undefined;
}

/** Where the controller is usually mounted: a path below it was meant without it. */
const CGROUP_MOUNT = /^\/sys\/fs\/cgroup(?:\/(?:memory|unified))?(?=\/|$)/;

/**
 * A cgroup's path below the mount of the memory controller, without `.`, `//` and a slash at the end.
 *
 * @throws TextError  for a relative path, for `..`, and for a path that begins with the mount
 */
export function cgroupText(text: string): string {
  if (!CGROUP_MOUNT.test(text)) return pathText(text, text === '' || text.includes('..') ? '/workload.slice' : fromTheTop(text));
  const below = text.replace(CGROUP_MOUNT, '') || '/';
  throw new TextError('EVICTD_CONFIG_PATH', `begins with the mount of the controller: ${text}`, `write the path below it: ${below}`);
}

/** A relative path as it was probably meant. */
function fromTheTop(text: string): string {
  return normalised(`/${text}`.replace(CGROUP_MOUNT, '').split('/'));
}

function normalised(parts: readonly string[]): string {
  return `/${parts.filter((part) => part !== '' && part !== '.').join('/')}`;
}

/**
 * An absolute path, normalised as {@link cgroupText}.
 *
 * @throws TextError
 */
export function pathText(text: string, example: string): string {
  const parts = text.split('/');
  const problem = !text.startsWith('/')
    ? 'not an absolute path'
    : parts.includes('..')
      ? 'contains ..'
      : text.includes('\0')
        ? 'contains NUL'
        : undefined;
  if (problem !== undefined) {
    throw new TextError('EVICTD_CONFIG_PATH', `${problem}: ${JSON.stringify(text)}`, `write it from the top: ${example}`);
  }
  return normalised(parts);
}

/**
 * A directory that one workload may have for its own, normalised.
 *
 * @throws TextError
 */
export function directoryText(text: string): string {
  const path = pathText(text, '/var/lib/NAME');
  const refused = systemDirectory(path);
  if (refused === undefined) return path;
  throw new TextError('EVICTD_CONFIG_DIRECTORY', refused, 'name a directory that only this workload has, like /var/lib/NAME');
}

/**
 * The socket of a container runtime: `unix:///run/containerd/containerd.sock`, or its path alone.
 *
 * @throws TextError
 */
export function endpointText(text: string): string {
  const [, path] = /^(?:unix:(?:\/\/)?)?(\/(?!\/).*)$/.exec(text) ?? [];
  if (path !== undefined && path !== '/' && !path.includes('\0') && !path.split('/').includes('..')) {
    return `unix://${normalised(path.split('/'))}`;
  }
  throw new TextError(
    'EVICTD_CONFIG_ENDPOINT',
    `not the socket of a container runtime: ${JSON.stringify(text)}`,
    'write unix:///run/containerd/containerd.sock, or unix:///run/crio/crio.sock',
  );
}

/**
 * `ADDRESS:PORT`, an IPv6 address in brackets; undefined: `off`. Port 0 takes a free one.
 *
 * @throws TextError
 */
export function listenText(text: string): { host: string; port: number } | undefined {
  if (text === 'off') return undefined;
  const [, bracketed, plain, portText = ''] = /^(?:\[([^\]]*)\]|([^:]*)):([0-9]{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = Number(portText);
  const isAddress = bracketed === undefined ? isIPv4(host) || isHostName(host) : isIPv6(host);
  if (isAddress && portText !== '' && port <= 65_535) return { host, port };
  throw new TextError(
    'EVICTD_CONFIG_LISTEN',
    `not an address and port: ${JSON.stringify(text)}`,
    "write '127.0.0.1:9796', '[::1]:9796', '0.0.0.0:9796' for all addresses, or 'off'",
  );
}

/** RFC 1123; a name of digits and points only is a mistyped address. */
function isHostName(text: string): boolean {
  return (
    text.length <= 253 && !/^[0-9.]*$/.test(text) && text.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label))
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
