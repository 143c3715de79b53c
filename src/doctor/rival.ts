import { amountOfBytes } from '../core/amount.js';
import type { MemoryLimit } from './memory-limit.js';

/** At how much memory another daemon acts. */
export interface Rival {
  readonly bytes: bigint;
  /** 'at 10 % of MemAvailable'. */
  readonly text: string;
}

export interface Precedence {
  readonly isFirst: boolean;
  readonly text: string;
}

/** Who acts first as memory runs out: whoever has the higher limit. At the same one both do. `ours` undefined: evictd does not act on memory at all. */
export function precedence({ bytes, text }: Rival, ours: MemoryLimit | undefined): Precedence {
  const theirs = `it acts ${text} (${amountOfBytes(bytes)})`;
  if (ours === undefined) return { isFirst: true, text: `${theirs}, evictd has no hard threshold of memory` };
  if (bytes >= ours.bytes) return { isFirst: true, text: `${theirs}, before evictd at ${ours.text}` };
  return { isFirst: false, text: `${theirs}, after evictd at ${ours.text}` };
}
