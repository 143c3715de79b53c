import { join } from 'node:path';
import type { Config } from '../config/config.js';
import type { Policy } from '../core/decide/state.js';
import { victimName } from '../core/workload/process.js';
import { UnavailableError, asError } from '../errors.js';
import { selectHost } from '../host/select.js';
import type { Log } from '../log/log.js';
import { restoreState, NOTHING_RESTORED, type RestoredState, type StateOwner } from '../state/saved-state.js';
import type { Journal } from '../journal/journal.js';
import type { FoundOrder } from '../journal/order-file.js';
import type { Decision } from '../core/decide/eviction.js';
import { foundDecision } from '../monitor/standing-orders.js';
import type { NodeIdentity } from '../monitor/ports/ports.js';
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

/** The state of the evictd before, and the file that keeps it up to date. */
export interface SavedStateAccess {
  readonly restored: RestoredState;
  readonly keeper: StateKeeper;
  /** An evictd before has saved it in this boot. */
  readonly isOfThisBoot: boolean;
  /** Records the outcome of decisions that are no longer in the state. To be called after the record of the start. */
  settle(): void;
  /**
   * The decision of a standing order that an evictd before did not live to see; undefined: there is none, or it does not
   * continue.
   */
  orderedBefore(found: FoundOrder | undefined): Decision | undefined;
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
  const restored = withoutRecorded(saved, journal.earlier);
  const continued = new Set(restored.state.evictions.map(({ decision: { serial } }) => serial));
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
    orderedBefore: (found) => {
      if (found === undefined) return undefined;
      const now = { monotonicNs: process.hrtime.bigint(), bootNs: native.bootTimeNs() };
      const { state, abandoned } = restoreState(found.state, owner, policy, now);
      const [eviction] = state.evictions;
      if (eviction === undefined || abandoned.size > 0 || state.decisions <= saved.state.decisions) return undefined;
      continued.add(state.decisions);
      return foundDecision(eviction.decision, found);
    },
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
  const now = { monotonicNs: process.hrtime.bigint(), bootNs: native.bootTimeNs() };
  const nothing = torn === 0 ? NOTHING_RESTORED : { ...NOTHING_RESTORED, discarded: 'it was cut off' };
  const restored = text === undefined ? nothing : restoreState(text, owner, policy, now);
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

/**
 * Without the evictions whose outcome is in the journal already. Serial numbers continue after the last one in the
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
