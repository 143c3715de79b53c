import { countedBy } from '../../core/rank/candidate-usages.js';
import { amountOf } from '../../core/quantity/amount.js';
import type { Effect } from '../../core/decide/effect.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { comparisonText } from '../../core/message/message.js';
import { hasFailed } from '../../core/reclaim/reclaim.js';
import { readingOf } from '../../journal/records/reading-record.js';
import type { JournalRecord } from '../../journal/records/record.js';
import type { EffectHandler } from './handler.js';
import type { JsonObject } from '../../core/name/json-text.js';

type Reclaim = Extract<Effect, { kind: 'reclaim' }>;
type Reclaimed = Extract<Effect, { kind: 'reclaimed' }>;

export const reclaim: EffectHandler<Reclaim> = {
  record: reclaimRecord,
  isRecordedFirst: true,
  perform: (effect, { reclaims, onReclaimed }) => {
    reclaims.begin(effect.reclaim, onReclaimed);
  },
  log: ({ reclaim: { threshold, collections } }) => ({ level: 'warn', fields: { signal: threshold.signal, collections } }),
};

export const reclaimed: EffectHandler<Reclaimed> = {
  record: reclaimRecord,
  log: ({ enough, errors, reclaim: { threshold } }) => ({
    level: enough && errors.length === 0 ? 'info' : 'warn',
    fields: { signal: threshold.signal },
  }),
  metric: (effect, metrics) => {
    for (const freed of effect.yields ?? []) metrics.reclaimed(freed.collection, freed, hasFailed(freed.collection, effect));
  },
};

export function reclaimRecord(effect: Reclaim | Reclaimed): JournalRecord {
  const { collections } = effect.reclaim;
  const result = effect.kind === 'reclaimed' ? { enough: effect.enough, errors: effect.errors, ...yieldsOf(effect) } : {};
  return { type: effect.kind, ...readingOf(effect.reclaim), collections, ...result, message: reclaimMessage(effect) };
}

/** 'reclaiming containers, images: nodefs.available 1.2GiB < 10% = 5GiB (hard)'. */
function reclaimMessage(effect: Reclaim | Reclaimed): string {
  const { threshold, collections } = effect.reclaim;
  const what = collections.join(', ');
  if (effect.kind === 'reclaim') return `reclaiming ${what}: ${comparisonText(effect.reclaim)}`;
  const failed = effect.errors.length === 0 ? '' : `; ${effect.errors.join('; ')}`;
  const enough = effect.enough ? 'was enough, so no workload is evicted' : 'was not enough';
  const freed = effect.yields?.map((step) => `${step.collection} ${amountOf(threshold.signal, countedBy(threshold.signal, step))}`);
  return `reclaiming ${what} for ${threshold.signal} ${enough}${freed ? ` (${freed.join(', ')})` : ''}${failed}`;
}

function yieldsOf({ yields }: Reclaimed): JsonObject {
  if (yields === undefined) return {};
  return {
    yields: yields.map(({ collection, bytes, inodes }) => ({
      collection,
      freedBytes: jsonInteger(bytes),
      freedInodes: jsonInteger(inodes),
    })),
  };
}
