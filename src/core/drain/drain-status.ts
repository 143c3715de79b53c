import { firstOf } from '../name/name-list.js';
import type { Drain } from './drain.js';

/** A drain for people and programs. */
export interface DrainStatus {
  readonly state: 'draining' | NonNullable<Drain['over']>;
  readonly total: number;
  readonly ended: number;
  readonly evicting: number;
  /** Workloads that a restarted evictd has not found again. */
  readonly unnamed: number;
  /** The workloads that have not ended, the least important first. `waits`: why it is not being evicted. */
  readonly left: readonly { readonly name: string; readonly path: string; readonly evicting: boolean; readonly waits?: string }[];
}

export function drainStatus({ over, total, pending, unnamed = [] }: Drain): DrainStatus {
  const left = pending.map(({ name, path, decision, waits }) => {
    return { name, path, evicting: decision !== undefined, ...(waits !== undefined && { waits }) };
  });
  return {
    state: over ?? 'draining',
    total,
    ended: total - pending.length - unnamed.length,
    evicting: left.filter(({ evicting }) => evicting).length,
    unnamed: unnamed.length,
    left,
  };
}

/** 'draining: 12 of 30 workloads have ended; being evicted: 3, waiting: 15'. */
export function drainText({ state, total, ended, evicting }: Omit<DrainStatus, 'left'>): string {
  const counts = `${String(ended)} of ${String(total)} workloads have ended`;
  switch (state) {
    case 'cordoned':
      return 'the node is cordoned';
    case 'drained':
      return `the node is drained: ${counts}`;
    case 'timeout':
      return `the time of the drain is over: ${counts}`;
    case 'draining':
      return `draining: ${counts}; being evicted: ${String(evicting)}, waiting: ${String(total - ended - evicting)}`;
  }
}

/** Each reason why workloads wait, with their names: 'web-1, web-2 and 3 more wait: …'. The most frequent first. */
export function drainWaits({ left }: Pick<DrainStatus, 'left'>): string[] {
  const names = new Map<string, string[]>();
  for (const { name, waits } of left) if (waits !== undefined) names.set(waits, [...(names.get(waits) ?? []), name]);
  return [...names]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([why, all]) => `${firstOf(all)} ${all.length === 1 ? 'waits' : 'wait'}: ${why}`);
}
