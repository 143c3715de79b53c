import { isUtf8 } from 'node:buffer';
import { accessSync, closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fsPath, realPath } from '../../byte-paths.js';
import type { Report } from '../value/report.js';

/** A configuration has a few kilobytes. */
const MAX_BYTES = 256 * 1024;

/**
 * The text of a configuration file without a byte order mark; undefined: not readable, with the issue in the report.
 *
 * Does not block on a FIFO. Checks type, owner and permissions of the open descriptor, so that the file cannot be
 * replaced in between.
 *
 * @param absent  'allowed': a missing file is not an issue
 */
export function readSource(file: string, absent: 'allowed' | 'refused', report: Report): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(fsPath(file), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' && absent === 'allowed') return undefined;
    if (errno === 'ENOENT') report.issue('EVICTD_CONFIG_FILE_MISSING', 'no such file', { file }, 'name an existing file with --config');
    else report.issue('EVICTD_CONFIG_FILE_UNREADABLE', `cannot be opened: ${errno}`, { file }, 'give evictd read permission');
    return undefined;
  }
  try {
    return readDescriptor(descriptor, file, report);
  } catch (error) {
    report.issue('EVICTD_CONFIG_FILE_UNREADABLE', `cannot be read: ${errnoOf(error)}`, { file }, 'give evictd read permission');
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

function readDescriptor(descriptor: number, file: string, report: Report): string | undefined {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) {
    report.issue('EVICTD_CONFIG_FILE_TYPE', `is ${kindOf(stats)}, not a regular file`, { file }, 'name a YAML file');
    return undefined;
  }
  checkOwner(file, stats, report);
  for (const directory of new Set([dirname(resolve(file)), dirname(realPath(file))])) checkDirectory(directory, report);
  const bytes = readAll(descriptor);
  if (bytes.length > MAX_BYTES) {
    report.issue('EVICTD_CONFIG_FILE_SIZE', `is larger than ${String(MAX_BYTES / 1024)} KiB`, { file }, 'name a YAML file');
    return undefined;
  }
  if (!isUtf8(bytes)) {
    reportEncoding(bytes, file, report);
    return undefined;
  }
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Reads up to the limit plus one byte, whatever fstat's size is: 0 for files of the kernel. */
function readAll(descriptor: number): Buffer {
  const buffer = Buffer.alloc(MAX_BYTES + 1);
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}

/**
 * Reports a directory in which users other than root can replace the file. A sticky directory protects root's files,
 * and so does a read-only mount (a ConfigMap's volume has mode 0777).
 */
export function checkDirectory(directory: string, report: Report): void {
  const { uid, mode } = statSync(fsPath(directory));
  const isSticky = (mode & 0o1000) !== 0;
  checkOwner(directory, { uid, mode: isSticky ? mode & ~0o022 : mode }, report);
}

/** Checks the owner if evictd runs as root: the file decides which processes root kills. */
function checkOwner(path: string, { uid, mode }: Pick<Stats, 'uid' | 'mode'>, report: Report): void {
  if (process.geteuid?.() !== 0 || (uid === 0 && (mode & 0o022) === 0) || onReadOnlyMount(path)) return;
  const writer = mode & 0o002 ? 'all users' : mode & 0o020 ? 'its group' : undefined;
  const octal = (mode & 0o7777).toString(8).padStart(4, '0');
  const already = report.issues.some(({ code, position }) => code === 'EVICTD_CONFIG_WRITABLE' && position.file === path);
  if (already) return;
  const what = writer === undefined ? `belongs to user id ${String(uid)}, not to root` : `is writable by ${writer} (mode ${octal})`;
  report.issue(
    'EVICTD_CONFIG_WRITABLE',
    `${what}: users other than root could decide what evictd kills as root`,
    { file: path },
    uid === 0 ? `chmod go-w ${path}` : `chown root ${path} && chmod go-w ${path}`,
  );
}

function onReadOnlyMount(path: string): boolean {
  try {
    accessSync(fsPath(path), constants.W_OK);
    return false;
  } catch (error) {
    return errnoOf(error) === 'EROFS';
  }
}

function reportEncoding(bytes: Buffer, file: string, report: Report): void {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  const decoded = Buffer.from(bytes.toString('utf8'), 'utf8');
  const at = bytes.findIndex((byte, index) => byte !== decoded[index]);
  const before = bytes.subarray(0, at).toString('utf8').split('\n');
  const byte = `0x${(bytes[at] ?? 0).toString(16).padStart(2, '0')}`;
  report.issue(
    'EVICTD_CONFIG_ENCODING',
    isUtf16 ? 'is UTF-16, not UTF-8' : `is not UTF-8: byte ${byte}`,
    { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 },
    'save it as UTF-8',
  );
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return 'a device';
  return 'something else';
}

/** The errno name of an error of node:fs. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error);
}
