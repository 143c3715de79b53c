import type { Journal } from '../../journal/journal.js';
import type { Wake } from '../ports/ports.js';
import type { PassTimes } from '../ports/sent-signals.js';
import type { JournalRecord } from '../../journal/records/record.js';
import type { Reporter } from '../reporter.js';
import type { Actors, AnyEffect, EffectHandler, EffectTable, RecordContext } from './handler.js';

export interface EffectPorts {
  readonly journal: Pick<Journal, 'record' | 'recordLater'>;
  readonly reporter: Pick<Reporter, 'effect'>;
  readonly actors: Actors;
  /** Called before the first signal is sent. */
  readonly saveState: () => void;
  /** Called when all effects are performed, before the records, log lines and metrics that can wait. */
  readonly performed: () => void;
}

/**
 * Carries out the effects of one step. The order survives a kill at any point: records that explain a signal, the saved
 * state, the signals, everything else.
 */
export function runEffects<E extends AnyEffect>(
  table: EffectTable<E>,
  effects: readonly E[],
  wake: Wake,
  times: PassTimes,
  ports: EffectPorts,
): void {
  const { journal, reporter, actors, saveState, performed } = ports;
  const context: RecordContext = { wake, timesOf: (serial) => actors.victims.timesOf(serial), processes: actors.processes };
  const first = recordsOf(table, effects, context, true);
  for (const record of first.values()) journal.record(record);
  const recorded = { ...times, recordedNs: process.hrtime.bigint() };
  if (sendsSignal(table, effects)) saveState();
  for (const effect of effects) handlerOf(table, effect).perform?.(effect, actors, wake, recorded);
  performed();
  for (const effect of effects) handlerOf(table, effect).followUp?.(effect, actors);
  const last = recordsOf(table, effects, context, false);
  for (const effect of effects) {
    const record = last.get(effect);
    if (record) journal.record(record);
    const { recordLater } = handlerOf(table, effect);
    if (recordLater) journal.recordLater(recordLater(effect));
    reporter.effect(handlerOf(table, effect), effect, record ?? first.get(effect));
  }
}

export function sendsSignal<E extends AnyEffect>(table: EffectTable<E>, effects: readonly E[]): boolean {
  return effects.some((effect) => handlerOf(table, effect).isSignal?.(effect));
}

/** The journal records of one step's effects, in the order in which they are written. */
export function journalRecords<E extends AnyEffect>(
  table: EffectTable<E>,
  effects: readonly E[],
  context: RecordContext,
): readonly JournalRecord[] {
  const [first, last] = [true, false].map((isFirst) => [...recordsOf(table, effects, context, isFirst).values()]);
  const later = effects.flatMap((effect) => [...(handlerOf(table, effect).recordLater?.(effect) ?? [])]);
  return [...(first ?? []), ...(last ?? []), ...later];
}

function recordsOf<E extends AnyEffect>(
  table: EffectTable<E>,
  effects: readonly E[],
  context: RecordContext,
  isFirst: boolean,
): ReadonlyMap<E, JournalRecord> {
  return new Map(
    effects.flatMap((effect) => {
      const { record, isRecordedFirst = false } = handlerOf(table, effect);
      return record !== undefined && isRecordedFirst === isFirst ? [[effect, record(effect, context)] as const] : [];
    }),
  );
}

function handlerOf<E extends AnyEffect>(table: EffectTable<E>, effect: E): EffectHandler<E> {
  return table[effect.kind as E['kind']] as unknown as EffectHandler<E>;
}
