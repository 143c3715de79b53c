// The native contract: waking JavaScript (see binding.d.ts).
import type { FileSpec, FilesystemStats } from './reading.js';

/** Why a watch woke: bits, because wakes coalesce. FIRED: look now. GONE: the source vanished and the watch is over. */
export interface WakeBits {
  readonly FIRED: 1;
  readonly GONE: 2;
}

/**
 * Called on the JavaScript thread. `atNs`: when the waiter thread saw the first of the coalesced events. `detail`: bits
 * of this kind of watch (which counter moved), or 0. What it throws is an uncaught exception; the other watches are
 * called all the same.
 */
export type OnWake = (wake: number, atNs: bigint, detail: number) => void;

/**
 * Live watches keep the event loop (and themselves) alive, as fs.watch does. The first watch starts two threads, waiter
 * and armer.
 */
export interface Watch {
  /** false after `close()` and after GONE. */
  readonly live: boolean;
  status(): WatchStatus;
  close(): void;
}

/** Describes a watch; also after `close()`. */
export interface WatchStatus {
  readonly mechanism: string;
  /** The file or cgroup. */
  readonly target: string;
  readonly live: boolean;
  /** After GONE or REFUSED: why. Positive; 0 where unknown or fine. */
  readonly errno: number;
}

/**
 * cgroup v1: an eventfd registered in `cgroup.event_control` on `memory.usage_in_bytes`. Fires on crossing in both
 * directions.
 *
 * The constructor opens the files, and throws where it may not. The armer's thread registers, because the kernel waits
 * for an RCU grace period: FIRED with MOVED says that the first registration, or one that usage has reached, stands. A
 * limit crossed before does not fire: read then. REFUSED: it failed (`status().errno`), and the former registration stands.
 */
export interface MemcgThresholdConstructor {
  new (cgroup: string, usageBytes: bigint, onWake: OnWake): ThresholdWatch;
}
export interface ThresholdWatch extends Watch {
  /** The registered limit; undefined: none yet, or not live. */
  readonly armed: bigint | undefined;
  /**
   * Registers another limit, then drops the former, so that no crossing falls between. Returns at once; MOVED or
   * REFUSED follows, but no MOVED where usage is below the limit then: there is nothing to read. After REFUSED it
   * always follows. Of several moves the newest counts, and one wake may answer all. No effect after `close()` or GONE.
   */
  move(usageBytes: bigint): void;
}
/** Detail bits of a MemcgThreshold. */
export interface ThresholdBits {
  readonly MOVED: 1;
  readonly REFUSED: 2;
}

/**
 * cgroup v1: an eventfd registered on `memory.oom_control`. Fires when the cgroup or an ancestor is out of memory,
 * before the OOM killer chooses (the detail bits may then be 0), and again if the cgroup's own kill counter moves
 * within a second (OOM_KILL).
 */
export interface OomControlConstructor {
  new (cgroup: string, onWake: OnWake): Watch;
}
/** UNDER_OOM: tasks wait, because the OOM killer is off. OOM_KILL: a process of this cgroup itself was killed. */
export interface OomBits {
  readonly UNDER_OOM: 1;
  readonly OOM_KILL: 2;
}

/**
 * A PSI trigger on /proc/pressure/* or a cgroup's *.pressure. Throws EINVAL where the window is not permitted (without
 * CAP_SYS_RESOURCE it must be a multiple of 2 s) or the line does not exist (irq has `full` only). `close()` returns at
 * once, the armer's thread closes.
 */
export interface PsiTriggerConstructor {
  new (file: string, trigger: { kind: 'some' | 'full'; stallUs: number; windowUs: number }, onWake: OnWake): Watch;
}

/**
 * cgroup v2: poll of `memory.events` (or `.local`) or of `cgroup.events` (populated, frozen). GONE within 250 ms of the
 * removal: an empty cgroup is examined four times a second, and only an empty one can be removed. The detail bits are
 * the counters that moved since the last wake: several, because the kernel notifies at most once in 10 ms; none for
 * counters that evictd does not know.
 */
export interface MemcgEventsConstructor {
  new (cgroup: string, file: 'memory.events' | 'memory.events.local' | 'cgroup.events', onWake: OnWake): EventsWatch;
}
export interface EventsWatch extends Watch {
  /** The existing counters at the last wake, or at the start. After `close()` or GONE: as last returned. */
  counters(): Readonly<Partial<Record<EventsCounter, number>>>;
}
/** The names in memory.events and in cgroup.events (populated, frozen: 0 or 1). */
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
 * cgroups that appear and vanish directly below a cgroup, and below its descendants that are followed, v1 and v2. Each of
 * them takes one inotify watch, and no other cgroup does. Without `onWake` there is no wake, the event loop
 * is not kept alive, and changes wait in the kernel's queue for `changes()`. Detail bit 1 (OVERFLOW): changes were
 * lost. Throws EMFILE (`syscall` inotify_init1: fs.inotify.max_user_instances, or no descriptor), ENOSPC
 * (inotify_add_watch: fs.inotify.max_user_watches), ENOENT, ENOTDIR.
 */
export interface CgroupTreeConstructor {
  new (root: string, onWake?: OnWake): CgroupTree;
}
export interface CgroupTree extends Watch {
  /**
   * The changes since the last call in order, undefined where there are none; every cgroup created before the call is
   * included. A cgroup may be listed twice. A renamed one (v1) vanishes and appears. A vanished one includes its
   * descendants. One that appears or vanishes is not followed any more. `overflow`: changes were lost (the queue holds
   * 16,384) and `list` is empty: follow and list again. `gone`: the root was removed or renamed. Never throws.
   */
  changes(): CgroupTreeChanges | undefined;
  /**
   * Reports the children of a descendant, too; `path` as in `changes()`. Call it before listing them. false: it vanished.
   * Throws ENOSPC.
   */
  follow(path: string): boolean;
  /** Ends that, also for all below it. */
  unfollow(path: string): void;
}
export interface CgroupTreeChanges {
  readonly list: readonly { readonly path: string; readonly kind: 'appeared' | 'vanished' }[];
  readonly overflow: boolean;
  readonly gone: boolean;
}

/**
 * The end of many processes, held by pidfds: FIRED when some have exited (coalesced), GONE when all have. Processes
 * that do not exist at the start count as exited. A pid may have been reused when it is opened: verify afterwards.
 */
export interface ProcessExitConstructor {
  /** Throws EMFILE and the like where none of the existing processes could be held. */
  new (pids: readonly number[], onWake: OnWake): ProcessExit;
}
export interface ProcessExit extends Watch {
  /** Held processes that have not exited. 0 after `close()`. */
  readonly remaining: number;
  /** Processes that could not be held (EMFILE; pid 0, which is outside this pid namespace): their end is not seen. */
  readonly missed: number;
}

/**
 * The kernel's OOM kills from now on, from /dev/kmsg. FIRED: `records()` has something. Detail bit 1 (LOST): records
 * were lost. GONE: unreadable from now on (`status().errno`); earlier records stay until `close()`. Throws EPERM
 * without CAP_SYSLOG (kernel.dmesg_restrict), EACCES, ENOENT.
 */
export interface KernelLogConstructor {
  new (onWake: OnWake): KernelLog;
}
export interface KernelLog extends Watch {
  /**
   * The records since the last call, in order. `overruns`: how often the kernel overwrote unread records; `dropped`:
   * records that were not taken in time.
   */
  records(): { readonly list: readonly OomRecord[]; readonly overruns: number; readonly dropped: number };
}
/** A process killed by the OOM killer. Paths and pids as in the initial namespaces. */
export interface OomRecord {
  readonly sequence: number;
  /** Since boot. */
  readonly timeUs: number;
  /** 'global': the machine was out of memory. 'memcg': a cgroup was at its limit. */
  readonly constraint: 'global' | 'memcg';
  /** The limited cgroup; undefined: global, or not reported. */
  readonly oomMemcg: string | undefined;
  /** The process's cgroup; undefined: not reported. With memory.oom.group: the group. */
  readonly taskMemcg: string | undefined;
  readonly pid: number;
  /** Its comm: at most 15 bytes, chosen by the process. */
  readonly name: string;
  readonly uid: number | undefined;
  readonly anonRssBytes: number;
  readonly oomScoreAdj: number;
}

/**
 * Samples a value on the waiter thread: Σ weight × field of `files` in order, or −1 × a field of `filesystem`, which
 * its own thread reads. The value rises to its limits; one that falls has negative weights and limits. Wakes when it
 * crosses a limit (CROSSED: from < to ≥ or back; at the first sample if it is beyond), and when it may reach one within
 * two of the shortest periods (APPROACHING: once, until it was twice as far away).
 *
 * The period is a quarter of the time to the nearest limit at the highest rate seen, taken for at least
 * `maxRatePerSecond` and at most eight times that, within [minPeriodMs, maxPeriodMs] (1 and 10,000). While sixteen
 * times the recent rate would not reach the limit in that time, it is at least `restPeriodMs` and a quarter of the time
 * at `restRatePerSecond`. Beyond a limit it is at most 100 ms. A transient failure (ENOMEM; any of a filesystem) only
 * costs its sample. GONE when a file becomes unreadable or the `filesystem` was closed (EBADF). Throws where a file or
 * key is missing at the start. While a filesystem hangs there are no samples.
 */
export interface SamplerConstructor {
  new (options: SamplerOptions, onWake: OnWake): SamplerWatch;
}
/**
 * Σ weight × field − Σ reclaimable; one weight per field of the files. A reclaimable is a weighted sum, at least 0, of
 * which the kernel keeps `kept`, but at most half.
 */
export interface FileSum {
  readonly files: readonly FileSpec[];
  readonly weights: readonly number[];
  readonly reclaimable?: readonly { readonly weights: readonly number[]; readonly kept: number }[];
}
export type SampledValue = FileSum | { readonly filesystem: FilesystemStats; readonly field: 'availableBytes' | 'inodesFree' };
export type SamplerOptions = SampledValue & {
  readonly limits: readonly number[];
  /** The assumed rate, before more was seen. */
  readonly maxRatePerSecond: number;
  readonly minPeriodMs?: number;
  readonly maxPeriodMs?: number;
  readonly restPeriodMs?: number;
  readonly restRatePerSecond?: number;
  /**
   * APPROACHING wakes at this distance from a limit, too, and each time the value has come nearer by a quarter, in
   * units of the value. Left out: only shortly before the limit.
   */
  readonly noticeDistance?: number;
};
export interface SamplerWatch extends Watch {
  /** Samples at once. */
  setLimits(limits: readonly number[]): void;
  /**
   * The caller has read this value: limits above it count as not reached. If the sampler saw it beyond one, it samples
   * at once, and wakes again if it still is.
   */
  seen(value: number): void;
  status(): WatchStatus & {
    /** 0 before the first sample, and when not live. */
    readonly periodMs: number;
  };
}
/** `detail` of a sampler's wake. */
export interface SamplerBits {
  readonly APPROACHING: 1;
  readonly CROSSED: 2;
}
