/** A program that evictd starts: outside its sandbox where systemd runs, and with limits. */
export interface LimitedCommand {
  /** Part of its unit's name: letters, digits, - and _. */
  readonly name: string;
  /** Absolute path and arguments. */
  readonly argv: readonly string[];
  /** 'NAME=VALUE'. Left out: none. */
  readonly environment?: readonly string[];
  readonly timeoutNs: bigint;
  readonly memoryMaxBytes: bigint;
}

/** What evictd starts a program for; part of its unit's name. */
export type CommandPurpose = 'reclaim' | 'policy' | 'hook';
