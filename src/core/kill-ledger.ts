import { isBelow } from './cgroup.js';
import { killsBetween, type CountedKills, type OomTally } from './oom-tally.js';

/** Counted, and not told by the kernel log so far. */
export interface OpenKills extends CountedKills {
  /** When it was first seen. */
  readonly sinceNs: bigint;
}

/**
 * What the kernel's counters and its log say of the same kills, held against each other. The log names each process; but it may not be readable, it may be
 * overwritten, and where many are killed it does not say where they lived (10 times in 5 s at most). Counters are never wrong, and say nothing but how many.
 */
export interface KillLedger {
  readonly tally: OomTally;
  /** Kills of which only the total tells that were taken to the books so far; negative while the total was read before the rest. */
  readonly unplaced: number;
  /** Where the log said that processes were killed, one entry each, and no counter was read since. */
  readonly told: readonly string[];
  readonly open: readonly OpenKills[];
}

/** Nothing that happened before it counts. */
export function openLedger(tally: OomTally): KillLedger {
  return { tally, unplaced: 0, told: [], open: [] };
}

/** The log told of a process that was killed here. */
export function told(ledger: KillLedger, cgroup: string): KillLedger {
  return { ...ledger, told: [...ledger.told, cgroup] };
}

/**
 * The counters were read. The kernel counts before it writes to the log, so what the log had told of when the reading began is in these: what finds no counter then is of a
 * cgroup that took its counter with it, or of another node.
 *
 * @param before  how many entries of `told` there were when the reading began: later ones may, or may not, be in it
 */
export function counted(ledger: KillLedger, tally: OomTally, before: number, nowNs: bigint): KillLedger {
  const placed = killsBetween(ledger.tally, tally);
  const { unplaced, count } = unplacedKills(ledger, tally, placed);
  const nowhere: CountedKills[] = count > 0 ? [{ cgroup: undefined, count, limit: { kind: 'unknown' } }] : [];
  const added = [...placed, ...nowhere].map((kills) => ({ ...kills, sinceNs: nowNs }));
  const { open, missed } = settle([...ledger.open, ...added], ledger.told);
  return { tally, unplaced, told: ledger.told.filter((_, index) => index >= before && missed.has(index)), open };
}

/** What became of processes of which the log does not say where they lived. */
export interface Claim {
  readonly ledger: KillLedger;
  /** So many of them were counted below the node. */
  readonly found: number;
  /** Where, and by whose limit; not known where more than one place has counted any. */
  readonly place: Pick<CountedKills, 'cgroup' | 'limit'>;
}

/** The log told of so many processes, and not of where they lived: they are among those that are open. To be asked after the counters were read. */
export function claimed(ledger: KillLedger, processes: number): Claim {
  const [first, ...others] = ledger.open;
  const isOnePlace = first !== undefined && others.every(({ cgroup }) => cgroup === first.cgroup);
  let left = processes;
  const open = ledger.open.map((kills) => {
    const taken = Math.min(left, kills.count);
    left -= taken;
    return { ...kills, count: kills.count - taken };
  });
  const place = isOnePlace ? first : { cgroup: undefined, limit: { kind: 'unknown' } as const };
  return { ledger: { ...ledger, open: open.filter(({ count }) => count > 0) }, found: processes - left, place };
}

/** Takes out what has been open for `waitNs`: the log will not tell of it any more. */
export function overdue(
  ledger: KillLedger,
  nowNs: bigint,
  waitNs: bigint,
): { readonly ledger: KillLedger; readonly kills: readonly CountedKills[] } {
  const isDue = ({ sinceNs }: OpenKills): boolean => nowNs - sinceNs >= waitNs;
  return { ledger: { ...ledger, open: ledger.open.filter((kills) => !isDue(kills)) }, kills: ledger.open.filter(isDue) };
}

/** The total grows by what the cgroups show and by what they do not: root's own processes, and (v1) cgroups that are gone. */
function unplacedKills(ledger: KillLedger, tally: OomTally, placed: readonly CountedKills[]): { unplaced: number; count: number } {
  if (tally.total === undefined || ledger.tally.total === undefined) return { unplaced: 0, count: 0 };
  const shown = placed.reduce((sum, { count }) => sum + count, 0);
  const grown = tally.total - ledger.tally.total - shown + Math.min(ledger.unplaced, 0);
  return { unplaced: Math.min(grown, 0), count: Math.max(grown, 0) };
}

/**
 * Each kill that was told closes one that was counted: at the same cgroup, else at the nearest above or below it, else where nothing is known.
 *
 * @returns what is open still, and the indexes of those that found nothing
 */
function settle(open: readonly OpenKills[], kills: KillLedger['told']): { open: readonly OpenKills[]; missed: ReadonlySet<number> } {
  const counts = open.map(({ count }) => count);
  const missed = new Set<number>();
  for (const [entry, cgroup] of kills.entries()) {
    const nearest = open
      .map((each, index) => ({ index, far: (counts[index] ?? 0) > 0 ? distance(cgroup, each.cgroup) : undefined }))
      .reduce<{ index: number; far: number } | undefined>(
        (a, { index, far }) => (far !== undefined && (a === undefined || far < a.far) ? { index, far } : a),
        undefined,
      );
    if (nearest === undefined) missed.add(entry);
    else counts[nearest.index] = (counts[nearest.index] ?? 0) - 1;
  }
  return { open: open.map((each, index) => ({ ...each, count: counts[index] ?? 0 })).filter(({ count }) => count > 0), missed };
}

/** undefined: they are not the same kill. */
function distance(cgroup: string, place: string | undefined): number | undefined {
  if (cgroup === place) return 0;
  if (place === undefined) return Infinity;
  // Below a cgroup that is gone; or of a group (memory.oom.group), where the log names the group.
  return isBelow(cgroup, place) || isBelow(place, cgroup) ? Math.abs(cgroup.length - place.length) : undefined;
}
