import { MAX_SOCKET_BYTES } from '../../core/name/socket-path.js';
import { isIPv4, isIPv6 } from 'node:net';
import { win32 } from 'node:path';
import { parseTaint, TaintError, type Taint } from '../../core/disruption/taint.js';
import { formatDuration, parseDuration } from '../../core/quantity/duration.js';
import { meantAmount } from '../../core/quantity/meant-amount.js';
import { systemDirectory } from '../../core/workload/workload-directory.js';
import { parseQuantity, quantityValue } from '../../core/quantity/quantity.js';
import { isWindowsPath } from '../../core/windows/windows-path.js';
import { messageOf } from '../../errors.js';

/** Nanoseconds in 64 bits. */
export const MAX_DURATION_NS = 2n ** 63n - 1n;

/** An invalid value of a key. */
export class TextError extends Error {
  override readonly name = 'TextError';

  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
    /** The index in the text of the wrong character. Left out: the whole text is wrong. */
    readonly offset?: number,
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

/** The cap of Kubernetes for amounts with a binary unit. */
const MAX_BYTES = 2n ** 63n - 1n;

/**
 * Bytes from 0 to 2⁶³−1, rounded up.
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
  if (bytes >= 0n && bytes <= MAX_BYTES) return bytes;
  const wrong = bytes < 0n ? 'must not be negative' : 'is more than any machine has';
  throw new TextError('EVICTD_CONFIG_RANGE', `${wrong}: ${text}`, 'write bytes as 512Mi, 1.5Gi or 500M');
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
 * Bytes of a journal file: 64Ki to 1Gi.
 *
 * @throws TextError
 */
export function journalSizeText(text: string): bigint {
  const bytes = bytesText(text);
  if (bytes >= 1n << 16n && bytes <= 1n << 30n) return bytes;
  throw new TextError('EVICTD_CONFIG_RANGE', `out of range: ${text}`, 'write 64Ki to 1Gi');
}

/** A suggestion for a percentage with white space (`10 %`). */
export function meantPercentage(text: string): string | undefined {
  const meant = text.replace(/\s+/g, '');
  return meant !== text && /^[0-9]*\.?[0-9]+%$/.test(meant) ? `remove the space: ${meant}` : undefined;
}

/** The usual mount points of the memory controller. */
const CGROUP_MOUNT = /^\/sys\/fs\/cgroup(?:\/(?:memory|unified))?(?=\/|$)/;

/**
 * A cgroup's path below the mount of the memory controller, normalised.
 *
 * @throws TextError  a relative path, `..`, or a path that includes the mount
 */
export function cgroupText(text: string): string {
  if (!CGROUP_MOUNT.test(text)) return pathText(text, text === '' || text.includes('..') ? '/workload.slice' : absolute(text));
  const below = text.replace(CGROUP_MOUNT, '') || '/';
  throw new TextError('EVICTD_CONFIG_PATH', `includes the mount of the controller: ${text}`, `write the path below it: ${below}`);
}

/** A suggestion for a relative path. */
function absolute(text: string): string {
  return normalised(`/${text}`.replace(CGROUP_MOUNT, '').split('/'));
}

function normalised(parts: readonly string[]): string {
  return `/${parts.filter((part) => part !== '' && part !== '.').join('/')}`;
}

/**
 * An absolute path, normalised.
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
    throw new TextError('EVICTD_CONFIG_PATH', `${problem}: ${JSON.stringify(text)}`, `write an absolute path: ${example}`);
  }
  return normalised(parts);
}

/**
 * A name of a group as groupadd(8) accepts it, or an id.
 *
 * @throws TextError
 */
export function groupText(text: string): string {
  const isId = /^\d{1,10}$/.test(text) && Number(text) < 2 ** 32 - 1;
  if (isId || /^[a-z_][\w-]{0,30}\$?$/i.test(text)) return text;
  throw new TextError('EVICTD_CONFIG_GROUP', `not a group: ${JSON.stringify(text)}`, 'write its name, or its id: wheel, 4711');
}

/**
 * An absolute path of Linux or Windows, normalised. platform-settings.ts refuses paths of the other operating system.
 *
 * @throws TextError
 */
export function nodePathText(text: string, example: string): string {
  if (!isWindowsPath(text)) return pathText(text, example);
  const problem = text.split(/[\\/]/).includes('..') ? 'contains ..' : text.includes('\0') ? 'contains NUL' : undefined;
  if (problem !== undefined) {
    throw new TextError('EVICTD_CONFIG_PATH', `${problem}: ${JSON.stringify(text)}`, 'write an absolute path: C:\\ProgramData\\evictd');
  }
  const path = win32.normalize(text);
  return path.length > win32.parse(path).root.length ? path.replace(/\\$/, '') : path;
}

/**
 * A directory that belongs to one workload, normalised.
 *
 * @throws TextError
 */
export function directoryText(text: string): string {
  const path = pathText(text, '/var/lib/NAME');
  const refused = systemDirectory(path);
  if (refused === undefined) return path;
  throw new TextError('EVICTD_CONFIG_DIRECTORY', refused, 'name a directory that only this workload uses, like /var/lib/NAME');
}

/**
 * A taint: `KEY=VALUE:EFFECT` or `KEY:EFFECT`.
 *
 * @throws TextError
 */
export function taintOf(text: string): Taint {
  try {
    return parseTaint(text);
  } catch (error) {
    throw error instanceof TaintError ? new TextError('EVICTD_CONFIG_TAINT', error.message, error.hint) : error;
  }
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
    `not a socket: ${JSON.stringify(text)}`,
    'write unix:///run/containerd/containerd.sock, or unix:///run/crio/crio.sock',
  );
}

/**
 * `ADDRESS:PORT`, an IPv6 address in brackets, or `unix:PATH`; undefined: `off`. Port 0 selects a free port.
 *
 * @throws TextError
 */
export function listenText(text: string): { host: string; port: number } | { socket: string } | undefined {
  if (text === 'off') return undefined;
  const [, socket] = /^unix:(?:\/\/)?(\/[^\0]*[^\0/])$/.exec(text) ?? [];
  if (socket !== undefined && Buffer.byteLength(socket) <= MAX_SOCKET_BYTES) return { socket };
  const [, bracketed, plain, portText = ''] = /^(?:\[([^\]]*)\]|([^:]*)):([0-9]{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = Number(portText);
  const isAddress = bracketed === undefined ? isIPv4(host) || isHostName(host) : isIPv6(host);
  if (isAddress && portText !== '' && port <= 65_535) return { host, port };
  throw new TextError(
    'EVICTD_CONFIG_LISTEN',
    `not an address and port, and no Unix socket: ${JSON.stringify(text)}`,
    "write '127.0.0.1:9796', '[::1]:9796', '[::]:9796' for all addresses, 'unix:/run/evictd/metrics.sock', or 'off'",
  );
}

/** RFC 1123, but not digits and dots only: that is a mistyped address. */
function isHostName(text: string): boolean {
  return (
    text.length <= 253 && !/^[0-9.]*$/.test(text) && text.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label))
  );
}
