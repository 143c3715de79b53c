import type { DiskHolder } from '../core/filesystem-holders.js';
import { holdersOn } from '../core/held-space.js';
import { type DiskHolders } from '../core/filesystem-holders.js';
import type { FilesystemRole } from '../core/layout.js';
import { isDiskSignal, type DiskSignal, filesystemOf } from '../core/signal.js';
import type { StepListener, StepReport } from '../monitor/ports.js';

export interface SpaceWatchParts {
  /** What holds these filesystems, looked for in the background. */
  readonly look: (filesystems: readonly FilesystemRole[]) => Promise<DiskHolders>;
  readonly onFound: (signal: DiskSignal, holders: readonly DiskHolder[]) => void;
  /** The look has failed. */
  readonly onError: (error: unknown) => void;
}

/** Of one signal, from one look to the next: a value that dances around a threshold begins one episode after the other. */
const APART_NS = 60_000_000_000n;

/** Looks for what holds a disk when a threshold of it is met, once for each episode and once a minute at most, and never otherwise. */
export class SpaceWatch implements StepListener {
  readonly #parts: SpaceWatchParts;
  /** Signals with an episode, and those of them that were told of. */
  #met: ReadonlySet<DiskSignal> = new Set();
  readonly #told = new Set<DiskSignal>();
  /** When each was last looked at. */
  readonly #lookedNs = new Map<DiskSignal, bigint>();
  #looking = false;
  #closed = false;

  constructor(parts: SpaceWatchParts) {
    this.#parts = parts;
  }

  stepped({ input: { nowNs }, state: { episodes } }: StepReport): void {
    if (episodes.size === 0 && this.#met.size === 0) return;
    this.#met = new Set([...episodes.values()].map(({ signal }) => signal).filter((signal) => isDiskSignal(signal)));
    for (const signal of this.#told) if (!this.#met.has(signal)) this.#told.delete(signal);
    if (this.#looking || this.#closed) return;
    const due = [...this.#met].filter((signal) => !this.#told.has(signal) && nowNs - (this.#lookedNs.get(signal) ?? -APART_NS) >= APART_NS);
    for (const signal of due) this.#lookedNs.set(signal, nowNs);
    if (due.length > 0) void this.#look(due);
  }

  close(): void {
    this.#closed = true;
  }

  /** Never rejects. */
  async #look(signals: readonly DiskSignal[]): Promise<void> {
    this.#looking = true;
    try {
      const filesystems = new Set(signals.map(filesystemOf).filter((role) => role !== undefined));
      const holders = await this.#parts.look([...filesystems]);
      for (const signal of signals) this.#tell(signal, holders);
    } catch (error) {
      for (const signal of signals) this.#told.add(signal);
      if (!this.#closed) this.#parts.onError(error);
    }
    this.#looking = false;
  }

  #tell(signal: DiskSignal, holders: DiskHolders): void {
    if (this.#closed || !this.#met.has(signal)) return;
    this.#told.add(signal);
    this.#parts.onFound(signal, holdersOn(signal, holders, process.hrtime.bigint()) ?? []);
  }
}
