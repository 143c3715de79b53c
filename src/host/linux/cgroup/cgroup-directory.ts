import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { fsPath } from '../../../byte-paths.js';

const { O_DIRECTORY, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A cgroup by its open directory: a later cgroup of the same name is never meant. Methods throw Node's errors. */
export class CgroupDirectory {
  readonly path: string;
  readonly id: bigint;
  readonly #fd: number;

  /** @throws ENOENT; ESTALE  the directory's inode is not `id` */
  constructor(path: string, id?: bigint) {
    this.path = path;
    this.#fd = openSync(fsPath(path), O_RDONLY | O_DIRECTORY);
    this.id = fstatSync(this.#fd, { bigint: true }).ino;
    if (id === undefined || id === this.id) return;
    closeSync(this.#fd);
    throw Object.assign(new Error(`${path}: another cgroup has its name now`), { code: 'ESTALE', syscall: 'open' });
  }

  /** Reads a file, without the newline at its end. */
  read(file: string): string {
    return readFileSync(this.#pathOf(file), 'latin1').trimEnd();
  }

  /** Does not wait for reclaim where the kernel can do without (memory.high since Linux 6.16). */
  write(file: string, text: string): void {
    const opened = openSync(this.#pathOf(file), O_WRONLY | O_NONBLOCK);
    try {
      writeSync(opened, text);
    } finally {
      closeSync(opened);
    }
  }

  /** Writes on another thread: memory.reclaim and memory.high wait until the kernel has reclaimed. */
  async writeApart(file: string, text: string): Promise<void> {
    const opened = await open(this.#pathOf(file), O_WRONLY);
    try {
      await opened.write(text);
    } finally {
      await opened.close();
    }
  }

  /** Once, and not during `writeApart`. */
  close(): void {
    closeSync(this.#fd);
  }

  #pathOf(file: string): string {
    return `/proc/self/fd/${String(this.#fd)}/${file}`;
  }
}

/**
 * A lower bound of the age of the cgroup, in seconds: since the birth of its directory where the kernel reports that (6.18
 * does not), else since its last change, which may be a chown, or a cgroup made or removed below. 0: it does not exist.
 */
export function cgroupAge(directory: string): number {
  const found = statSync(fsPath(directory), { throwIfNoEntry: false });
  if (found === undefined) return 0;
  return Math.max(Date.now() - (found.birthtimeMs > 0 ? Math.min(found.birthtimeMs, found.ctimeMs) : found.ctimeMs), 0) / 1e3;
}
