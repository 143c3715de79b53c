/**
 * The decisions in which `compatibility: evictd` differs from the kubelet v1.36.2. docs/decisions.md
 * explains each with the example that goes wrong.
 */
export const DEPARTURE_TEXTS = {
  'inode-ranking': 'Inodes are compared with inodes, not with an ephemeral-storage request in bytes.',
  'failed-kill': 'A failed kill is not an eviction; the next candidate follows in the step that the outcome triggers.',
  'unknown-usage': 'A workload without statistics ranks after those known to exceed their request, not before all others.',
  'total-order': 'Ties are broken: youngest first, then by name.',
  'reclaim-scope': 'Whether reclaim was enough is judged on the signal that was reclaimed, not on every threshold.',
  'merge-defaults': 'Setting one hard threshold keeps the defaults of the others.',
  'hard-preempts-soft': 'A hard threshold that is met ends the grace of an eviction in progress.',
  'image-usage': 'Split image filesystem: what a workload uses there is measured, not taken for 0.',
  'hard-grace': 'A hard eviction gives no grace instead of 1 s.',
  'soft-default-grace': "An evictionMaxPodGracePeriod that is not set means 10 s instead of 0, a negative one the workload's own.",
  allocatable: 'Hard memory thresholds are copied to allocatableMemory.available only with allocatable.cgroup.',
  'no-yield':
    'After an eviction that freed too little, its signal evicts only a workload whose growth explains the shortage, until there is relief.',
  'node-yield':
    'An eviction for memory is judged by what the node got back. Memory that outlives the processes (tmpfs) is not expected back, and not ranked.',
  budget: 'At most so many evictions for a resource in a window (evictionBudget), then none.',
  'each-resource': 'One eviction per resource, not one at a time: a full disk does not wait for a dying memory hog.',
  'missing-signal': 'A threshold whose signal cannot be read stays as it is, and is not forgotten.',
  'grace-restart': 'A clock that jumps, or a gap of more than three intervals, restarts soft grace periods instead of ending them.',
  recheck: 'The signal is read once more after the candidates: no workload is evicted for a shortage that has ended.',
  'layout-change': 'The layout follows the devices at every step, so that a filesystem that is mounted later counts.',
  'restart-memory': 'An evictd that is started again knows since when thresholds are met, and when conditions were last seen.',
  'kernel-memory':
    'Memory of a machine that the kernel holds for itself is not available: MemAvailable, not MemTotal − (anonymous + file pages).',
  'reclaimable-cache': 'Page cache and slab that the kernel can drop are available and no usage, active or not.',
  'memory-nodes': 'Memory nodes that a cpuset binds workloads to have the hard threshold of memory.available, too.',
  thrashing: 'A machine that spends its time on reclaim, with little memory available, has a default threshold.',
} as const;
export type Departure = keyof typeof DEPARTURE_TEXTS;
export const DEPARTURES = Object.keys(DEPARTURE_TEXTS) as readonly Departure[];

export type Departures = Readonly<Record<Departure, boolean>>;

export const COMPATIBILITIES = ['evictd', 'kubelet'] as const;
export type Compatibility = (typeof COMPATIBILITIES)[number];

/** The departures in force: by default all for evictd, none for the kubelet. */
export function departuresOf(compatibility: Compatibility, switched: Partial<Departures> = {}): Departures {
  const profile = Object.fromEntries(DEPARTURES.map((name) => [name, compatibility === 'evictd'])) as Record<Departure, boolean>;
  return { ...profile, ...switched };
}
