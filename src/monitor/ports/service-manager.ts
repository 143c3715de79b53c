/**
 * The service manager that started evictd: systemd, by the lines of sd_notify(3), or that of Windows. No method waits
 * or throws.
 */
export interface ServiceManager {
  /** It restarts evictd after so long without WATCHDOG=1; undefined: it has no watchdog. */
  readonly watchdogMs: number | undefined;
  /** Sends lines NAME=VALUE: 'READY=1', 'STATUS=…'. false: they could not be sent. */
  notify(...lines: readonly string[]): boolean;
  ended(): void;
  close(): void;
}
