import { EVICTIONS_FILE } from '../journal-files.js';
import { evictionKey, objectIn, recordOf, type JournalRecord } from './history-event.js';
import { openFiles, pathsOf, type OpenJournal } from './journal-reader.js';
import { linePieces } from './journal-lines.js';

/**
 * The decisions whose evictions were in flight when the machine went down: they have no outcome, and the boot of their run
 * is over. Reads the files of evictions backwards, as far as the last run of the boot before. Its records may be in an older
 * file: the `start` record of this boot may begin a new one.
 *
 * @throws InputError  a file cannot be read
 */
export async function lostEvictions(stateDirectory: string, node: string, bootId: string): Promise<readonly JournalRecord[]> {
  const openAll = async (): Promise<OpenJournal> => openFiles(await pathsOf(stateDirectory, EVICTIONS_FILE));
  const opened = await openAll().catch(openAll); // a rotation removes the oldest file, perhaps before it is opened
  try {
    const ended = new Set<string>();
    let open: JournalRecord[] = [];
    for (const { file, size } of opened.files.toReversed()) {
      for await (const { lines } of linePieces(file, size, true)) {
        for (const record of lines.map(recordOf)) {
          if (record?.node !== node || record.dryRun === true) continue;
          if (record.type === 'outcome') ended.add(evictionKey(record));
          else if (record.type === 'decision' && !ended.has(evictionKey(record))) open.unshift(record);
          else if (record.type === 'start' && record.bootId === bootId) open = [];
          else if (record.type === 'start' && objectIn(record, 'resumed').evictions === undefined) return open;
        }
      }
    }
    return open;
  } finally {
    await opened.close();
  }
}
