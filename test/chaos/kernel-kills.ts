import { looksOf, resourceOf, type Eviction, type Evidence, type Violation } from './evidence.js';
import type { Seen } from './seen.js';

type Kill = Extract<Seen, { kind: 'kernel-kills' }>;

/** A time in which evictd did not evict for memory, and was right not to. */
interface Block {
  readonly reason: string;
  readonly from: number;
  readonly to: number;
  /** A pause: a workload whose growth explains the shortage is evicted below this many available bytes. */
  readonly permitsGrowersBelow?: number;
}

/** So much growth of evictable workloads, and so much of what the node has lost, is beyond doubt: docs/stops-evicting.md has half. */
const MIN_GROWTH = 32 << 20;
const PART_OF_LOSS = 0.75;

/** The kernel's OOM killer: each kill is excused by what prevented evictd at that moment, or is a violation. */
export function kernelKills(evidence: Evidence): { readonly violations: readonly Violation[]; readonly excused: Record<string, number> } {
  const violations: Violation[] = [];
  const excused: Record<string, number> = {};
  const blocks = [...absences(evidence), ...usedUpBudgets(evidence), ...withoutYield(evidence), ...leaksElsewhere(evidence)];
  for (const event of evidence.seen) {
    if (event.kind !== 'kernel-kills') continue;
    const reason = excuse(evidence, blocks, event);
    if (reason === undefined) violations.push({ at: event.at, what: `the kernel's OOM killer killed a process of ${event.workload}` });
    else excused[reason] = (excused[reason] ?? 0) + event.count;
  }
  return { violations, excused };
}

/** Why evictd could not prevent a kill by the kernel; undefined: it could have. */
function excuse(evidence: Evidence, blocks: readonly Block[], kill: Kill): string | undefined {
  const { evictions, lives, protectedOnes, promised } = evidence;
  if (kill.limit === 'own') return 'its own limit';
  const inForce = blocks.filter(({ from, to }) => from <= kill.at && to > kill.since);
  const holds = inForce.find((block) => !couldEvictGrower(evidence, block, kill));
  if (holds) return holds.reason;
  const justOver = blocks.some(
    ({ to }) =>
      to <= kill.since &&
      kill.since - to < promised.looksWithinMs &&
      !evictions.some(({ outcome }) => outcome !== undefined && outcome.at > to && outcome.at < kill.since),
  );
  if (justOver) return 'just back';
  const alive = lives.some(
    ({ workload, from, end }) => !protectedOnes.has(workload) && from < kill.since && (end?.at ?? Infinity) > kill.since,
  );
  return alive ? undefined : 'nothing evictable';
}

/** Reports whether an evictable workload had grown so that a pause permits its eviction, and evictd has looked since. */
function couldEvictGrower({ seen, evictions, protectedOnes, promised }: Evidence, block: Block, kill: Kill): boolean {
  const { permitsGrowersBelow } = block;
  if (permitsGrowersBelow === undefined) return false;
  const last = evictions.filter(({ resource, from }) => resource === 'memory' && from <= kill.since).at(-1);
  const looks = looksOf(seen);
  const base = looks.find(({ at }) => at >= Math.max(block.from, last?.from ?? 0));
  const late = looks.filter(({ at }) => at <= kill.since - promised.looksWithinMs).at(-1);
  if (base === undefined || late === undefined || late.at <= base.at || late.freeBytes >= permitsGrowersBelow) return false;
  const grown = Object.entries(late.anonBytes).map(
    ([workload, bytes]) => [protectedOnes.has(workload), Math.max(0, bytes - (base.anonBytes[workload] ?? 0))] as const,
  );
  const all = grown.reduce((sum, [, bytes]) => sum + bytes, 0);
  const curable = grown.reduce((sum, [isProtected, bytes]) => sum + (isProtected ? 0 : bytes), 0);
  return curable >= MIN_GROWTH && curable >= PART_OF_LOSS * Math.max(all, base.freeBytes - late.freeBytes);
}

/** It did not run: stopped, dead or lost. */
function absences({ seen }: Evidence): Block[] {
  const states = seen.filter((event) => event.kind === 'evictd');
  return [{ at: -Infinity, state: 'dead' as const }, ...states].flatMap(({ at, state }, index) =>
    state === 'guards' ? [] : [{ reason: state, from: at, to: states[index]?.at ?? Infinity }],
  );
}

/** From the decision that used up the budget until a victim leaves the window, or an operator resumes. */
function usedUpBudgets({ evictions, journal, promised: { budget } }: Evidence): Block[] {
  const counted = evictions.filter(({ resource, outcome }) => resource === 'memory' && outcome?.result !== 'vanished');
  return counted.flatMap(({ from }, index) => {
    const victims = counted.slice(0, index + 1).filter((one, at, all) => !all.some((later, after) => after > at && isRepeatOf(later, one)));
    const first = victims.at(-budget.max);
    if (first === undefined || first.from + budget.windowMs <= from) return [];
    return [{ reason: 'budget', from, to: Math.min(first.from + budget.windowMs, forgottenAfter(journal, from)) }];
  });
}

/** The budget counts it instead of the earlier one. */
function isRepeatOf(later: Eviction, { path }: Eviction): boolean {
  return later.repeats && later.path === path;
}

/** Relief ends a pause only if it lasts so long. */
const RELIEF_LASTS_MS = 10_000;

/**
 * An eviction that freed too little pauses memory until as much is available as there had to be, for some time. (A pause
 * that ends earlier, by less relief, is followed by an eviction or by another pause.)
 */
function withoutYield({ evictions, seen, journal, promised: { looksWithinMs } }: Evidence): Block[] {
  return evictions.flatMap(({ resource, outcome, limit }) => {
    if (resource !== 'memory' || outcome?.result !== 'ineffective' || outcome.notFreed === 'taken') return [];
    const { at: from } = outcome;
    const to = Math.min(enoughAfter(seen, from, limit, RELIEF_LASTS_MS + looksWithinMs), forgottenAfter(journal, from));
    return [{ reason: 'no-yield', from, to, permitsGrowersBelow: limit }];
  });
}

/** When the node had so much for so long that evictd has seen it. */
function enoughAfter(seen: readonly Seen[], from: number, bytes: number, forMs: number): number {
  let since: number | undefined;
  for (const { at, freeBytes } of looksOf(seen)) {
    if (at < from) continue;
    since = freeBytes >= bytes ? (since ?? at) : undefined;
    if (since !== undefined && at - since >= forMs) return at;
  }
  return Infinity;
}

/** From the alert until no episode of memory is left. In the same episode a pause that begins again has no second alert. */
function leaksElsewhere({ journal }: Evidence): Block[] {
  const open = new Set<string>();
  const blocks: Block[] = [];
  let alert: { readonly at: number; readonly below: number } | undefined;
  const end = (to: number): void => {
    if (alert) blocks.push({ reason: 'leak-elsewhere', from: alert.at, to, permitsGrowersBelow: alert.below });
    alert = undefined;
  };
  for (const { type, at, signal = '', kind, threshold, thresholdValue, met, alert: name, resumed } of journal) {
    if (type === 'resume' || (type === 'start' && resumed === undefined)) end(at);
    if (type === 'start' && resumed === undefined) open.clear();
    if (resourceOf(signal) !== 'memory' || signal === '') continue;
    if (type === 'alert' && name === 'leak-elsewhere') alert ??= { at, below: Number(thresholdValue) };
    if (type !== 'threshold') continue;
    if (met === true) open.add(`${kind} ${threshold}`);
    else open.delete(`${kind} ${threshold}`);
    if (open.size === 0) end(at);
  }
  end(Infinity);
  return blocks;
}

/** When evictd has forgotten its pauses: an operator resumed it, or a run began without the state of the one before. */
function forgottenAfter(journal: Evidence['journal'], from: number): number {
  return (
    journal.find(({ type, at, resumed }) => at >= from && (type === 'resume' || (type === 'start' && resumed === undefined)))?.at ??
    Infinity
  );
}
