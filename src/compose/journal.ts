import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { UnavailableError } from '../errors.js';
import type { Log } from '../log.js';
import { selectHost } from '../host/select.js';
import { Journal, type JournalOptions } from '../monitor/journal.js';
import { JournalFiles, type Allocate } from '../monitor/journal-files.js';
import { native } from '../native/index.js';

export interface JournalParts extends Pick<JournalOptions, 'node' | 'instance' | 'dryRun'> {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

export type JournalDirectories = Pick<Config, 'stateDirectory' | 'runtimeDirectory' | 'journal'>;

/** The one lock in the runtime directory that is not held by whoever guards a node. */
export const ROTATION_LOCK = 'rotation.lock';

/** Throws UnavailableError where the runtime directory cannot be used; without room there it is said, and evictd guards all the same. */
export function openJournal({ stateDirectory, runtimeDirectory, journal }: JournalDirectories, { log, ...of }: JournalParts): Journal {
  try {
    return new Journal({
      ...of,
      stateDirectory,
      runtimeDirectory,
      limits: journal,
      allocate,
      replacesOpen: selectHost().replacesOpenFiles,
      lock: () => lockOrNothing(rotationLockPath(runtimeDirectory)),
      onError: ({ message }) => {
        log.warn(`the journal cannot be written: ${message}; records are kept in ${runtimeDirectory} and tried again`, {
          code: 'EVICTD_JOURNAL_WRITE',
        });
      },
      onLost: (records) => {
        log.error(`${String(records)} journal records were lost: too many are waiting for ${stateDirectory}`, {
          code: 'EVICTD_JOURNAL_LOST',
        });
      },
      onUnreserved: ({ message }) => {
        log.warn(`no space is reserved for the journal in ${stateDirectory}: ${message}; a full disk may not take its records`, {
          code: 'EVICTD_JOURNAL_RESERVE',
        });
      },
      onRing: (problem) => {
        if (problem === undefined) log.info(`there is room for the journal in ${runtimeDirectory} now`);
        else {
          log.error(
            `no room for the journal in ${runtimeDirectory} (${problem.message}): records go to ${stateDirectory} only, and if evictd is killed, the last are lost; free 5 MiB there, it is tried again`,
            { code: 'EVICTD_JOURNAL_ROOM' },
          );
        }
      },
    });
  } catch (cause) {
    const hint =
      'a file cannot be made or written there: see what stands in its place, or set runtimeDirectory to another directory on tmpfs';
    throw new UnavailableError('EVICTD_JOURNAL_OPEN', `no journal in ${runtimeDirectory}: ${String(cause)}`, { hint, cause });
  }
}

/** The files in the state directory alone, for what an evictd has left. */
export function openJournalFiles({ stateDirectory, runtimeDirectory, journal }: JournalDirectories): JournalFiles {
  return new JournalFiles(
    stateDirectory,
    journal,
    allocate,
    () => lockOrNothing(rotationLockPath(runtimeDirectory)),
    selectHost().replacesOpenFiles,
  );
}

/** Where it is not to be had, nothing is reserved, and nothing is said of it: it is so on every machine of that system. */
const allocate: Allocate = (fd, offset, length) => selectHost().reserve?.(native, fd, offset, length) ?? Promise.resolve();

/** In the runtime directory, which always answers. */
function rotationLockPath(runtimeDirectory: string): string {
  return join(runtimeDirectory, ROTATION_LOCK);
}

/** Another evictd holds it, or it cannot be had now: the next write comes soon. */
function lockOrNothing(path: string): { close(): void } | undefined {
  try {
    return new native.FileLock(path);
  } catch {
    return undefined;
  }
}
