// The native contract, what wakes JavaScript (see binding.d.ts).
import type { FileSpec, FilesystemStats } from './reading.js';

/** Why a watch woke: bits, because wakes coalesce. FIRED: look now. GONE: the source vanished; the watch has left the set and will not fire again. */
export interface WakeBits {
  readonly FIRED: 1;
  readonly GONE: 2;
}

/**
 * Called on the JavaScript thread. `atNs`: when the waiter thread saw the first of the coalesced events. `detail`: bits of this kind of watch (which counter
 * moved), 0 where it has none to tell. What it throws is an uncaught exception; the other watches are called all the same.
 */
export type OnWake = (wake: number, atNs: bigint, detail: number) => void;

/** Live watches keep the event loop (and themselves) alive, as fs.watch does. The environment's first watch starts its two threads, waiter and armer. */
export interface Watch {
  /** false after `close()` and after GONE. */
  readonly live: boolean;
  status(): WatchStatus;
  close(): void;
}

/** What a watch is, for people and logs. It may be asked after `close()`. */
export interface WatchStatus {
  readonly mechanism: string;
  /** The file or cgroup. */
  readonly target: string;
  readonly live: boolean;
  /** After GONE: why; after REFUSED: what the kernel said. Positive; 0 where it is not known or all is well. */
  readonly errno: number;
}

/**
 * cgroup v1: an eventfd registered in `cgroup.event_control` on `memory.usage_in_bytes`. Fires on crossing in both directions.
 *
 * The constructor opens what registering needs, and throws where that may not be opened. The registration itself, in which the kernel waits for an RCU
 * grace period, is made by the armer's thread: FIRED with the detail bit MOVED says that it stands. A limit that had been crossed by then does not
 * fire: read when it comes. REFUSED: it could not be made (`status().errno`), what stood before stands.
 */
export interface MemcgThresholdConstructor {
  new (cgroup: string, usageBytes: bigint, onWake: OnWake): ThresholdWatch;
}
export interface ThresholdWatch extends Watch {
  /** The limit that is registered with the kernel now; undefined: none yet, or not live. */
  readonly armed: bigint | undefined;
  /**
   * Registers another limit, and then drops the former, so that no crossing falls between. Returns at once; MOVED or REFUSED follows. Of several that are
   * asked for meanwhile only the newest counts, and one wake may answer for all. After `close()` or GONE it does nothing.
   */
  move(usageBytes: bigint): void;
}
/** Detail bits of a MemcgThreshold. */
export interface ThresholdBits {
  readonly MOVED: 1;
  readonly REFUSED: 2;
}

/**
 * cgroup v1: an eventfd registered on `memory.oom_control`. Fires when the cgroup, or one above it, is out of memory, before the kernel's OOM killer
 * chooses (the detail bits may then be 0), and again when within a second the cgroup's own counter of kills has moved (OOM_KILL).
 */
export interface OomControlConstructor {
  new (cgroup: string, onWake: OnWake): Watch;
}
/** Detail bits of an OomControl. UNDER_OOM: tasks wait, because the OOM killer is switched off. OOM_KILL: a process of this very cgroup was killed. */
export interface OomBits {
  readonly UNDER_OOM: 1;
  readonly OOM_KILL: 2;
}

/**
 * A PSI trigger on /proc/pressure/* or a cgroup's *.pressure. Errors: EINVAL where the window is not allowed (without CAP_SYS_RESOURCE it must be a multiple
 * of 2 s) or the file has no line of this kind (irq has `full` only). `close()` returns at once, the armer's thread closes.
 */
export interface PsiTriggerConstructor {
  new (file: string, trigger: { kind: 'some' | 'full'; stallUs: number; windowUs: number }, onWake: OnWake): Watch;
}

/**
 * cgroup v2: poll of `memory.events` (or `.local`), or of `cgroup.events` (populated, frozen), of a cgroup. GONE within 250 ms after the cgroup was
 * removed: an empty one (cgroup.events says so) is looked at four times a second, and only an empty one can be removed. The detail bits say which counters
 * moved since it fired last: several at a time, because the kernel notifies at most once in 10 ms; none for one that evictd does not know.
 */
export interface MemcgEventsConstructor {
  new (cgroup: string, file: 'memory.events' | 'memory.events.local' | 'cgroup.events', onWake: OnWake): EventsWatch;
}
export interface EventsWatch extends Watch {
  /** As read when it fired last, or at the start; those that the file has. After `close()` or GONE: as they were when last asked for. */
  counters(): Readonly<Partial<Record<EventsCounter, number>>>;
}
/** The names in memory.events, and in cgroup.events (populated, frozen: 0 or 1). */
export type EventsCounter = Lowercase<keyof EventsBits>;
/** Detail bits of a MemcgEvents. */
export interface EventsBits {
  readonly LOW: 1;
  readonly HIGH: 2;
  readonly MAX: 4;
  readonly OOM: 8;
  readonly OOM_KILL: 16;
  readonly OOM_GROUP_KILL: 32;
  readonly POPULATED: 64;
  readonly FROZEN: 128;
}

/**
 * cgroups that appear and vanish below a cgroup (inotify), v1 and v2. Without `onWake` nobody is woken and the event loop is not kept alive: changes stand
 * in the kernel's queue until `changes()` reads them. Detail bit 1 (OVERFLOW): changes were lost. Throws EMFILE (`syscall` inotify_init1: no inotify instance
 * left, fs.inotify.max_user_instances, or no descriptor), ENOSPC (inotify_add_watch: fs.inotify.max_user_watches), ENOENT, ENOTDIR.
 */
export interface CgroupTreeConstructor {
  /** `depth` 'children': those directly below the root, one watch. 'all': every level, a watch each. */
  new (root: string, depth: 'children' | 'all', onWake?: OnWake): CgroupTree;
}
export interface CgroupTree extends Watch {
  /**
   * What happened since the last call, in order, undefined where nothing has; every cgroup made before the call is in it. A cgroup may be told twice. A renamed one (v1) vanishes under the old
   * name and appears under the new one. What vanishes takes all below it along; what lay below an 'appeared' one is told, too. `overflow`: changes were lost (the
   * kernel's queue holds 16,384), `list` is empty: list anew. `gone`: the root was removed or renamed, or could not be followed (`status().errno`). Never throws.
   */
  changes(): CgroupTreeChanges | undefined;
}
export interface CgroupTreeChanges {
  readonly list: readonly { readonly path: string; readonly kind: 'appeared' | 'vanished' }[];
  readonly overflow: boolean;
  readonly gone: boolean;
}

/**
 * The end of many processes, held by pidfds: FIRED when some have exited (coalesced), GONE when all have; then nothing is left to watch. Those that are gone
 * at the start count as exited. A number is whoever has it when it is opened: read afterwards what the end of all should mean.
 */
export interface ProcessExitConstructor {
  /** Throws EMFILE and the like where not one of those that exist could be held. */
  new (pids: readonly number[], onWake: OnWake): ProcessExit;
}
export interface ProcessExit extends Watch {
  /** Those held that have not exited. 0 after `close()`. */
  readonly remaining: number;
  /** Those that could not be held (EMFILE; pid 0, which stands for a process outside this pid namespace): their end is not told. */
  readonly missed: number;
}

/**
 * What the kernel's OOM killer does, from now on, as the kernel log says it (/dev/kmsg). FIRED: `records()` has something. Detail bit 1 (LOST): something was
 * lost. GONE: it cannot be read any more (`status().errno`); what was read before is still in `records()`, until `close()`. Throws EPERM where CAP_SYSLOG is missing (kernel.dmesg_restrict), EACCES, ENOENT.
 */
export interface KernelLogConstructor {
  new (onWake: OnWake): KernelLog;
}
export interface KernelLog extends Watch {
  /** What came since the last call, in order. `overruns`: how often the kernel wrote over what was not read yet; `dropped`: records that nobody took in time. */
  records(): { readonly list: readonly OomRecord[]; readonly overruns: number; readonly dropped: number };
}
/** One process killed by the OOM killer. Paths as the kernel's first cgroup namespace has them, pids as its first pid namespace. */
export interface OomRecord {
  readonly sequence: number;
  /** Since boot. */
  readonly timeUs: number;
  /** 'global': the machine was out of memory. 'memcg': a cgroup was at its limit. */
  readonly constraint: 'global' | 'memcg';
  /** Whose limit; undefined: global, or not said. */
  readonly oomMemcg: string | undefined;
  /** Where the process lived; undefined: not said. Of a group that is killed as a whole (memory.oom.group): the group. */
  readonly taskMemcg: string | undefined;
  readonly pid: number;
  /** Its comm: 15 bytes at most, chosen by the process. */
  readonly name: string;
  readonly uid: number | undefined;
  readonly totalVmBytes: number;
  readonly anonRssBytes: number;
  readonly fileRssBytes: number;
  readonly shmemRssBytes: number;
  readonly pgtablesBytes: number;
  readonly oomScoreAdj: number;
}

/**
 * Samples a value on the waiter thread: Σ weight × field over the fields of `files` in order, or −1 × a field of `filesystem`, which its own thread reads.
 * Limits are what the value rises to, so what falls to one has a negative weight and a negative limit. It wakes when the value crosses one
 * (CROSSED: from < limit to ≥ limit or back; beyond a limit at the first sample after the start or `setLimits`, too), and when it has come so near to one that
 * it may be there within two of the shortest periods (APPROACHING: once, until it has been twice as far away).
 *
 * The next sample comes after a quarter of the time to the nearest limit at the highest rate that was seen, never taken for less than `maxRatePerSecond`
 * nor for more than eight times that; within [minPeriodMs, maxPeriodMs] (1 and 10,000). With `restPeriodMs` it comes no sooner
 * than that while sixteen times the rate of lately would not be at the limit before: what begins to rise then is seen so late at most. Beyond a limit it comes after 100 ms at most. A sample that fails in
 * passing (ENOMEM; any error of a filesystem) only costs that sample. GONE when a file cannot be read any more, or the `filesystem` was closed (EBADF). Throws where
 * a file or a key is missing at the start. While a filesystem hangs there are no samples.
 */
export interface SamplerConstructor {
  new (options: SamplerOptions, onWake: OnWake): SamplerWatch;
}
export type SampledValue =
  | { readonly files: readonly FileSpec[]; readonly weights: readonly number[] }
  | { readonly filesystem: FilesystemStats; readonly field: 'availableBytes' | 'inodesFree' };
export type SamplerOptions = SampledValue & {
  readonly limits: readonly number[];
  /** What the value is taken to be able to rise by in a second, before it has shown more. */
  readonly maxRatePerSecond: number;
  readonly minPeriodMs?: number;
  readonly maxPeriodMs?: number;
  readonly restPeriodMs?: number;
};
export interface SamplerWatch extends Watch {
  /** Samples at once. */
  setLimits(limits: readonly number[]): void;
  /**
   * The caller has read this value itself and goes by it: a limit that it is below counts as not reached. Where the sampler saw it beyond, it samples
   * at once, and wakes again if it is.
   */
  seen(value: number): void;
  status(): WatchStatus & {
    /** The time to the next sample; 0 before the first, and when not live. */
    readonly periodMs: number;
  };
}
/** What a sampler's wake says in `detail`. */
export interface SamplerBits {
  readonly APPROACHING: 1;
  readonly CROSSED: 2;
}
