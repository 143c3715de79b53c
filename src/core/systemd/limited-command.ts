/** A program that runs for evictd with limits, where possible in a unit of its own, outside evictd's sandbox. */
export interface LimitedCommand {
  /** Part of its unit's name, evictd-PURPOSE-NAME. */
  readonly purpose: 'reclaim' | 'hook' | 'notify' | 'policy';
  /** Part of its unit's name: letters, digits, - and _. */
  readonly name: string;
  /** Absolute path and arguments. */
  readonly argv: readonly string[];
  /** Valid UTF-8 without control characters. Left out: none of its own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** It runs as this user. Left out: as root. */
  readonly uid?: number;
  readonly timeoutNs: bigint;
  readonly memoryMaxBytes: bigint;
}
