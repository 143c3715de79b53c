import { availableParallelism } from 'node:os';
import type { Observation } from '../../core/signal/observation.js';
import type { Signal } from '../../core/signal/signal.js';
import { resolve, type Operand } from '../../core/threshold/threshold.js';
import type { NotifierState } from '../../monitor/ports/ports.js';
import { MACHINE_READERS } from './windows-memory.js';

export type Observed = ReadonlyMap<Signal, Observation>;

/**
 * A reading costs some microseconds. A commit can use any amount at once, so this is the latest moment at which a
 * crossing is seen. Writing page by page takes time, and a quarter of that is the period.
 */
const LONGEST_NS = 250_000_000n;
const SHORTEST_NS = 10_000_000n;
/** The bytes that all cores fill in a second. */
const BYTES_PER_SECOND = 2_500_000_000n * BigInt(availableParallelism());

const WATCHED: ReadonlySet<string> = new Set(Object.keys(MACHINE_READERS));

/**
 * Windows has no notification for a chosen threshold: between ticks memory is read, the more often the nearer a limit
 * is.
 */
export class MemoryPolling {
  #operands: readonly Operand[] = [];
  #atNs: bigint | undefined;
  #periodNs = LONGEST_NS;
  /** Which operands the last decision found met. */
  #met = '';

  /** @returns whether other operands than before are watched */
  arm(operands: readonly Operand[], nowNs: bigint): boolean {
    const before = this.#operands;
    this.#operands = operands.filter(({ signal }) => WATCHED.has(signal));
    const isSame = this.#operands.length === before.length && this.#operands.every((operand, index) => operand === before[index]);
    if (isSame) return false;
    this.#atNs = this.#operands.length > 0 ? nowNs : undefined;
    return true;
  }

  /** When the next reading is due; undefined: never. */
  get atNs(): bigint | undefined {
    return this.#atNs;
  }

  /** Whether a threshold was crossed since the last decision. */
  crossed(observed: Observed, nowNs: bigint): boolean {
    this.#looked(observed, nowNs);
    return this.#metIn(observed) !== this.#met;
  }

  decided(observed: Observed, nowNs: bigint): void {
    this.#met = this.#metIn(observed);
    this.#looked(observed, nowNs);
  }

  states(): NotifierState[] {
    const signals = [...new Set(this.#operands.map(({ signal }) => signal))];
    return signals.map((signal) => ({
      mechanism: 'sampler',
      signal,
      target: 'GetPerformanceInfo',
      live: true,
      reason: undefined,
      hint: undefined,
      essential: true,
      periodMs: Number(this.#periodNs / 1_000_000n),
    }));
  }

  close(): void {
    this.#operands = [];
    this.#atNs = undefined;
  }

  #looked(observed: Observed, nowNs: bigint): void {
    if (this.#atNs === undefined) return;
    const distances = this.#operands.flatMap(({ signal, value }) => {
      const read = observed.get(signal);
      const distance = read && read.available - resolve(value, read.capacity);
      return distance !== undefined && distance > 0n ? [distance] : [];
    });
    const soonest = distances
      .map((bytes) => (bytes * 1_000_000_000n) / BYTES_PER_SECOND / 4n)
      .reduce((least, ns) => (ns < least ? ns : least), LONGEST_NS);
    this.#periodNs = soonest < SHORTEST_NS ? SHORTEST_NS : soonest;
    this.#atNs = nowNs + this.#periodNs;
  }

  #metIn(observed: Observed): string {
    const met = this.#operands.map(({ signal, value }) => {
      const read = observed.get(signal);
      if (read === undefined) return '-';
      return read.available < resolve(value, read.capacity) ? '1' : '0';
    });
    return met.join('');
  }
}
