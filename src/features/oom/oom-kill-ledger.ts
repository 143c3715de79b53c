import { isBelow } from '../../core/workload/cgroup.js';
import { killsBetween, type CountedKills, type OomTally } from '../../core/oom/oom-kill-count.js';

/** Counted kills without a line in the kernel log yet. */
export interface OpenKills extends CountedKills {
  /** When evictd first saw it. */
  readonly sinceNs: bigint;
}

/**
 * Reconciles the kernel's counters with its log, so that each kill is reported once. The log names each process, but it
 * may be unreadable or overwritten, and under many kills it omits the cgroup (at most 10 lines in 5 s). The counters
 * are always right, but they only count.
 */
export interface KillLedger {
  readonly tally: OomTally;
  /** Kills that only the total counts and that are accounted for; negative: the total was read before the rest. */
  readonly unplaced: number;
  /** Cgroups of logged kills, one entry each, since the counters were last read. */
  readonly logged: readonly string[];
  readonly open: readonly OpenKills[];
}

/** Earlier kills do not count. */
export function openLedger(tally: OomTally): KillLedger {
  return { tally, unplaced: 0, logged: [], open: [] };
}

/** The log reported a kill in this cgroup. */
export function killLogged(ledger: KillLedger, cgroup: string): KillLedger {
  return { ...ledger, logged: [...ledger.logged, cgroup] };
}

/**
 * Adds a reading of the counters. The kernel counts before it logs, so every kill logged before the reading began is
 * counted in it. A logged kill without a counter belongs to a removed cgroup or to another node.
 *
 * @param before  entries of `logged` when the reading began; later ones may or may not be counted in it
 */
export function countersRead(ledger: KillLedger, tally: OomTally, before: number, nowNs: bigint): KillLedger {
  const placed = killsBetween(ledger.tally, tally);
  const { unplaced, count } = unplacedKills(ledger, tally, placed);
  const nowhere: CountedKills[] = count > 0 ? [{ cgroup: undefined, count, limit: { kind: 'unknown' } }] : [];
  const added = [...placed, ...nowhere].map((kills) => ({ ...kills, sinceNs: nowNs }));
  const { open, missed } = settle([...ledger.open, ...added], ledger.logged);
  return { tally, unplaced, logged: ledger.logged.filter((_, index) => index >= before && missed.has(index)), open };
}

/** Logged kills without a cgroup, matched with counted ones. */
export interface Claim {
  readonly ledger: KillLedger;
  /** How many of them were counted below the node. */
  readonly found: number;
  /** Unknown if more than one cgroup has counted kills. */
  readonly place: Pick<CountedKills, 'cgroup' | 'limit'>;
}

/** The log reported this many kills without a cgroup. Call it after the counters were read. */
export function claimUnplaced(ledger: KillLedger, processes: number): Claim {
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

/** Removes kills that have been open for `waitNs`: the log will not report them any more. */
export function overdue(
  ledger: KillLedger,
  nowNs: bigint,
  waitNs: bigint,
): { readonly ledger: KillLedger; readonly kills: readonly CountedKills[] } {
  const isDue = ({ sinceNs }: OpenKills): boolean => nowNs - sinceNs >= waitNs;
  return { ledger: { ...ledger, open: ledger.open.filter((kills) => !isDue(kills)) }, kills: ledger.open.filter(isDue) };
}

/** The total also counts kills in the root cgroup and (v1) in removed cgroups. */
function unplacedKills(ledger: KillLedger, tally: OomTally, placed: readonly CountedKills[]): { unplaced: number; count: number } {
  if (tally.total === undefined || ledger.tally.total === undefined) return { unplaced: 0, count: 0 };
  const shown = placed.reduce((sum, { count }) => sum + count, 0);
  const grown = tally.total - ledger.tally.total - shown + Math.min(ledger.unplaced, 0);
  return { unplaced: Math.min(grown, 0), count: Math.max(grown, 0) };
}

/**
 * Matches each logged kill with a counted one: in the same cgroup, else in the nearest ancestor or descendant, else in
 * an unknown cgroup.
 *
 * @returns the open kills, and the indexes of unmatched logged kills
 */
function settle(open: readonly OpenKills[], kills: KillLedger['logged']): { open: readonly OpenKills[]; missed: ReadonlySet<number> } {
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

/** undefined: not the same kill. */
function distance(cgroup: string, place: string | undefined): number | undefined {
  if (cgroup === place) return 0;
  if (place === undefined) return Infinity;
  // The counter is an ancestor's (its cgroup was removed), or the log names the group (memory.oom.group).
  return isBelow(cgroup, place) || isBelow(place, cgroup) ? Math.abs(cgroup.length - place.length) : undefined;
}
