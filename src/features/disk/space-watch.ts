import type { DiskHolder, DiskHolders } from '../../core/disk/filesystem-holders.js';
import { holdersOn } from '../../core/disk/held-space.js';
import type { FilesystemRole } from '../../core/signal/layout.js';
import { isDiskSignal, type DiskSignal, filesystemOf } from '../../core/signal/signal.js';
import type { StepListener, StepReport } from '../../monitor/ports/ports.js';

interface SpaceWatchParts {
  /** Finds what holds space on these filesystems. */
  readonly readHolders: (filesystems: readonly FilesystemRole[]) => Promise<DiskHolders>;
  readonly onFound: (signal: DiskSignal, holders: readonly DiskHolder[]) => void;
  readonly onError: (error: unknown) => void;
}

/** Least time between two looks for one signal: a value that oscillates around a threshold begins many episodes. */
const APART_NS = 60_000_000_000n;

/** Finds what holds a disk's space when a threshold is met: once per episode, at most once a minute. */
export class SpaceWatch implements StepListener {
  /** Signals with an episode, and those that were reported. */
  #met: ReadonlySet<DiskSignal> = new Set();
  readonly #reported = new Set<DiskSignal>();
  readonly #readNs = new Map<DiskSignal, bigint>();
  #isReading = false;
  #closed = false;

  constructor(private readonly parts: SpaceWatchParts) {}

  stepped({ input: { nowNs }, state: { episodes } }: StepReport): void {
    if (episodes.size === 0 && this.#met.size === 0) return;
    this.#met = new Set([...episodes.values()].map(({ signal }) => signal).filter((signal) => isDiskSignal(signal)));
    for (const signal of this.#reported) if (!this.#met.has(signal)) this.#reported.delete(signal);
    if (this.#isReading || this.#closed) return;
    const due = [...this.#met].filter(
      (signal) => !this.#reported.has(signal) && nowNs - (this.#readNs.get(signal) ?? -APART_NS) >= APART_NS,
    );
    for (const signal of due) this.#readNs.set(signal, nowNs);
    if (due.length > 0) void this.#readHolders(due);
  }

  skipped(): boolean {
    return this.#met.size === 0;
  }

  close(): void {
    this.#closed = true;
  }

  /** Never rejects. */
  async #readHolders(signals: readonly DiskSignal[]): Promise<void> {
    this.#isReading = true;
    try {
      const filesystems = new Set(signals.map(filesystemOf).filter((role) => role !== undefined));
      const holders = await this.parts.readHolders([...filesystems]);
      for (const signal of signals) this.#reportHolders(signal, holders);
    } catch (error) {
      for (const signal of signals) this.#reported.add(signal);
      if (!this.#closed) this.parts.onError(error);
    }
    this.#isReading = false;
  }

  #reportHolders(signal: DiskSignal, holders: DiskHolders): void {
    if (this.#closed || !this.#met.has(signal)) return;
    this.#reported.add(signal);
    this.parts.onFound(signal, holdersOn(signal, holders, process.hrtime.bigint()) ?? []);
  }
}
