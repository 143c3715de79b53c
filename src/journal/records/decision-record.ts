import { knownBytes, type Decision } from '../../core/decide/eviction.js';
import { swapToFree } from '../../core/rank/eviction-cause.js';
import { evictionSignal } from '../../core/message/eviction-signal.js';
import { decisionMessage } from '../../core/message/message.js';
import type { VictimProcesses } from '../../core/oom/victim-process.js';
import { percentOf } from '../../core/quantity/amount.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { quantityValue } from '../../core/quantity/quantity.js';
import { isPressure } from '../../core/signal/signal.js';
import type { ThresholdCause } from '../../core/threshold/threshold-cause.js';
import { victimName } from '../../core/workload/process.js';
import type { Wake } from '../../monitor/ports/ports.js';
import { actionOf, unitOf } from './node-records.js';
import { rankingRow, victimOf } from './ranking-row.js';
import { holdersOf, readingOf } from './reading-record.js';
import type { JournalRecord } from './record.js';
import type { Json, JsonObject } from '../../core/name/json-text.js';

/** Workloads in the decision itself: the victim, at most so many before it in the order of eviction, and some after it. */
const NEIGHBOURS = 8;
const BEFORE = 3;
/** Bytes of JSON that a list in the decision may have: a path alone may have 4 KiB. All of it stays below 64 KiB. */
const RANKING_BYTES = 16 * 1024;
const LIST_BYTES = 4 * 1024;
/** Rows of a `ranking` record: one takes about a millisecond to write. */
const ROWS = 64;

/** The lists of a decision that its record may cut. */
interface Lists {
  readonly ranking: readonly Json[];
  readonly unreadable: readonly Json[];
  readonly unit: JsonObject;
  readonly holders: JsonObject;
}

/**
 * The decision without what can wait until the signal is sent: at most 64 KiB, whatever the number of workloads. `counts`
 * says how long its lists are; {@link rankingRecords} has all of them.
 */
export function decisionRecord(decision: Decision, wake: Wake, processes?: VictimProcesses): JournalRecord {
  const { victim, graceNs, ranking, unreadable } = decision;
  const expectedBytes = swapToFree(decision) ?? knownBytes(victim);
  const { ranking: rows, unreadable: some, unit, holders } = shortLists(decision);
  return {
    type: 'decision',
    decision: decision.serial,
    dryRun: decision.dryRun,
    ...(decision.repeats && { repeats: true }),
    ...causeOf(decision),
    wake: wake.source,
    wakeAtNs: jsonInteger(wake.atNs),
    ...(wake.counters === undefined ? {} : { wakeCounters: wake.counters }),
    victim: victimOf(victim),
    action: actionOf(decision),
    graceSeconds: Number(graceNs) / 1e9,
    ...orderOf(decision),
    ...unit,
    ...(decision.violates && { violates: decision.violates }),
    ...(expectedBytes === undefined ? {} : { expectedBytes: jsonInteger(expectedBytes) }),
    ...(processes && { ...processes, processes: processes.processes.map((process) => ({ ...process })) }),
    counts: { ranking: ranking.length, unreadable: unreadable.length },
    ranking: rows,
    unreadable: some,
    ...holders,
    message: decisionMessage(decision),
  };
}

/** The lists of a decision in full, in parts, for after the signal; none where its record has them in full. */
export function* rankingRecords(decision: Decision): Generator<JournalRecord, void> {
  const { serial, victim, resource, decidedAtNs, ranking, unreadable } = decision;
  const short = shortLists(decision);
  const cut = {
    ...(isCut(short.unit, unitOf(decision)) && unitOf(decision)),
    ...(isCut(short.holders, holdersOf(decision)) && holdersOf(decision)),
    ...(short.unreadable.length < unreadable.length && { unreadable: unreadable.map((workload) => ({ ...workload })) }),
  };
  if (short.ranking.length === ranking.length && Object.keys(cut).length === 0) return;
  const parts = Math.ceil(ranking.length / ROWS);
  for (let part = 1; part <= parts; part += 1) {
    const rows = ranking.slice((part - 1) * ROWS, part * ROWS);
    yield {
      type: 'ranking',
      decision: serial,
      part,
      parts,
      victim: victimOf(victim),
      ...(part === 1 ? cut : {}),
      ranking: rows.map((ranked) => rankingRow(ranked, resource, decidedAtNs)),
      message: `candidates of the eviction of ${victimName(victim)}, part ${String(part)} of ${String(parts)}`,
    };
  }
}

function shortLists(decision: Decision): Lists {
  const { ranking, unreadable, victim, resource, decidedAtNs } = decision;
  const from = Math.max(0, Math.min(victim.place - 1 - BEFORE, ranking.length - NEIGHBOURS));
  const others = ranking.slice(from, from + NEIGHBOURS).filter(({ place }) => place !== victim.place);
  // The victim first: it is never cut.
  const nearest = [victim, ...others].map((ranked) => rankingRow(ranked, resource, decidedAtNs));
  const rows = within(nearest, RANKING_BYTES).sort((a, b) => Number(a.place) - Number(b.place));
  return {
    ranking: rows,
    unreadable: within(
      unreadable.map((workload) => ({ ...workload })),
      LIST_BYTES,
    ),
    unit: shortened(unitOf(decision)),
    holders: shortened(holdersOf(decision)),
  };
}

/** Cuts each list in an object, and in the objects in it, to LIST_BYTES. */
function shortened(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]): [string, Json] => {
      if (Array.isArray(value)) return [key, within(value, LIST_BYTES)];
      return [key, typeof value === 'object' && value !== null ? shortened(value as JsonObject) : value];
    }),
  );
}

function isCut(short: object, whole: object): boolean {
  return JSON.stringify(short).length < JSON.stringify(whole).length;
}

/** The first ones whose JSON fits, at least one. */
function within<T>(list: readonly T[], bytes: number): T[] {
  let left = bytes;
  const end = list.findIndex((item, index) => (left -= Buffer.byteLength(JSON.stringify(item))) < 0 && index > 0);
  return end === -1 ? [...list] : list.slice(0, end);
}

function orderOf({ standingOrder }: Decision): JsonObject {
  if (standingOrder === undefined) return {};
  const { preparedAtNs, signalledAtNs } = standingOrder;
  return { standingOrder: { preparedSecondsBefore: Number((signalledAtNs - preparedAtNs) / 1_000_000n) / 1e3 } };
}

function causeOf(decision: Decision): JsonObject {
  const { cause } = decision;
  switch (cause.kind) {
    case 'threshold':
      return { ...readingOf(cause), ...limitOf(cause) };
    case 'storage-limit': {
      const { limit, ...which } = cause.breach;
      return {
        signal: evictionSignal(decision),
        kind: 'storage-limit',
        storageLimit: { ...which, limit: limit.text, limitBytes: jsonInteger(quantityValue(limit)) },
      };
    }
    case 'policy': {
      const { policy: name, scope, condition, values, memory } = cause;
      return {
        signal: evictionSignal(decision),
        kind: 'policy',
        policy: { name, scope, condition, values },
        ...(memory && { available: jsonInteger(memory.available), capacity: jsonInteger(memory.capacity) }),
      };
    }
    case 'disruption': {
      const { reason, message, by } = cause;
      return { signal: evictionSignal(decision), kind: 'disruption', disruption: { reason, message, ...(by !== undefined && { by }) } };
    }
  }
}

function limitOf({ threshold: { signal }, limit }: ThresholdCause): JsonObject {
  return isPressure(signal) ? { limitPercent: percentOf(limit) } : { limit: jsonInteger(limit) };
}
