import { amountOf } from '../core/amount.js';
import { countedBy } from '../core/disk-holding.js';
import type { Effect } from '../core/effect.js';
import { jsonInteger } from '../core/integer.js';
import { comparisonText } from '../core/message.js';
import { readingOf, type JournalRecord } from './record.js';

/** Node-level reclaim begins, or what it came to. */
export function reclaimRecord(effect: Extract<Effect, { kind: 'reclaim' | 'reclaimed' }>): JournalRecord {
  const { collections } = effect.reclaim;
  const over = effect.kind === 'reclaimed' ? { enough: effect.enough, errors: effect.errors, ...yieldsOf(effect) } : {};
  return { type: effect.kind, ...readingOf(effect.reclaim), collections, ...over, message: reclaimMessage(effect) };
}

/** 'reclaiming containers, images: nodefs.available 1.2GiB < 10% = 5GiB (hard)'. */
export function reclaimMessage(effect: Extract<Effect, { kind: 'reclaim' | 'reclaimed' }>): string {
  const { threshold, collections } = effect.reclaim;
  const what = collections.join(', ');
  if (effect.kind === 'reclaim') return `reclaiming ${what}: ${comparisonText(effect.reclaim)}`;
  const failed = effect.errors.length === 0 ? '' : `; ${effect.errors.join('; ')}`;
  const enough = effect.enough ? 'was enough, so nobody is evicted' : 'was not enough';
  const gave = effect.yields?.map((freed) => `${freed.collection} ${amountOf(threshold.signal, countedBy(threshold.signal, freed))}`);
  return `reclaiming ${what} for ${threshold.signal} ${enough}${gave ? ` (${gave.join(', ')})` : ''}${failed}`;
}

function yieldsOf({ yields }: Extract<Effect, { kind: 'reclaimed' }>): Record<string, unknown> {
  if (yields === undefined) return {};
  return {
    yields: yields.map(({ collection, bytes, inodes }) => ({
      collection,
      freedBytes: jsonInteger(bytes),
      freedInodes: jsonInteger(inodes),
    })),
  };
}
