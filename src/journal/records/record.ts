import { taintText } from '../../core/disruption/taint.js';
import type { Decision } from '../../core/decide/eviction.js';
import type { Hold } from '../../core/systemd/unit-hold.js';
import type { State } from '../../core/decide/state.js';
import { whenText } from '../../core/threshold/threshold.js';
import { notStartedText } from '../../core/message/unit-message.js';
import type { NotStarted } from '../../core/systemd/unit-start.js';
import { victimName, type NamedProcess } from '../../core/workload/process.js';
import { victimOf } from './ranking-row.js';
import { jsonText, type JsonObject } from '../../core/name/json-text.js';

/** A record of the journal (docs/journal.md). Integers are numbers up to 2^53, and decimal strings beyond that. */
export type JournalRecord = JsonObject & { readonly type: string; readonly message: string };

export function journalLine({ type, ...rest }: JournalRecord, of: { readonly node: unknown; readonly dryRun: unknown }): string {
  const { node, dryRun } = of;
  return jsonText({ time: new Date().toISOString(), type, node, dryRun, ...rest });
}

/** The line before this record was cut off. */
export function tornRecord(bytes: number): JournalRecord {
  return { type: 'torn', bytes, message: `the line before this one was cut off after ${String(bytes)} bytes` };
}

export interface StartFacts {
  readonly version: string;
  readonly dryRun: boolean;
  /** Records of the run before that were not in the state directory yet. */
  readonly recovered: number;
  /** How many runs in a row crashed, the last one included; 0: the last run was stopped. */
  readonly crashes: number;
  readonly state: Pick<State, 'reported' | 'conditions' | 'evictions' | 'pauses' | 'taints'>;
  /** Why the saved state was not used; undefined: it was, or there was none. */
  readonly discarded: string | undefined;
  /** The file of `--record`. Left out: none. */
  readonly recording?: string | undefined;
}

export function startRecord({ version, dryRun, recovered, crashes, state, discarded, recording }: StartFacts): JournalRecord {
  const kept = recovered === 0 ? '' : `; ${String(recovered)} records of the last run were still in the runtime directory`;
  const crashed = crashes === 0 ? '' : `; the last run crashed${crashes === 1 ? '' : `, as did the ${String(crashes - 1)} before it`}`;
  const evictions = state.evictions.map(({ decision, phase }) => ({ decision: decision.serial, victim: victimOf(decision.victim), phase }));
  const thresholds = [...state.reported.values()].map(({ threshold }) => whenText(threshold));
  const { conditions } = state;
  const pauses = [...state.pauses.values()].map(({ workload, reason }) => ({ ...(workload && { workload: { ...workload } }), reason }));
  const taints = state.taints.map(taintText);
  const resumed = { thresholds, conditions, evictions, ...(pauses.length > 0 && { pauses }), ...(taints.length > 0 && { taints }) };
  const names = [
    ...thresholds,
    ...conditions,
    ...state.evictions.map(({ decision: { victim } }) => `the eviction of ${victimName(victim)}`),
    ...pauses.map(({ workload, reason }) => `the pause of evictions${workload ? ` of ${workload.name}` : ''} (${reason})`),
    ...taints.map((taint) => `the taint ${taint}`),
  ];
  const continued = names.length === 0 ? '' : `; it continues ${names.join(', ')}`;
  const lost = discarded === undefined ? '' : `; the saved state was discarded: ${discarded}`;
  return {
    type: 'start',
    version,
    recovered,
    ...(crashes === 0 ? {} : { crashes }),
    ...(names.length === 0 ? {} : { resumed }),
    ...(discarded === undefined ? {} : { discarded }),
    ...(recording === undefined ? {} : { recording }),
    message: `evictd ${version} starts${dryRun ? ' a dry run' : ''}${crashed}${kept}${continued}${lost}`,
  };
}

/** Why the outcome of a decision is not known, and the result that its record has. */
const UNFINISHED = {
  /** The saved state is older than the decision. */
  'not saved': ['abandoned', 'evictd ended directly after the decision: no signal was sent, unless the state could not be saved'],
  'evictd ended': ['abandoned', 'evictd ended during the eviction, and its result is not known'],
  'another boot': ['lost', 'the machine went down before it was over'],
} as const;

/** The outcome of a decision of which only the record is left. */
export function unfinishedRecord(record: JsonObject, why: keyof typeof UNFINISHED): JournalRecord {
  const { decision, signal, victim, expectedBytes } = record;
  const { process, ...workload } = victim as { readonly name: string; readonly id: string; readonly process?: NamedProcess };
  const name = victimName({ workload, ...(process && { process }) });
  const [result, reason] = UNFINISHED[why];
  return {
    type: 'outcome',
    decision,
    result,
    signal,
    victim,
    ...(expectedBytes === undefined ? {} : { expectedBytes }),
    freedBytes: 0,
    ...(result === 'abandoned' && { abandoned: reason }),
    message: `eviction of ${name} ${result}: ${reason}`,
  };
}

/**
 * A standing order sent no signal.
 *
 * @param decision  undefined: the order was out of date
 */
export function orderFailedRecord(
  outcome: 'refused' | 'outdated',
  decision: Decision | undefined,
  error: string | undefined,
): JournalRecord {
  const message =
    decision === undefined
      ? 'standing order: out of date, because one of its workloads has ended or changed, or another has grown; it killed none, and evictd decides anew'
      : `standing order: cannot kill ${decision.victim.workload.name}: ${error ?? 'unknown'}; evictd decides anew`;
  return {
    type: 'standing-order',
    result: outcome,
    ...(decision && { victim: victimOf(decision.victim) }),
    ...(error === undefined ? {} : { error }),
    message,
  };
}

export function stopRecord(): JournalRecord {
  return { type: 'stop', message: 'evictd stops' };
}

export function reloadRecord(message: string): JournalRecord {
  return { type: 'reload', message };
}

/**
 * A reload was refused.
 *
 * @param errors  a line each
 */
export function reloadRefusedRecord(errors: readonly string[]): JournalRecord {
  return { type: 'reload-refused', errors, message: 'the new configuration was refused; the former one stays in force' };
}

/** A unit that was kept stopped could not be started, or not with all that belong to it. */
export function notReleasedRecord({ decision, unit, start }: Hold, { reasons }: Pick<NotStarted, 'reasons'>): JournalRecord {
  return { type: 'release', decision, unit, start, errors: reasons, message: notStartedText(unit, { reasons }) };
}
