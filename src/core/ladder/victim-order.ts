import type { RankedWorkload } from '../rank/rank.js';
import type { Compare } from '../rank/rank-comparators.js';
import type { Comparator, ConfiguredPolicy, LadderStep } from '../policy/configured-policy.js';
import type { RawValue } from '../policy/raw-value.js';
import { latest, readingBefore, type ScopeHistory } from '../policy/scope-history.js';
import { isBelow } from '../workload/cgroup.js';

/** What was read of the cgroups that are compared, by path. Rates are those between the first and the last reading. */
export type ComparedHistories = ReadonlyMap<string, ScopeHistory>;

const MI = 1024 * 1024;

/**
 * What a comparator compares, in whole units: values that are less than one apart may be equal, so that the next
 * comparator decides. The largest comes first. undefined: not known, which comes last.
 */
interface ComparedValue {
  /** Read of each cgroup; the first one is what is compared. */
  readonly needs: readonly RawValue[];
  readonly of: (cgroup: Compared) => number | undefined;
}

/** A workload, or a cgroup above several. */
interface Compared {
  readonly path: string;
  readonly reading: ScopeHistory | undefined;
  /** The lowest of those in it. */
  readonly priority: number;
  /** Every workload in it is to be avoided. */
  readonly avoid: boolean;
}

/** The part of a value that memory.low, memory.min and the cgroups above do not protect (oomd does so). */
function unprotected({ reading }: Compared, value: RawValue): number | undefined {
  const bytes = valueOf(reading, value);
  if (bytes === undefined) return undefined;
  return Math.max(0, bytes - (valueOf(reading, 'memory.protected') ?? 0)) / MI;
}

/** The values that show whether a throttled workload makes progress. */
const PROGRESS_VALUES: readonly RawValue[] = ['memory.current', 'memory.pressure.full.total'];

const COMPARISONS: Readonly<Record<Comparator, ComparedValue>> = {
  size: { needs: ['memory.current', 'memory.protected'], of: (cgroup) => unprotected(cgroup, 'memory.current') },
  anon: { needs: ['memory.anon', 'memory.protected'], of: (cgroup) => unprotected(cgroup, 'memory.anon') },
  /** MiB per second. */
  growth: { needs: ['memory.current'], of: ({ reading }) => per(rateOf(reading, 'memory.current'), MI) },
  swap: { needs: ['memory.swap'], of: ({ reading }) => per(valueOf(reading, 'memory.swap'), MI) },
  /** Pages per second. */
  pgscan: { needs: ['pgscan'], of: ({ reading }) => rateOf(reading, 'pgscan') },
  /** Percent of the wall time. */
  pressure: { needs: ['memory.pressure.full.avg10'], of: ({ reading }) => valueOf(reading, 'memory.pressure.full.avg10') },
  /** Percent of one device. */
  io: { needs: ['io.cost'], of: ({ reading }) => rateOf(reading, 'io.cost') },
  priority: { needs: [], of: ({ priority }) => -priority },
  oom_score: { needs: ['oom_score'], of: ({ reading }) => valueOf(reading, 'oom_score') },
};

/** undefined: not known. */
export function valueOf(history: ScopeHistory | undefined, value: RawValue): number | undefined {
  return history && latest(history)?.values.get(value);
}

/** Per second. undefined: not known, or read only once. */
function rateOf(history: ScopeHistory | undefined, value: RawValue): number | undefined {
  const [first, last] = [history?.readings[0], history && latest(history)];
  const [before, now] = [first?.values.get(value), last?.values.get(value)];
  if (first === undefined || last === undefined || before === undefined || now === undefined) return undefined;
  return last.timeNs > first.timeNs ? ((now - before) * 1e9) / Number(last.timeNs - first.timeNs) : undefined;
}

const RATES: ReadonlySet<Comparator> = new Set(['growth', 'pgscan', 'io']);
/** A rate is measured over this time at least. */
const MEASURED_NS = 500_000_000n;

/** A step waits so long for a rate. The next reading is due after a second. */
const RATE_AWAITED_NS = 3_000_000_000n;

/**
 * Whether the first comparator is a rate, which no cgroup of the scope has been read long enough for.
 *
 * @param waitedNs  since the step began
 */
export function awaitsRates(
  { by: [first], scope, histories }: Pick<VictimOrder, 'by' | 'scope'> & { readonly histories: ComparedHistories },
  waitedNs: bigint,
): boolean {
  if (first === undefined || !RATES.has(first) || waitedNs >= RATE_AWAITED_NS) return false;
  const ofScope = [...histories].filter(([path]) => isInScope(path, scope));
  return ofScope.length > 0 && ofScope.every(([, history]) => readingBefore(history, MEASURED_NS) === undefined);
}

function per(amount: number | undefined, unit: number): number | undefined {
  return amount === undefined ? undefined : amount / unit;
}

/** The comparators of a throttle or freeze: those of the step that evicts after it. */
const MILD_ORDER: readonly Comparator[] = ['growth', 'size'];

/** The comparators that a step of a ladder orders workloads by. */
export function comparatorsOf(steps: readonly LadderStep[], index: number): readonly Comparator[] {
  const evicting = steps.slice(index).find((step) => step.kind === 'stop' || step.kind === 'kill');
  return evicting === undefined || !('by' in evicting) ? MILD_ORDER : evicting.by;
}

/** The raw values that the steps of the policies need of each workload. */
export function comparedValues(policies: readonly ConfiguredPolicy[]): ReadonlySet<RawValue> {
  const comparators = policies.flatMap(({ then }) => then.flatMap((_, index) => comparatorsOf(then, index)));
  return new Set([...comparators.flatMap((comparator) => COMPARISONS[comparator].needs), ...PROGRESS_VALUES, 'memory.oom.group']);
}

/** The value of a cgroup that the comparator needs to decide anything. undefined: no value that is read. */
export function decidingValue(comparator: Comparator): RawValue | undefined {
  return COMPARISONS[comparator].needs[0];
}

export interface VictimOrder {
  readonly by: readonly Comparator[];
  /** Path of the scope; '': the node. */
  readonly scope: string;
  /** The best child cgroup of the scope first, with all workloads in it, and so on downwards, as oomd does. */
  readonly recursive: boolean;
  readonly readings: ComparedHistories;
}

/**
 * The workloads in the order of a policy.
 *
 * @param ranking  in the total order of evictions, which equals keep: the sort is stable
 */
export function inVictimOrder(ranking: readonly RankedWorkload[], order: VictimOrder): readonly RankedWorkload[] {
  const compare = comparing(order.by);
  const leaves = ranking.map((ranked) => comparedLeaf(ranked, order.readings));
  if (!order.recursive) {
    return leaves.sort((a, b) => compare(a, b)).map(({ ranked }) => ranked);
  }
  return flat(treeOf(leaves, order), compare);
}

function comparing(by: readonly Comparator[]): Compare<Compared> {
  const comparisons = by.map((comparator) => COMPARISONS[comparator].of);
  return (a, b) => {
    if (a.avoid !== b.avoid) return a.avoid ? 1 : -1;
    for (const of of comparisons) {
      const order = whole(of(b)) - whole(of(a));
      if (order !== 0 && !Number.isNaN(order)) return order;
    }
    return 0;
  };
}

/** The value of a workload that a comparator compares. undefined: not known. */
export function compared(comparator: Comparator, ranked: RankedWorkload, readings: ComparedHistories): number | undefined {
  return COMPARISONS[comparator].of(comparedLeaf(ranked, readings));
}

/** A value that is not known is below every known value. */
export function whole(value: number | undefined): number {
  return value === undefined ? -Number.MAX_VALUE : Math.floor(value);
}

interface Leaf extends Compared {
  readonly ranked: RankedWorkload;
}

function comparedLeaf(ranked: RankedWorkload, readings: ComparedHistories): Leaf {
  const { workload } = ranked;
  const { path, priority, avoid = false } = workload;
  return { ranked, path, reading: readings.get(path), priority, avoid };
}

interface Branch extends Compared {
  /** undefined: no workload, only a cgroup above some. */
  readonly own: Leaf | undefined;
  readonly children: readonly Branch[];
}

/** The child cgroups of a path that are workloads or have some below them. */
function treeOf(leaves: readonly Leaf[], { scope, readings }: Pick<VictimOrder, 'scope' | 'readings'>): readonly Branch[] {
  const byChild = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    const child = childPath(scope, leaf.path);
    byChild.set(child, [...(byChild.get(child) ?? []), leaf]);
  }
  return [...byChild].map(([path, within]) => {
    const own = within.find((leaf) => leaf.path === path);
    const below = within.filter((leaf) => leaf !== own);
    return {
      path,
      reading: readings.get(path),
      priority: Math.min(...within.map(({ priority }) => priority)),
      avoid: within.every(({ avoid }) => avoid),
      own,
      children: path === scope ? [] : treeOf(below, { scope: path, readings }),
    };
  });
}

/** '/a/b' for the scope '/a' and the path '/a/b/c'. The scope itself is its own child. */
function childPath(scope: string, path: string): string {
  if (path === scope) return path;
  const from = scope === '' || scope === '/' ? 1 : scope.length + 1;
  const end = path.indexOf('/', from);
  return end === -1 ? path : path.slice(0, end);
}

/** A workload comes after those below it, unless the kernel would kill it as a whole (memory.oom.group). */
function flat(branches: readonly Branch[], compare: Compare<Compared>): readonly RankedWorkload[] {
  return [...branches].sort(compare).flatMap(({ own, reading, children }) => {
    const below = flat(children, compare);
    if (own === undefined) return below;
    return valueOf(reading, 'memory.oom.group') === 1 ? [own.ranked, ...below] : [...below, own.ranked];
  });
}

/** Whether a cgroup lies in the scope of a policy. */
export function isInScope(path: string, scope: string): boolean {
  return scope === '' || path === scope || isBelow(path, scope);
}

/** The cgroups whose readings an order needs: the workloads, and those above them in the scope. */
export function comparedPaths(paths: readonly string[], scope: string, recursive: boolean): readonly string[] {
  if (!recursive) return paths;
  const all = new Set(paths);
  for (const path of paths) {
    for (let at = scope; at !== path;) {
      at = childPath(at, path);
      all.add(at);
    }
  }
  return [...all];
}
