import { cgroupDirectory, isBelow, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { errnoName, errnoText } from '../../errors.js';
import type { OrderPlan, OrderResult, StandingOrder } from '../../monitor/ports/standing-order.js';
import { ENDED, pathOfSelf } from './cgroup-evictor.js';
import type { Binding, MemoryReaper, NativeOrder, NativeOrderPlan, FileSum } from '../../native/binding.js';

export interface StandingOrderParts {
  readonly hierarchy: CgroupHierarchy;
  readonly reaper: MemoryReaper;
  /** Hierarchies whose attributes of a cgroup count, too. */
  readonly beside: readonly CgroupHierarchy[];
  /** Extended attributes that may protect a cgroup. */
  readonly attributes: readonly string[];
  /** Takes the record of an order that is carried out. */
  readonly file: string;
  /** The value of a cgroup that the ranking compares. */
  readonly workingSetOf: (directory: string) => FileSum;
}

export class CgroupStandingOrder implements StandingOrder {
  onCarriedOut: StandingOrder['onCarriedOut'] = () => undefined;
  private readonly native: NativeOrder;

  /** Throws Node's errors. */
  constructor(
    native: Binding,
    private readonly parts: StandingOrderParts,
  ) {
    this.native = new native.StandingOrder(parts.file, parts.reaper, (_wake, atNs) => {
      this.onCarriedOut(atNs);
    });
  }

  place(plan: OrderPlan, seenNs: bigint): ReturnType<StandingOrder['place']> {
    try {
      return this.native.place(this.#planOf(plan), seenNs) ? 'placed' : 'carried out';
    } catch (error) {
      if (!this.withdraw()) return 'carried out';
      return ENDED.has(errnoName(error) ?? '') ? 'ended' : { impossible: String(error) };
    }
  }

  withdraw(): boolean {
    return this.native.withdraw();
  }

  seen(seenNs: bigint): void {
    this.native.seen(seenNs);
  }

  postpone(untilNs: bigint): void {
    this.native.postpone(untilNs);
  }

  take(): OrderResult | undefined {
    const taken = this.native.take();
    if (taken === undefined) return undefined;
    const { candidate, node, value, crossedNs, atNs, errno, unrecorded } = taken;
    const textOf = (error: number): string | undefined => (error === 0 ? undefined : errnoText(error));
    return { candidate, node, value, crossedAtNs: crossedNs, atNs, error: textOf(errno), unrecorded: textOf(unrecorded) };
  }

  close(): void {
    this.native.close();
  }

  #planOf({ conditions, missing, candidates, ...plan }: OrderPlan): NativeOrderPlan {
    const { hierarchy, beside, attributes, workingSetOf } = this.parts;
    const own = hierarchy.version === 2 ? pathOfSelf(hierarchy) : undefined;
    return {
      conditions: [
        ...conditions.map(({ value, atLeast }) => ({ value: value as FileSum, atLeast })),
        ...(conditions.length > 1 ? [{ value: this.#anonymous(candidates), grownBy: missing }] : []),
      ],
      ...plan,
      candidates: candidates.map(({ workload, offset, record }) => {
        const cgroup = cgroupDirectory(hierarchy, workload.path);
        const elsewhere = beside.map((other) => cgroupDirectory(other, workload.path));
        return { cgroup, id: workload.startOrder, value: workingSetOf(cgroup), offset, record, elsewhere };
      }),
      attributes,
      byFile: hierarchy.version === 2,
      apart: own !== undefined && candidates.every(({ workload: { path } }) => own !== path && !isBelow(own, path)),
    };
  }

  /** The kernel counts it at once in a cgroup without children, where the node's statistics lag. */
  #anonymous(candidates: OrderPlan['candidates']): FileSum {
    const { hierarchy } = this.parts;
    const keys = [hierarchy.version === 1 ? 'total_rss' : 'anon'];
    const directories = candidates.map(({ workload }) => cgroupDirectory(hierarchy, workload.path));
    return {
      files: directories.map((directory) => ({ path: `${directory}/memory.stat`, format: 'keyed', keys })),
      weights: directories.map(() => 1),
    };
  }
}
