/** What the running kernel was seen to have. `null` in a feature: it could not be tried. */
export interface KernelFacts {
  /** As `uname -r` says it: '6.1.0-56-amd64'. */
  readonly release: string;
  readonly features: Readonly<Record<KernelFeature, boolean | null>>;
}

/** What evictd uses where it is there. */
export type KernelFeature = 'pidfd' | 'cgroup.kill' | 'process_mrelease';

/** Pressure stall information. */
export interface PressureFacts {
  /** `absent`: there is no /proc/pressure. `off`: there is, and it says EOPNOTSUPP. */
  readonly state: 'on' | 'off' | 'absent';
  /** What the kernel was built with (/boot/config-RELEASE or /proc/config.gz); undefined: neither is there. */
  readonly built: 'on' | 'off by default' | 'without' | undefined;
  /** What `psi=` on the kernel's command line says; undefined: nothing. */
  readonly parameter: string | undefined;
  /** The shortest window that the kernel takes from this process, µs, or why it takes none; undefined: it was not asked. */
  readonly window: { readonly shortestUs: number } | { readonly refused: string } | undefined;
}

/** What the kernel does when it runs out of memory. undefined: it cannot be read, or this kernel has no such thing. */
export interface OomFacts {
  readonly panicOnOom: number | undefined;
  readonly killAllocatingTask: number | undefined;
  /** /sys/kernel/mm/lru_gen/min_ttl_ms. */
  readonly minTtlMs: number | undefined;
}

/** Bytes. */
export interface MemoryFacts {
  readonly overcommitMemory: number | undefined;
  readonly totalBytes: bigint;
  readonly commitLimitBytes: bigint;
  readonly swapBytes: bigint;
  /** Devices and files, as /proc/swaps names them. */
  readonly swaps: readonly string[];
  readonly swappiness: number | undefined;
  /** The sums over all zones (/proc/zoneinfo); undefined: it cannot be read. */
  readonly watermarks: { readonly minBytes: bigint; readonly lowBytes: bigint; readonly highBytes: bigint } | undefined;
}

export interface KernelLogFacts {
  /** Why this process cannot read /dev/kmsg; undefined: it can. */
  readonly refused: string | undefined;
  /** kernel.dmesg_restrict. */
  readonly restricted: boolean | undefined;
}

export interface ClockFacts {
  readonly bootId: string | undefined;
  /** CLOCK_BOOTTIME; undefined: the addon is not there. */
  readonly bootTimeNs: bigint | undefined;
}
