import type { PolicyPort } from '../ports/policy-port.js';
import type { ProcessRecords } from '../ports/process-records.js';
import type { Wake } from '../ports/ports.js';
import type { JournalRecord } from '../../journal/records/record.js';
import type { Reclaims } from '../reclaims.js';
import type { Releases } from '../unit-releases.js';
import type { EffectReport } from './report.js';
import type { Reporter } from '../reporter.js';
import type { EvictionTimes, PassTimes } from '../ports/sent-signals.js';
import type { Victims } from '../victims.js';

export interface Actors {
  readonly victims: Victims;
  readonly reclaims: Reclaims;
  /** undefined: there is no systemd, so no unit is kept stopped. */
  readonly releases: Releases | undefined;
  readonly reporter: Reporter;
  /** undefined: there are no policies. */
  readonly policies: Pick<PolicyPort, 'perform'> | undefined;
  readonly onReclaimed: () => void;
  /** Left out: processes cannot be read here. */
  readonly processes?: ProcessRecords | undefined;
}

/** What a record says beside the effect itself. */
export interface RecordContext {
  readonly wake: Wake;
  /** The times of an eviction, by serial of the decision; undefined: not known. */
  readonly timesOf: (serial: number) => EvictionTimes | undefined;
  /** As in Actors. */
  readonly processes?: Pick<ProcessRecords, 'decided' | 'ended'> | undefined;
}

/** What evictd does with one kind of effect. What is left out is not done. */
export interface EffectHandler<E> extends EffectReport<E> {
  readonly record?: (effect: E, context: RecordContext) => JournalRecord;
  /**
   * The record is written before any effect of the step is performed, so that it survives a kill in between. Left out:
   * after all are performed.
   */
  readonly isRecordedFirst?: true;
  /** More records, written one by one when nothing else is due: they may be long. */
  readonly recordLater?: (effect: E) => Iterable<JournalRecord>;
  /** Performing it sends a signal: the state is saved before. */
  readonly isSignal?: (effect: E) => boolean;
  readonly perform?: (effect: E, actors: Actors, wake: Wake, times: PassTimes) => void;
  /** Called when all effects of the step are performed. */
  readonly followUp?: (effect: E, actors: Actors) => void;
}

export interface AnyEffect {
  readonly kind: string;
}

/** A handler for each kind: the compiler finds the one that is missing. */
export type EffectTable<E extends AnyEffect> = { readonly [K in E['kind']]: EffectHandler<Extract<E, { kind: K }>> };
