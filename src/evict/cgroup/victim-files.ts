import { closeSync, openSync, readSync } from 'node:fs';
import { attempt, errnoName } from '../../errors.js';
import { fsPath } from '../../byte-paths.js';

/** Exceeds cgroup.events, the longest file read here. */
const TEXT_BYTES = 256;

/**
 * A victim's files, opened before it is ended. They never show a new cgroup of the same name: after the removal reads
 * fail with ENODEV.
 */
export class VictimFiles {
  readonly #version: 1 | 2;
  readonly #usage: number;
  /** v1: memory and swap. undefined: the kernel does not count swap. */
  readonly #swap: number | undefined;
  readonly #events: number | undefined;
  readonly #buffer = Buffer.alloc(TEXT_BYTES);
  #closed = false;

  constructor(directory: string, version: 1 | 2) {
    this.#version = version;
    this.#usage = openSync(fsPath(`${directory}/${version === 1 ? 'memory.usage_in_bytes' : 'memory.current'}`), 'r');
    this.#swap = attempt(() =>
      openSync(fsPath(`${directory}/${version === 1 ? 'memory.memsw.usage_in_bytes' : 'memory.swap.current'}`), 'r'),
    );
    try {
      this.#events = version === 1 ? undefined : openSync(fsPath(`${directory}/cgroup.events`), 'r');
    } catch (error) {
      closeSync(this.#usage);
      if (this.#swap !== undefined) closeSync(this.#swap);
      throw error;
    }
  }

  /** v2: cgroup.events reports whether processes are left, and cgroup.kill may exist. */
  get unified(): boolean {
    return this.#events !== undefined;
  }

  /** The usage in bytes; 'removed': the cgroup was removed; undefined: unreadable. */
  usage(): bigint | 'removed' | undefined {
    const text = this.#read(this.#usage);
    return text === undefined || text === 'removed' ? text : BigInt(text.trim());
  }

  /** The swap in bytes; undefined: not counted, unreadable or removed. */
  swap(usage: bigint): bigint | undefined {
    const text = this.#swap === undefined ? undefined : this.#read(this.#swap);
    if (text === undefined || text === 'removed') return undefined;
    const counted = BigInt(text.trim());
    return this.#version === 2 ? counted : counted > usage ? counted - usage : 0n;
  }

  /** Whether processes live in it or below; undefined: unknown (v1). */
  populated(): boolean | undefined {
    if (this.#events === undefined) return undefined;
    const text = this.#read(this.#events);
    if (text === undefined) return undefined;
    return text !== 'removed' && !/^populated 0$/m.test(text);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#usage);
    if (this.#events !== undefined) closeSync(this.#events);
    if (this.#swap !== undefined) closeSync(this.#swap);
  }

  #read(file: number): string | undefined {
    if (this.#closed) return undefined; // the descriptor may belong to another file by now
    try {
      return this.#buffer.toString('latin1', 0, readSync(file, this.#buffer, 0, TEXT_BYTES, 0));
    } catch (error) {
      return errnoName(error) === 'ENODEV' ? 'removed' : undefined;
    }
  }
}
