import type { Protection } from '../../core/workload/workload.js';
import type { OwnProcess } from './own-processes.js';
import type { Member, Sampled } from './source-root.js';

/** What protections depend on, beside facts that may change without notice. */
interface Known {
  readonly members: readonly Member[];
  readonly own: readonly OwnProcess[];
  readonly preferences: number;
  readonly protections: ReadonlyMap<string, Protection>;
}

/** The protections of the last pass: most passes find nothing changed. */
export class KnownProtections {
  #known: Known | undefined;

  /**
   * @param preferences  counts the changes of preferences
   * @param isComplete  they depend on nothing else
   */
  of(
    occupied: readonly Sampled[],
    { own, preferences, isComplete }: Pick<Known, 'own' | 'preferences'> & { readonly isComplete: boolean },
    find: () => ReadonlyMap<string, Protection>,
  ): ReadonlyMap<string, Protection> {
    const known = this.#known;
    const isSame =
      known?.own === own &&
      known.preferences === preferences &&
      known.members.length === occupied.length &&
      occupied.every(({ member }, index) => member === known.members[index]);
    // Without the path of an own process its members are searched in every pass.
    if (isSame && isComplete && !own.some(({ cgroup }) => cgroup === undefined)) return known.protections;
    const protections = find();
    this.#known = isComplete ? { members: occupied.map(({ member }) => member), own, preferences, protections } : undefined;
    return protections;
  }
}
