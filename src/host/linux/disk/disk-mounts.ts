import { readFile, readFileSync } from 'node:fs';
import { attempt } from '../../../errors.js';
import { parseMountinfo, type Mount } from './mountinfo.js';
import { linesAbout, needsMounts, type Statfs } from './no-disk.js';

/** The mounts are read again after this time. */
const MOUNTS_STAND_NS = 60_000_000_000n;

/**
 * The mounts that tell which of the watched filesystems are disks. Thousands of mounts, as on a node with many pods, take
 * the kernel about 10 ms to list. Only a filesystem that was not there before waits for that; afterwards the mounts are
 * read beside the main thread. What cannot be read leaves them as they were.
 */
export class DiskMounts {
  readonly #path: string;
  #known: readonly Mount[] = [];
  /** The filesystems that the mounts were read for, by device. */
  #devices: ReadonlySet<bigint> = new Set();
  #readAtNs = 0n;
  #pending: symbol | undefined;

  /** @param path  another file, for tests */
  constructor(path = '/proc/self/mountinfo') {
    this.#path = path;
  }

  /** Only those that {@link linesAbout} selects. */
  get known(): readonly Mount[] {
    return this.#known;
  }

  /** Reads the mounts, if they are due: of a new filesystem before this returns. */
  follow(filesystems: readonly Statfs[], nowNs: bigint): void {
    const needed = filesystems.filter(needsMounts);
    const isNew = needed.some(({ device }) => !this.#devices.has(device));
    const isDue = needed.length > 0 && this.#pending === undefined && nowNs - this.#readAtNs >= MOUNTS_STAND_NS;
    if (!isNew && !isDue) return;
    this.#readAtNs = nowNs;
    this.#devices = new Set(needed.map(({ device }) => device));
    if (isNew) this.#readNow(needed);
    else this.#readLater(needed);
  }

  #readNow(needed: readonly Statfs[]): void {
    this.#pending = undefined; // an answer from before does not count
    const text = attempt(() => readFileSync(this.#path, 'utf8'));
    if (text !== undefined) this.#known = parseMountinfo(text, linesAbout(needed));
  }

  #readLater(needed: readonly Statfs[]): void {
    const request = (this.#pending = Symbol('request'));
    readFile(this.#path, 'utf8', (error, text) => {
      if (this.#pending !== request) return;
      this.#pending = undefined;
      if (error === null) this.#known = parseMountinfo(text, linesAbout(needed));
    });
  }
}
