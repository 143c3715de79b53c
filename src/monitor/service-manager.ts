/** The service manager that has started evictd: systemd, by the lines of sd_notify(3), or that of Windows. Nothing of it waits or throws. */
export interface ServiceManager {
  /** It restarts evictd when it gets no WATCHDOG=1 for this long; undefined: it does not watch. */
  readonly watchdogMs: number | undefined;
  /** Tells it lines of NAME=VALUE: 'READY=1', 'STATUS=…'. false: it could not be told. */
  tell(...lines: readonly string[]): boolean;
  /** All is written: the process ends now. After `close()`. */
  ended(): void;
  close(): void;
}
