/** `null` in a feature: could not be tested. */
export interface KernelFacts {
  /** `uname -r`: '6.1.0-56-amd64' */
  readonly release: string;
  readonly features: Readonly<Record<KernelFeature, boolean | null>>;
}

/** Features that evictd uses if the kernel has them. */
export type KernelFeature = 'pidfd' | 'cgroup.kill' | 'process_mrelease';

/** Pressure stall information. */
export interface PressureFacts {
  /** `absent`: no /proc/pressure. `off`: reading it fails with EOPNOTSUPP. */
  readonly state: 'on' | 'off' | 'absent';
  /** From /boot/config-RELEASE or /proc/config.gz; undefined: neither exists. */
  readonly built: 'on' | 'off by default' | 'without' | undefined;
  /** `psi=` on the kernel command line. */
  readonly parameter: string | undefined;
  /** The shortest window that the kernel accepts from this process, or why it refuses; undefined: not tested. */
  readonly window: { readonly shortestUs: number } | { readonly refused: string } | undefined;
}

/** Bytes. */
export interface MemoryFacts {
  readonly overcommitMemory: number | undefined;
  readonly totalBytes: bigint;
  readonly commitLimitBytes: bigint;
  readonly swapBytes: bigint;
  /** The names in /proc/swaps. */
  readonly swaps: readonly string[];
  readonly swappiness: number | undefined;
  /** Sums over all zones (/proc/zoneinfo); undefined: not readable. */
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
  /** CLOCK_BOOTTIME; undefined: no addon. */
  readonly bootTimeNs: bigint | undefined;
}
