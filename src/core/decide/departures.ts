/**
 * Where `compatibility: evictd` decides otherwise than the kubelet v1.36.2 does; docs/decisions.md explains each with
 * the example that goes wrong.
 *
 * - inode-ranking: inodes are compared with inodes, not with an ephemeral-storage request in bytes.
 * - failed-kill: a failed kill is no eviction; the next candidate follows in the step that the outcome triggers.
 * - unknown-usage: a workload without statistics ranks after those known to exceed their request, not before all others.
 * - total-order: ties are broken: youngest first, then by name.
 * - reclaim-scope: whether reclaim was enough is judged on the signal that was reclaimed, not on every threshold.
 * - merge-defaults: setting one hard threshold keeps the defaults of the others.
 * - hard-preempts-soft: a hard threshold that is met ends the grace of an eviction in progress.
 * - image-usage: split image filesystem: what a workload uses there is measured, not taken for 0.
 * - hard-grace: a hard eviction gives no grace instead of 1 s.
 * - soft-default-grace: an evictionMaxPodGracePeriod that is not set means 10 s instead of 0, a negative one the workload's own.
 * - allocatable: hard memory thresholds are copied to allocatableMemory.available only with
 *   `allocatable: {cgroup, capacity}`.
 * - no-yield: after an eviction that freed too little, its signal evicts only a workload whose growth explains the shortage,
 *   until there is relief.
 * - node-yield: an eviction for memory is judged by what the node got back. Memory that outlives the processes (tmpfs) is
 *   not expected back, and not ranked.
 * - budget: at most so many evictions for a resource in a window (evictionBudget), then none.
 * - each-resource: one eviction per resource, not one at a time: a full disk does not wait for a dying memory hog.
 * - missing-signal: a threshold whose signal cannot be read stays as it is, and is not forgotten.
 * - grace-restart: a clock that jumps, or a gap of more than three intervals, restarts soft grace periods instead of
 *   ending them.
 * - recheck: the signal is read once more after the candidates: no workload is evicted for a shortage that has ended.
 * - layout-change: the layout follows the devices at every step, so that a filesystem that is mounted later counts.
 * - restart-memory: an evictd that is started again knows since when thresholds are met, and when conditions were last
 *   seen.
 * - kernel-memory: memory of a machine that the kernel holds for itself is not available: MemAvailable, not MemTotal −
 *   (anonymous + file pages).
 * - reclaimable-cache: page cache and slab that the kernel can drop are available and no usage, active or not.
 * - thrashing: a machine that spends its time on reclaim, with little memory available, has a default threshold.
 */
export const DEPARTURES = [
  'inode-ranking',
  'failed-kill',
  'unknown-usage',
  'total-order',
  'reclaim-scope',
  'merge-defaults',
  'hard-preempts-soft',
  'image-usage',
  'hard-grace',
  'soft-default-grace',
  'allocatable',
  'no-yield',
  'node-yield',
  'budget',
  'each-resource',
  'missing-signal',
  'grace-restart',
  'recheck',
  'layout-change',
  'restart-memory',
  'kernel-memory',
  'reclaimable-cache',
  'thrashing',
] as const;
export type Departure = (typeof DEPARTURES)[number];

export type Departures = Readonly<Record<Departure, boolean>>;

export const COMPATIBILITIES = ['evictd', 'kubelet'] as const;
export type Compatibility = (typeof COMPATIBILITIES)[number];

/** All for evictd, none for the kubelet. */
export function departuresOf(compatibility: Compatibility, switched: Partial<Departures> = {}): Departures {
  const profile = Object.fromEntries(DEPARTURES.map((name) => [name, compatibility === 'evictd'])) as Record<Departure, boolean>;
  return { ...profile, ...switched };
}
