import type { ScopePattern } from '../../core/policy/scope-pattern.js';
import { cgroupsIn } from '../../workloads/cgroup/child-cgroups.js';
import type { TreeShape, TreeVisitor } from '../../workloads/cgroup/source-root.js';

/** Of all patterns together. Users make cgroups, and the time and watches that these take are the machine's. */
export const MAX_SCOPES = 4_096;
const MAX_SEEN = 16_384;

interface Place {
  readonly isHolder: boolean;
  readonly matching: readonly number[];
}

/** The cgroups that match one of the patterns. Where deeper ones may match, changes lead to a new listing. */
export class ScopeTree implements TreeShape {
  readonly hasWhole = false;
  #isCut = false;
  /** A path always has the same place: listed again, it costs nothing. */
  readonly #known = new Map<string, Place>();

  constructor(private readonly patterns: readonly ScopePattern[]) {}

  /** Whether the last listing left some out. */
  get isCut(): boolean {
    return this.#isCut;
  }

  place(path: string): ReturnType<TreeShape['place']> {
    const { isHolder, matching } = this.#of(path);
    if (isHolder) return 'holder';
    return matching.length > 0 ? 'member' : 'neither';
  }

  /** The indices of the patterns that match. */
  matching(path: string): readonly number[] {
    return this.#of(path).matching;
  }

  admits(): boolean {
    return !this.#isCut;
  }

  isWhole(): boolean {
    return false;
  }

  list(directory: string, visitor: TreeVisitor): string[] {
    this.#isCut = false;
    const found: string[] = [];
    const left = [''];
    let seen = 0;
    for (let holder = left.shift(); holder !== undefined; holder = left.shift()) {
      if (holder !== '') visitor.follow(holder);
      for (const name of cgroupsIn(`${directory}/${holder}`, visitor)) {
        seen += 1;
        if (seen > MAX_SEEN || found.length >= MAX_SCOPES) {
          this.#isCut = true;
          return found;
        }
        const path = holder === '' ? name : `${holder}/${name}`;
        if (this.matching(path).length > 0) found.push(path);
        if (this.place(path) === 'holder') left.push(path);
      }
    }
    return found;
  }

  #of(path: string): Place {
    let known = this.#known.get(path);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_SEEN) this.#known.clear();
    const isHolder = this.patterns.some((pattern) => pattern.reachesBelow(path));
    known = { isHolder, matching: this.patterns.flatMap((pattern, index) => (pattern.matches(path) ? [index] : [])) };
    this.#known.set(path, known);
    return known;
  }
}
