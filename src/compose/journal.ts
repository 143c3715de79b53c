import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { UnavailableError } from '../errors.js';
import type { Log } from '../log/log.js';
import { selectHost } from '../host/select.js';
import { Journal, journalSet, type JournalFilesOptions, type JournalOptions } from '../journal/journal.js';
import type { Allocate } from '../journal/journal-files.js';
import type { JournalSet } from '../journal/journal-sets.js';
import { native } from '../native/index.js';
import { tryLock } from './try-lock.js';

export interface JournalParts extends Pick<JournalOptions, 'node' | 'instance' | 'dryRun' | 'turns'> {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

export type JournalDirectories = Pick<Config, 'stateDirectory' | 'runtimeDirectory' | 'journal'>;

/** The only lock in the runtime directory, which always responds, that is not an instance lock. */
export const ROTATION_LOCK = 'rotation.lock';

/**
 * Throws UnavailableError if the runtime directory cannot be used. Without space there evictd logs an error and runs.
 */
export function openJournal(directories: JournalDirectories, { log, ...of }: JournalParts): Journal {
  const { stateDirectory, runtimeDirectory } = directories;
  try {
    return new Journal({
      ...of,
      ...filesOptions(directories),
      runtimeDirectory,
      onError: ({ message }) => {
        log.warn(`cannot write the journal: ${message}; evictd keeps the records in ${runtimeDirectory} and tries again`, {
          code: 'EVICTD_JOURNAL_WRITE',
        });
      },
      onLost: (records) => {
        log.error(`${String(records)} journal records were lost: too many wait for ${stateDirectory}`, {
          code: 'EVICTD_JOURNAL_LOST',
        });
      },
      onUnreserved: ({ message }) => {
        log.warn(`cannot reserve space for the journal in ${stateDirectory}: ${message}; if the disk is full, records may not be written`, {
          code: 'EVICTD_JOURNAL_RESERVE',
        });
      },
      onRing: (problem) => {
        if (problem === undefined) log.info(`there is space for the journal in ${runtimeDirectory} again`);
        else {
          log.error(
            `no space for the journal in ${runtimeDirectory} (${problem.message}): records go to ${stateDirectory} only, and the last are lost if evictd is killed; free 5 MiB there, evictd tries again`,
            { code: 'EVICTD_JOURNAL_ROOM' },
          );
        }
      },
    });
  } catch (cause) {
    const hint = 'cannot create or write a file there: remove what is in its place, or set runtimeDirectory to another directory on tmpfs';
    throw new UnavailableError('EVICTD_JOURNAL_OPEN', `cannot open the journal in ${runtimeDirectory}: ${String(cause)}`, { hint, cause });
  }
}

/** Only the files in the state directory, for the records that an earlier evictd has left. */
export function openJournalFiles(directories: JournalDirectories): JournalSet {
  return journalSet(filesOptions(directories));
}

function filesOptions({ stateDirectory, runtimeDirectory, journal }: JournalDirectories): JournalFilesOptions {
  return {
    stateDirectory,
    limits: journal,
    allocate,
    replacesOpen: selectHost().replacesOpenFiles,
    // The next write tries again.
    lock: () => tryLock(join(runtimeDirectory, ROTATION_LOCK)),
  };
}

/** Reserves nothing, without a message, on a system that cannot. */
const allocate: Allocate = (fd, offset, length) => selectHost().reserve?.(native, fd, offset, length) ?? Promise.resolve();
