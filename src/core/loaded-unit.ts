/** When systemd starts a service again by itself (systemd.service(5), Restart=). Units of other kinds never are: 'no'. */
export type UnitRestart = 'no' | 'on-success' | 'on-failure' | 'on-abnormal' | 'on-watchdog' | 'on-abort' | 'always';

/** A unit as systemd has it loaded, as far as eviction asks for it (org.freedesktop.systemd1(5)). A value: the next change makes another one. */
export interface LoadedUnit {
  /** Its primary name; it may have others. */
  readonly name: string;
  /** 'active', 'reloading', 'inactive', 'failed', 'activating', 'deactivating', and what later versions add. */
  readonly activeState: string;
  /** Below the mount of the hierarchy that systemd manages: '/system.slice/cron.service'; '' where it has none now. */
  readonly controlGroup: string;
  /** 0n: no guarantee; 2^63 − 1: all that it takes ('infinity'); undefined: not known, or it is no unit with memory of its own. */
  readonly memoryMinBytes: bigint | undefined;
  readonly memoryLowBytes: bigint | undefined;
  readonly managedOomPreference: 'none' | 'avoid' | 'omit';
  /** Between SIGTERM and SIGKILL where systemd stops it; undefined: it waits for ever, or it is no unit that is stopped by signals. */
  readonly timeoutStopNs: bigint | undefined;
  readonly restart: UnitRestart;
  /** What systemd stops when it is told to stop this one: RequiredBy, RequisiteOf, BoundBy, ConsistsOf, PropagatesStopTo. Not transitively. */
  readonly stopsWith: readonly string[];
  /** Those of `stopsWith` that it stops even if this one ends without its doing: BoundBy, PropagatesStopTo. */
  readonly endsWith: readonly string[];
  /** What it asks to be there: Requires, Requisite, BindsTo, Wants, Upholds. Slices, mounts, devices and swaps left out. */
  readonly needs: readonly string[];
  /** systemd stops it when nobody runs any more who needs it. */
  readonly stopWhenUnneeded: boolean;
  /** Whoever needs it; empty where it is not stopped for want of them. */
  readonly neededBy: readonly string[];
  /** What starts it again when it is asked for: sockets, paths, timers. */
  readonly triggeredBy: readonly string[];
  /** A socket of which every connection has a unit of its own (Accept=yes): it starts others, and none of them again. */
  readonly acceptsEach: boolean;
  /** Where one of these runs, systemd stops it to start this one: Conflicts, ConflictedBy. Without shutdown.target, which is in every unit's way, and runs only at the end. */
  readonly conflicts: readonly string[];
  /** It has no file, and is gone for good when it is stopped (systemd-run). */
  readonly transient: boolean;
  /** What systemd does to the machine when it has ended, as its file says it: 'FailureAction=reboot'; undefined: nothing. */
  readonly emergencyAction: string | undefined;
  /** When systemd was asked for all this. Monotonic. */
  readonly readAtNs: bigint;
  /** It has changed since it was read, and is going to be read again. */
  readonly stale: boolean;
  /** Units have come, or systemd has read its files anew, since it was read: what stops with it may be more than is known. */
  readonly unsure: boolean;
}
