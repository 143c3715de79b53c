import type { Effect } from '../../core/decide/effect.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { alertMessage } from '../../core/message/message.js';
import { holdersOf, readingOf } from '../../journal/records/reading-record.js';
import type { JournalRecord } from '../../journal/records/record.js';
import { victimOf } from '../../journal/records/ranking-row.js';
import { stormOf } from '../../journal/records/node-records.js';
import type { EffectHandler } from './handler.js';
import type { JsonObject } from '../../core/name/json-text.js';

type Alert = Extract<Effect, { kind: 'alert' }>;

export const alert: EffectHandler<Alert> = {
  record: alertRecord,
  log: ({ alert: kind, threshold: { signal } }) => ({ level: 'error', fields: { ...codeOf(kind), alert: kind, signal } }),
  metric: ({ alert: kind, threshold: { signal } }, metrics) => {
    metrics.alerted(kind, signal);
  },
};

/** evictd has stopped evicting, so that an operator looks it up. */
function codeOf(kind: Alert['alert']): JsonObject {
  if (kind === 'leak-elsewhere') return { code: 'EVICTD_LEAK_ELSEWHERE' };
  return kind === 'budget-exhausted' ? { code: 'EVICTD_BUDGET_EXHAUSTED' } : {};
}

/** What evictd would evict without the operator's pause. */
function pausedOf({ pause }: Alert): JsonObject {
  return pause === undefined ? {} : { pauseReason: pause.reason, wouldEvict: victimOf(pause.wouldEvict.victim) };
}

function budgetOf({ budget }: Alert): JsonObject {
  if (budget === undefined) return {};
  const { max, minPriority, windowNs, freeInNs } = budget;
  const seconds = (ns: bigint): number => Number(ns) / 1e9;
  return {
    budget: {
      max,
      ...(minPriority === undefined ? {} : { minPriority }),
      windowSeconds: seconds(windowNs),
      ...(freeInNs === undefined ? {} : { freeInSeconds: seconds(freeInNs) }),
    },
  };
}

function leakOf({ leak }: Alert): JsonObject {
  if (leak === undefined) return {};
  const { grower, grownBytes, freedBytes } = leak;
  const what = grower === undefined ? { kind: 'outside' } : { kind: 'workload', name: grower.workload.name, path: grower.workload.path };
  return { grower: { ...what, grownBytes: jsonInteger(grownBytes) }, freedBytes: jsonInteger(freedBytes) };
}

function growersOf({ growth }: Alert): JsonObject {
  if (growth === undefined) return {};
  const unread = growth.unread === undefined ? {} : { cgroupsNotRead: growth.unread };
  if (growth.growers.length === 0) return unread;
  const growers = growth.growers.map(({ grownBytes, ...grower }) => ({ ...grower, grownBytes: jsonInteger(grownBytes) }));
  return { growers, grownForSeconds: Number(growth.forNs) / 1e9, ...unread };
}

function swapOf({ swap }: Alert): JsonObject {
  if (swap === undefined) return {};
  const swapHolders = swap.workloads.map(({ swapBytes, ...workload }) => ({ ...workload, swapBytes: jsonInteger(swapBytes) }));
  return { swapHolders, swapOutsideBytes: jsonInteger(swap.otherBytes) };
}

export function alertRecord(effect: Alert): JournalRecord {
  return {
    type: 'alert',
    alert: effect.alert,
    ...readingOf(effect),
    ...stormOf(effect.decision),
    ...holdersOf(effect),
    ...pausedOf(effect),
    ...budgetOf(effect),
    ...leakOf(effect),
    ...growersOf(effect),
    ...swapOf(effect),
    message: alertMessage(effect),
  };
}
