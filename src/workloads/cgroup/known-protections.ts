import type { Protection } from '../../core/workload/workload.js';
import type { OwnProcess } from './own-processes.js';
import type { Member, Sampled } from './source-root.js';

/** What protections depend on, beside facts that may change without notice. */
interface Known {
  readonly members: readonly Member[];
  readonly own: readonly OwnProcess[];
  /** Grows with each change of preferences, and with each report. */
  readonly changes: number;
  readonly protections: ReadonlyMap<string, Protection>;
}

/** The protections of the last pass: most passes find nothing changed. */
export class KnownProtections {
  #known: Known | undefined;

  /**
   * @param isComplete  they depend on nothing else
   */
  of(
    occupied: readonly Sampled[],
    { own, changes, isComplete }: Pick<Known, 'own' | 'changes'> & { readonly isComplete: boolean },
    find: () => ReadonlyMap<string, Protection>,
  ): ReadonlyMap<string, Protection> {
    const known = this.#known;
    const isSame =
      known?.own === own &&
      known.changes === changes &&
      known.members.length === occupied.length &&
      occupied.every(({ member }, index) => member === known.members[index]);
    // Without the path of an own process its members are searched in every pass.
    if (isSame && isComplete && !own.some(({ cgroup }) => cgroup === undefined)) return known.protections;
    const protections = find();
    this.#known = isComplete ? { members: occupied.map(({ member }) => member), own, changes, protections } : undefined;
    return protections;
  }
}
