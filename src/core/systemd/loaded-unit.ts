/** systemd.service(5), Restart=. 'no' for other kinds of units. */
export type UnitRestart = 'no' | 'on-success' | 'on-failure' | 'on-abnormal' | 'on-watchdog' | 'on-abort' | 'always';

/** A unit as loaded by systemd, as far as eviction needs it (org.freedesktop.systemd1(5)). */
export interface LoadedUnit {
  /** The primary name. There may be aliases. */
  readonly name: string;
  /** 'active', 'reloading', 'inactive', 'failed', 'activating', 'deactivating', and values of later versions. */
  readonly activeState: string;
  /** Monotonic: when it was last started or became active, whichever is later. undefined: never. */
  readonly sinceNs: bigint | undefined;
  /** The path below the mount of systemd's hierarchy: '/system.slice/cron.service'; '': none now. */
  readonly controlGroup: string;
  /** 0n: none; 2^63 − 1: 'infinity'; undefined: not known, or a unit without memory of its own. */
  readonly memoryMinBytes: bigint | undefined;
  readonly memoryLowBytes: bigint | undefined;
  readonly managedOomPreference: 'none' | 'avoid' | 'omit';
  /** Between systemd's SIGTERM and SIGKILL; undefined: no limit, or a unit that is not stopped by signals. */
  readonly timeoutStopNs: bigint | undefined;
  readonly restart: UnitRestart;
  /** What systemd stops with it: RequiredBy, RequisiteOf, BoundBy, ConsistsOf, PropagatesStopTo. Not transitive. */
  readonly stopsWith: readonly string[];
  /** The part of `stopsWith` that systemd also stops when this unit ends by itself: BoundBy, PropagatesStopTo. */
  readonly endsWith: readonly string[];
  /** Requires, Requisite, BindsTo, Wants, Upholds, without slices, mounts, devices and swaps. */
  readonly needs: readonly string[];
  /** systemd stops it when no running unit needs it. */
  readonly stopWhenUnneeded: boolean;
  /** Units that need it; empty without `stopWhenUnneeded`. */
  readonly neededBy: readonly string[];
  /** Sockets, paths and timers that start it again. */
  readonly triggeredBy: readonly string[];
  /** A socket with a unit for each connection (Accept=yes): it never starts the same unit again. */
  readonly acceptsEach: boolean;
  /**
   * Conflicts, ConflictedBy: systemd stops them to start this unit. Without shutdown.target, which conflicts with every
   * unit.
   */
  readonly conflicts: readonly string[];
  /** It has no unit file and disappears when it stops (systemd-run). */
  readonly transient: boolean;
  /** What systemd does to the machine when the unit ends: 'FailureAction=reboot'; undefined: nothing. */
  readonly emergencyAction: string | undefined;
  /** Monotonic. */
  readonly readAtNs: bigint;
  /** It has changed since it was read, and will be read again. */
  readonly stale: boolean;
  /** Since it was read a new unit may have named it, or systemd has reloaded its files: more units may stop with it. */
  readonly unsure: boolean;
}
