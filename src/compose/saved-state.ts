import { join } from 'node:path';
import type { Config } from '../config/config.js';
import type { Policy } from '../core/decide/state.js';
import { victimName } from '../core/workload/process.js';
import { UnavailableError, asError } from '../errors.js';
import { selectHost } from '../host/select.js';
import type { Log } from '../log/log.js';
import { restoreState, NOTHING_RESTORED, type Clocks, type RestoredState, type StateOwner } from '../state/saved-state.js';
import type { Journal } from '../journal/journal.js';
import { orderFilePath, orderIn, type FoundOrder } from '../journal/order-file.js';
import type { Decision } from '../core/decide/eviction.js';
import { foundDecision } from '../core/decide/standing-order.js';
import type { NodeIdentity } from '../monitor/ports/ports.js';
import { orderedSignals } from '../monitor/ports/sent-signals.js';
import { unfinishedRecord } from '../journal/records/record.js';
import { StateFile } from '../state/state-file.js';
import { StateKeeper } from '../state/state-keeper.js';
import { native } from '../native/index.js';

export function stateFilePath(runtimeDirectory: string, instance: string): string {
  return join(runtimeDirectory, `${instance}.state`);
}

export interface SavedStateParts {
  readonly node: Pick<NodeIdentity, 'name' | 'cgroupId'>;
  /** Distinguishes the files of this node in the runtime directory. */
  readonly instance: string;
  readonly policy: Policy;
  readonly journal: Pick<Journal, 'earlier' | 'record'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** The state of the previous evictd, and the file that keeps it up to date. */
export interface SavedStateAccess {
  readonly restored: RestoredState;
  readonly keeper: StateKeeper;
  /** A previous evictd has saved it in this boot. */
  readonly isOfThisBoot: boolean;
  /** Records the outcome of decisions that are no longer in the state. To be called after the record of the start. */
  settle(): void;
  /**
   * The decision of a standing order that was carried out as the previous evictd ended, and that continues; undefined: there
   * is none. One that was found too late to continue is in `restored`, with the evictions that are abandoned.
   */
  readonly ordered: Decision | undefined;
  /** Creates the file if there was no space for it before. Never throws. */
  retry(): void;
  close(): void;
}

/**
 * Throws UnavailableError if the runtime directory cannot be used. Without space there the state is not saved, with a
 * warning.
 */
export function openSavedState({ runtimeDirectory }: Pick<Config, 'runtimeDirectory'>, parts: SavedStateParts): SavedStateAccess {
  const { node, instance, policy, journal, log } = parts;
  const owner = { node: node.name, cgroupId: String(node.cgroupId ?? ''), bootId: selectHost().readBootId() };
  const file = openStateFile(stateFilePath(runtimeDirectory, instance));
  const saved = restoredFrom(file, owner, policy, log);
  const order = orderedBefore(orderFilePath(runtimeDirectory, instance), saved.state.decisions, (text) =>
    restoreState(text, owner, policy, clocks()),
  );
  const isLate = order !== undefined && order.abandoned.size > 0;
  const restored = withoutRecorded(isLate ? withOrder(saved, order) : saved, journal.earlier);
  const ordered = isLate ? undefined : order?.state.evictions[0]?.decision;
  const continued = new Set(restored.state.evictions.map(({ decision: { serial } }) => serial));
  if (ordered) continued.add(ordered.serial);
  const onError = ({ message }: Error): void => {
    log.warn(`cannot save the state for a restart: ${message}; evictd tries again at every change`, {
      code: 'EVICTD_STATE_WRITE',
    });
  };
  const onShortened = (unknown: readonly string[]): void => {
    const message = `not all of the state fits: after a restart evictd would not know ${unknown.join(', and ')}`;
    if (unknown.length === 0) log.info('all of the state fits again');
    else log.warn(message, { code: 'EVICTD_STATE_SHORTENED' });
  };
  const keeper = new StateKeeper({ file, owner, bootNs: () => native.bootTimeNs(), sections: restored.sections, onError, onShortened });
  return {
    restored,
    keeper,
    isOfThisBoot: file.found.text !== undefined && saved.discarded === undefined,
    settle: () => {
      for (const [serial, decision] of journal.earlier.unfinished) {
        if (continued.has(serial)) continue;
        const isStateOlder = file.found.text !== undefined && saved.discarded === undefined && saved.state.decisions < serial;
        const record = unfinishedRecord(decision, isStateOlder ? 'not saved' : 'evictd ended');
        journal.record(record);
        log.warn(record.message, { decision: serial });
      }
    },
    ordered,
    retry: () => {
      try {
        file.retry();
      } catch (error) {
        onError(asError(error));
      }
    },
    close: () => {
      file.close();
    },
  };
}

function restoredFrom({ found: { text, torn } }: StateFile, owner: StateOwner, policy: Policy, log: SavedStateParts['log']): RestoredState {
  const nothing = torn === 0 ? NOTHING_RESTORED : { ...NOTHING_RESTORED, discarded: 'it was cut off' };
  const restored = text === undefined ? nothing : restoreState(text, owner, policy, clocks());
  const { discarded, state } = restored;
  if (discarded !== undefined) {
    log.warn(`discarding the saved state: ${discarded}`, { code: 'EVICTD_STATE_DISCARDED' });
  } else if (torn > 0) {
    log.info('the last change of the saved state was cut off: restoring the state before it');
  }
  for (const { decision, phase } of state.evictions) {
    log.warn(`continuing the eviction of ${victimName(decision.victim)} (${phase})`, { decision: decision.serial });
  }
  return restored;
}

function clocks(): Clocks {
  return { monotonicNs: process.hrtime.bigint(), bootNs: native.bootTimeNs() };
}

/** The eviction of the order that was carried out last; undefined: there is none, or the saved state knows it. */
function orderedBefore(path: string, decisions: number, stateIn: (text: string) => RestoredState): RestoredState | undefined {
  const found = foundOrder(path);
  if (found === undefined) return undefined;
  const { state, ...rest } = stateIn(found.state);
  const [eviction] = state.evictions;
  if (eviction === undefined || state.decisions <= decisions) return undefined;
  const { serial } = eviction.decision;
  return {
    ...rest,
    state: { ...state, evictions: [{ ...eviction, decision: foundDecision(eviction.decision, found) }] },
    signals: new Map([[serial, orderedSignals(found.crossedAtNs, found.decidedAtNs)]]),
  };
}

function foundOrder(path: string): FoundOrder | undefined {
  try {
    return orderIn(path);
  } catch {
    return undefined; // the standing orders cannot open it either, and say so
  }
}

function withOrder(saved: RestoredState, { state, signals, abandoned }: RestoredState): RestoredState {
  return {
    ...saved,
    state: { ...saved.state, evictions: [...saved.state.evictions, ...state.evictions], decisions: state.decisions },
    signals: new Map([...saved.signals, ...signals]),
    abandoned: new Map([...saved.abandoned, ...abandoned]),
  };
}

/**
 * The saved state without the evictions whose outcome is in the journal already. Serial numbers continue after the last one in the
 * journal.
 */
function withoutRecorded(restored: RestoredState, { over, last }: Journal['earlier']): RestoredState {
  const { state } = restored;
  const evictions = state.evictions.filter(({ decision: { serial } }) => !over.has(serial));
  if (evictions.length === state.evictions.length && last <= state.decisions) return restored;
  return { ...restored, state: { ...state, evictions, decisions: Math.max(state.decisions, last) } };
}

function openStateFile(path: string): StateFile {
  try {
    return new StateFile(path);
  } catch (cause) {
    const hint = 'cannot create or write a file there: remove what is in its place, or set runtimeDirectory to another directory on tmpfs';
    throw new UnavailableError('EVICTD_STATE_OPEN', `cannot save the state in ${path}: ${String(cause)}`, { hint, cause });
  }
}
