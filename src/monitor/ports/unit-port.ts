import type { SystemdAnswer } from '../../core/decide/eviction.js';
import type { LoadedUnit } from '../../core/systemd/loaded-unit.js';
import type { SourceProblem } from './source-problem.js';

/** A job as `systemctl --no-block` requests it: start or stop, replacing a conflicting job. */
export interface UnitJob {
  readonly type: 'start' | 'stop';
  readonly unit: string;
}
/** systemd's system manager, by a connection that is kept open. No method waits or throws. */
export interface UnitManager {
  /** Whether a request can be sent now. Without a connection, begins to connect, with increasing pauses. */
  connect(): boolean;
  /**
   * The last state of a unit; undefined: not asked yet, or not loaded. Without a connection the last known state stays.
   * Followed units, and units that stop with them or trigger them, are read again when systemd signals a change. What
   * was requested since `sureSinceNs` is not `unsure`.
   */
  unit(name: string, sureSinceNs?: bigint): LoadedUnit | undefined;
  /**
   * Sets the units that this owner follows. Units that no owner follows are forgotten. Requests those that are not known, a
   * few at a time so that systemd is not busy with it: some hundred are known after some seconds. To be called at ticks.
   *
   * @param owner  left out: there is only one
   */
  follow(names: Iterable<string>, owner?: object): void;
  /** This owner follows no units any more. They are forgotten at the next `follow`, unless its owner follows them, too. */
  unfollow(owner: object): void;
  /**
   * Whether the answer that decides about this unit is still outstanding: everything, or, where the unit is `unsure`,
   * what depends on it now. Requests it where it was not requested. false where it is known, where there is no such
   * unit, and where systemd has had its time (250 ms, or `withinNs`). An answer to this request is sure for 250 ms,
   * unless a new unit is found to name this one; an answer to a request since `sureSinceNs` is sure for good, because
   * the request itself makes systemd load a unit. With `sureSinceNs` a change since the last reading is awaited, too,
   * and the time of systemd begins then, also without a connection.
   */
  awaited(name: string, withinNs?: bigint, sureSinceNs?: bigint): boolean;
  /** Calls back in a few milliseconds, when what is `awaited` may be known. */
  lookAgain(callback: () => void): void;
  /**
   * Requests jobs, in this order. The returned function has the answer when all are answered, and undefined before;
   * where the connection is lost meanwhile, it is unknown whether systemd does them. undefined: there is no connection,
   * and nothing was requested.
   */
  request(jobs: readonly UnitJob[], onAnswer?: (answer: SystemdAnswer) => void): (() => SystemdAnswer | undefined) | undefined;
  /** Follows these units beside those of `follow`. */
  watch(names: Iterable<string>): void;
  /**
   * Why there is no connection though systemd is this machine's init; undefined: there is one, or there can be none.
   */
  problem(): SourceProblem | undefined;
  close(): void;
}
