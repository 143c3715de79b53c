/** A program that evictd has run for it, by the service manager: outside its own sandbox, and with limits. */
export interface LimitedCommand {
  /** Part of the name of its unit: letters, digits, - and _. */
  readonly name: string;
  /** The program by its absolute path, and its arguments. */
  readonly argv: readonly string[];
  readonly timeoutNs: bigint;
  readonly memoryMaxBytes: bigint;
}
