import type { DirectoryHolder, DiskHolder, FilesystemDirectories, HeldSpace, DiskHolders } from './filesystem-holders.js';
import { ofResource } from './disk-holding.js';
import { type DiskAmount } from './disk-amount.js';
import { SIGNAL_FACTS, type Resource, type ResourceSignal, filesystemOf } from '../signal/signal.js';

/** The number that is named, for each kind. */
const NAMED = 5;
/** A directory is named if it holds this part of the total, without the named directories below it. */
const NAMED_PART = 20n;

/** What holds most on the filesystem of a signal; undefined: not a disk signal, or not measured. */
export function holdersOn(signal: ResourceSignal, holders: DiskHolders | undefined, nowNs: bigint): readonly DiskHolder[] | undefined {
  const filesystem = filesystemOf(signal);
  const held = filesystem === undefined ? undefined : holders?.[filesystem];
  return held && largestHolders(SIGNAL_FACTS[signal].resource, held, nowNs);
}

/** The largest first. */
function largestHolders(resource: Resource, { deleted, directories, images = [] }: HeldSpace, nowNs: bigint): readonly DiskHolder[] {
  const largest = (holders: readonly DiskHolder[]): readonly DiskHolder[] =>
    [...holders]
      .filter(({ holds }) => ofResource(resource, holds) > 0n)
      .sort(byAmount(resource))
      .slice(0, NAMED);
  const named = [...largest(deleted), ...largest(images), ...largest(directories ? namedDirectories(resource, directories, nowNs) : [])];
  return named.sort(byAmount(resource));
}

function byAmount(resource: Resource): (a: DiskHolder, b: DiskHolder) => number {
  return (a, b) => {
    const [first, second] = [ofResource(resource, a.holds), ofResource(resource, b.holds)];
    return first === second ? 0 : first < second ? 1 : -1;
  };
}

/**
 * Names the innermost directories that explain the usage. A parent counts only for what its named children do not hold.
 */
function namedDirectories(
  resource: Resource,
  { root, below, atNs, isPartial }: FilesystemDirectories,
  nowNs: bigint,
): readonly DirectoryHolder[] {
  const total = ofResource(resource, root.amount);
  const named: DirectoryHolder[] = [];
  const explained = new Map<string, DiskAmount>();
  const known = new Set(below.map(({ path }) => path));
  const deepestFirst = [...below].sort((a, b) => b.path.length - a.path.length);
  for (const { path, amount } of [...deepestFirst, root]) {
    const explainedHere = explained.get(path);
    const holds = explainedHere ? { bytes: amount.bytes - explainedHere.bytes, inodes: amount.inodes - explainedHere.inodes } : amount;
    const isNamed = ofResource(resource, holds) * NAMED_PART >= total && total > 0n;
    if (isNamed) named.push({ kind: 'directory', path, holds, besidesNamed: explainedHere !== undefined, ageNs: nowNs - atNs, isPartial });
    const accounted = isNamed ? amount : explainedHere;
    if (accounted === undefined || path === root.path) continue;
    const parent = parentOf(path, root.path, known);
    const before = explained.get(parent);
    explained.set(parent, before ? { bytes: before.bytes + accounted.bytes, inodes: before.inodes + accounted.inodes } : accounted);
  }
  return named;
}

/** The nearest measured ancestor. */
function parentOf(path: string, root: string, known: ReadonlySet<string>): string {
  let parent = path;
  do parent = parent.slice(0, parent.lastIndexOf('/'));
  while (parent.length > root.length && !known.has(parent));
  return parent.length > root.length ? parent : root;
}
