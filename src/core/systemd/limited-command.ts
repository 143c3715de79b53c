/** A program that the service manager runs for evictd: outside evictd's sandbox, and with limits. */
export interface LimitedCommand {
  /** Part of its unit's name: letters, digits, - and _. */
  readonly name: string;
  /** Absolute path and arguments. */
  readonly argv: readonly string[];
  readonly timeoutNs: bigint;
  readonly memoryMaxBytes: bigint;
}
