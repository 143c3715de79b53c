import type { Binding } from '../../../native/binding.js';
import { KernelPass, type KernelSource, type Missing } from '../sampling/kernel-source.js';
import { CurrentStatistics } from './fresh-memory.js';
import type { MemoryReading, MemorySource } from './memory.js';

/** Reads the memory of a node, and other sources, in one pass. Statistics that are behind are corrected. */
export class NodePass {
  readonly #pass: KernelPass;
  readonly #fresh: ReadonlyMap<MemorySource, CurrentStatistics>;
  /** The memory readings of the last pass. */
  readonly #memories = new Map<MemorySource, MemoryReading | Missing>();

  constructor(
    native: Binding,
    readonly memories: readonly MemorySource[],
    others: readonly KernelSource<unknown>[],
  ) {
    this.#pass = new KernelPass(native, [...memories, ...others]);
    this.#fresh = new Map(
      memories.flatMap((memory) => (memory.statistics ? [[memory, new CurrentStatistics(memory.statistics)] as const] : [])),
    );
  }

  /** Reports whether statistics are behind, so that another pass is due soon. */
  read(): boolean {
    this.#pass.read();
    this.#memories.clear();
    for (const [source, fresh] of this.#fresh) {
      const memory = this.#pass.of(source);
      this.#memories.set(source, 'missing' in memory ? memory : fresh.of(memory));
    }
    return [...this.#fresh.values()].some((fresh) => fresh.isBehind);
  }

  of<T>(source: KernelSource<T>): T {
    return this.#pass.of(source);
  }

  memoryOf(source: MemorySource): MemoryReading | Missing {
    return this.#memories.get(source) ?? this.#pass.of(source);
  }

  /** undefined: the statistics need no correction. */
  freshOf(source: MemorySource): CurrentStatistics | undefined {
    return this.#fresh.get(source);
  }

  close(): void {
    this.#pass.close();
  }
}
