import { amountOfBytes } from '../../../core/quantity/amount.js';
import type { MemoryLimit } from '../kernel/memory-limit.js';

/** The limit at which another daemon acts. */
export interface DaemonLimit {
  readonly bytes: bigint;
  /** 'below 10 % MemAvailable' */
  readonly text: string;
}

export interface Precedence {
  readonly isFirst: boolean;
  readonly text: string;
}

/** The higher limit acts first; at the same limit both do. `ours` undefined: evictd has no hard memory threshold. */
export function precedence({ bytes, text }: DaemonLimit, ours: MemoryLimit | undefined): Precedence {
  const theirs = `it acts ${text} (${amountOfBytes(bytes)})`;
  if (ours === undefined) return { isFirst: true, text: `${theirs}, evictd has no hard threshold of memory` };
  if (bytes >= ours.bytes) return { isFirst: true, text: `${theirs}, before evictd at ${ours.text}` };
  return { isFirst: false, text: `${theirs}, after evictd at ${ours.text}` };
}
