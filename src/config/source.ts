import { isUtf8 } from 'node:buffer';
import { accessSync, closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Report } from './report.js';

/** A configuration is some kilobytes. What is larger was not written by hand and would only cost time. */
const MAX_BYTES = 256 * 1024;

/**
 * The text of a configuration file without a byte order mark; undefined when something is wrong with it, which is then in the report.
 *
 * Never waits: a FIFO is opened without blocking and refused. Type, owner and permissions are those of the open descriptor, so that
 * nothing can be swapped between the check and the reading.
 *
 * @param absent  'fine': undefined without an issue where there is no file
 */
export function readSource(file: string, absent: 'fine' | 'wrong', report: Report): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' && absent === 'fine') return undefined;
    if (errno === 'ENOENT') report.issue('EVICTD_CONFIG_FILE_MISSING', 'no such file', { file }, 'name an existing file with --config');
    else report.issue('EVICTD_CONFIG_FILE_UNREADABLE', `cannot be opened: ${errno}`, { file }, 'evictd must be able to read it');
    return undefined;
  }
  try {
    return readDescriptor(descriptor, file, report);
  } catch (error) {
    report.issue('EVICTD_CONFIG_FILE_UNREADABLE', `cannot be read: ${errnoOf(error)}`, { file }, 'evictd must be able to read it');
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

function readDescriptor(descriptor: number, file: string, report: Report): string | undefined {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) {
    report.issue('EVICTD_CONFIG_FILE_TYPE', `is ${kindOf(stats)}, not a regular file`, { file }, 'name a file with YAML in it');
    return undefined;
  }
  checkOwner(file, stats, report);
  for (const directory of new Set([dirname(resolve(file)), dirname(realpathSync(file))])) checkDirectory(directory, report);
  const bytes = readAll(descriptor);
  if (bytes.length > MAX_BYTES) {
    const size = `more than ${String(MAX_BYTES / 1024)} KiB`;
    report.issue('EVICTD_CONFIG_FILE_SIZE', `is larger than a configuration can be: ${size}`, { file }, 'name a file with YAML in it');
    return undefined;
  }
  if (!isUtf8(bytes)) {
    reportEncoding(bytes, file, report);
    return undefined;
  }
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Up to the limit and one byte more. The size is not asked for: it is 0 for what the kernel makes up. */
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
 * Whoever can write to the directory can put another file in its place. A sticky directory does not let others replace root's files, and
 * where the file system is mounted read-only (a ConfigMap's volume, mode 0777) nobody writes.
 */
export function checkDirectory(directory: string, report: Report): void {
  const { uid, mode } = statSync(directory);
  const isSticky = (mode & 0o1000) !== 0;
  checkOwner(directory, { uid, mode: isSticky ? mode & ~0o022 : mode }, report);
}

/** Only when run as root: evictd then kills in root's name what the file says. */
function checkOwner(path: string, { uid, mode }: Pick<Stats, 'uid' | 'mode'>, report: Report): void {
  if (process.geteuid?.() !== 0 || (uid === 0 && (mode & 0o022) === 0) || onReadOnlyMount(path)) return;
  const who = mode & 0o002 ? 'everybody' : mode & 0o020 ? 'its group' : undefined;
  const octal = (mode & 0o7777).toString(8).padStart(4, '0');
  const already = report.issues.some(({ code, position }) => code === 'EVICTD_CONFIG_WRITABLE' && position.file === path);
  if (already) return;
  const what = who === undefined ? `belongs to user id ${String(uid)}, not to root` : `may be written by ${who} (mode ${octal})`;
  report.issue(
    'EVICTD_CONFIG_WRITABLE',
    `${what}: whoever writes it decides what evictd, run as root, kills`,
    { file: path },
    uid === 0 ? `chmod go-w ${path}` : `chown root ${path} && chmod go-w ${path}`,
  );
}

function onReadOnlyMount(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
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

/** The symbolic name of what a call of node:fs failed with. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error);
}
