import { join } from 'node:path';
import type { Config } from '../config/config.js';
import type { Policy } from '../core/state.js';
import { UnavailableError } from '../errors.js';
import { selectHost } from '../host/select.js';
import type { Log } from '../log.js';
import { restoreState, NOTHING_RESTORED, type RestoredState, type StateOwner } from '../monitor/inheritance.js';
import type { Journal } from '../monitor/journal.js';
import type { NodeIdentity } from '../monitor/ports.js';
import { unfinishedRecord } from '../monitor/record.js';
import { StateFile } from '../monitor/state-file.js';
import { StateKeeper } from '../monitor/state-keeper.js';
import { native } from '../native/index.js';

export function stateFilePath(runtimeDirectory: string, instance: string): string {
  return join(runtimeDirectory, `${instance}.state`);
}

export interface TakeoverParts {
  readonly node: Pick<NodeIdentity, 'name' | 'cgroupId'>;
  /** Tells this node's files apart from another's in the runtime directory. */
  readonly instance: string;
  readonly policy: Policy;
  readonly journal: Pick<Journal, 'earlier' | 'record'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** What the evictd before has left, and where this one writes down what it leaves. */
export interface TakenOver {
  readonly inheritance: RestoredState;
  readonly keeper: StateKeeper;
  /** Gives the decisions that are not in it any more their outcome. After the record of the start. */
  settle(): void;
  /** Makes the file for which there was no room, where there is now: for when nothing is waiting. Never throws. */
  retry(): void;
  close(): void;
}

/** Throws UnavailableError where the runtime directory cannot be used. Without room there nothing is kept, which is said. */
export function takeOverState({ runtimeDirectory }: Pick<Config, 'runtimeDirectory'>, parts: TakeoverParts): TakenOver {
  const { node, instance, policy, journal, log } = parts;
  const owner = { node: node.name, cgroupId: String(node.cgroupId ?? ''), bootId: selectHost().readBootId() };
  const file = openStateFile(stateFilePath(runtimeDirectory, instance));
  const left = inheritedFrom(file, owner, policy, log);
  const inheritance = withoutTold(left, journal.earlier);
  const onError = ({ message }: Error): void => {
    log.warn(`what an evictd that is started again goes on with cannot be written: ${message}; it is tried again with every change`, {
      code: 'EVICTD_STATE_WRITE',
    });
  };
  const keeper = new StateKeeper({ file, owner, bootNs: () => native.bootTimeNs(), sections: inheritance.sections, onError });
  return {
    inheritance,
    keeper,
    settle: () => {
      const inFlight = new Set(inheritance.state.evictions.map(({ decision: { serial } }) => serial));
      for (const [serial, decision] of journal.earlier.unfinished) {
        if (inFlight.has(serial)) continue;
        const isStateOlder = file.found.text !== undefined && left.discarded === undefined && left.state.decisions < serial;
        const record = unfinishedRecord(decision, isStateOlder);
        journal.record(record);
        log.warn(record.message, { decision: serial });
      }
    },
    retry: () => {
      try {
        file.retry();
      } catch (error) {
        onError(error instanceof Error ? error : new Error(String(error)));
      }
    },
    close: () => {
      file.close();
    },
  };
}

function inheritedFrom({ found: { text, torn } }: StateFile, owner: StateOwner, policy: Policy, log: TakeoverParts['log']): RestoredState {
  const now = { monotonicNs: process.hrtime.bigint(), bootNs: native.bootTimeNs() };
  const nothing = torn === 0 ? undefined : 'it was cut off';
  const inheritance = text === undefined ? { ...NOTHING_RESTORED, discarded: nothing } : restoreState(text, owner, policy, now);
  const { discarded, state } = inheritance;
  if (discarded !== undefined) {
    log.warn(`the state that an evictd before has left is discarded: ${discarded}`, { code: 'EVICTD_STATE_DISCARDED' });
  } else if (torn > 0) {
    log.info('the last change of the state that an evictd before has left was cut off: the state before it is taken over');
  }
  for (const { decision, phase } of state.evictions) {
    log.warn(`going on with the eviction of ${decision.victim.workload.name}, which is ${phase}`, { decision: decision.serial });
  }
  return inheritance;
}

/** Whose outcome stands in the journal already is not told a second time, and decisions are numbered on. */
function withoutTold(inheritance: RestoredState, { over, last }: Journal['earlier']): RestoredState {
  const { state } = inheritance;
  const evictions = state.evictions.filter(({ decision: { serial } }) => !over.has(serial));
  if (evictions.length === state.evictions.length && last <= state.decisions) return inheritance;
  return { ...inheritance, state: { ...state, evictions, decisions: Math.max(state.decisions, last) } };
}

function openStateFile(path: string): StateFile {
  try {
    return new StateFile(path);
  } catch (cause) {
    const hint =
      'a file cannot be made or written there: see what stands in its place, or set runtimeDirectory to another directory on tmpfs';
    throw new UnavailableError('EVICTD_STATE_OPEN', `no state can be kept in ${path}: ${String(cause)}`, { hint, cause });
  }
}
