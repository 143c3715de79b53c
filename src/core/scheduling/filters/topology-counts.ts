import type { SchedulerNode } from '../scheduler-node.js';

/** Sums by topology key and value. */
export class TopologyCounts {
  readonly #counts = new Map<string, Map<string, number>>();

  /** No sum was ever made. */
  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** Whether all sums are zero. */
  get isZero(): boolean {
    for (const byValue of this.#counts.values()) for (const count of byValue.values()) if (count !== 0) return false;
    return true;
  }

  /** Nothing for a node without that label. */
  add({ labels }: SchedulerNode, topologyKey: string, amount: number): void {
    const value = labels.get(topologyKey);
    if (value === undefined) return;
    const byValue = this.#counts.get(topologyKey) ?? new Map<string, number>();
    this.#counts.set(topologyKey, byValue);
    byValue.set(value, (byValue.get(value) ?? 0) + amount);
  }

  of({ labels }: SchedulerNode, topologyKey: string): number {
    const value = labels.get(topologyKey);
    return value === undefined ? 0 : (this.#counts.get(topologyKey)?.get(value) ?? 0);
  }

  /** The counts of the node's domains, one for each topology key. */
  allOf(node: SchedulerNode): readonly number[] {
    return [...this.#counts.keys()].map((topologyKey) => this.of(node, topologyKey));
  }
}
