import type { Dirent } from 'node:fs';
import { constants, open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoName, InputError } from '../../errors.js';
import { EVICTIONS_FILE, JOURNAL_FILE } from '../journal-files.js';
import { isUnrecorded, orderFilePath, orderIn } from '../order-file.js';
import { ringPath, undrainedRecords } from '../journal-ring.js';
import { linePieces } from './journal-lines.js';
import { withoutCopies } from './older-evictions.js';

export interface JournalPlace {
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
}

/** An open file of the journal; `size` as of then. */
export interface JournalFile {
  readonly path: string;
  readonly file: FileHandle;
  readonly size: number;
}

/**
 * Files from the oldest to the newest, no record twice; records that are only in the runtime directory are the newest.
 */
export interface OpenJournal {
  readonly files: readonly JournalFile[];
  /** Lines of the runtime directory. */
  readonly recent: readonly Buffer[];
  /** Messages about parts that cannot be read. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/**
 * Opens the journal of an evictd that may be running. It reads the runtime directory before the files, so that a record
 * that evictd moves meanwhile is found twice, not missed, and drops duplicates.
 *
 * @throws NoJournalError  if there is no journal; InputError if it cannot be read
 */
export async function openJournal({ stateDirectory, runtimeDirectory }: JournalPlace): Promise<OpenJournal> {
  const { texts, problems } = await recentTexts(runtimeDirectory);
  const kept = await pathsOf(stateDirectory, EVICTIONS_FILE);
  const paths = [...kept, ...(await pathsOf(stateDirectory, JOURNAL_FILE))];
  if (paths.length === 0 && texts.length === 0) throw new NoJournalError(stateDirectory);
  const journal = await openFiles(paths);
  const all = journal.files.filter(({ path }) => !kept.includes(path));
  const older = await withoutCopies(
    journal.files.filter((file) => !all.includes(file)),
    all,
  );
  const moved = await Promise.all([older, all].map((files) => textsAtEnd(files, texts)));
  const recent = texts.filter((text) => !moved.some((found) => found.has(text)));
  return { ...journal, files: [...older, ...all], recent: recent.map((text) => Buffer.from(text)), problems };
}

/** @throws InputError  if a file cannot be read */
export async function openFiles(paths: readonly string[]): Promise<OpenJournal> {
  const opened: JournalFile[] = [];
  const close = async (): Promise<void> => {
    for (const { file } of opened) await file.close();
  };
  try {
    const seen = new Set<string>();
    // From the newest: a rotation meanwhile may give a file an older name.
    for (const path of paths.toReversed()) {
      const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK); // does not wait for the writer of a pipe
      const stat = await file.stat({ bigint: true });
      const id = `${String(stat.dev)}:${String(stat.ino)}`;
      opened.unshift({ path, file, size: Number(stat.size) });
      if (!stat.isFile()) throw new InputError('EVICTD_HISTORY_FILE', `${path} is not a regular file`, { isMissing: true });
      if (seen.has(id)) await opened.shift()?.file.close();
      seen.add(id);
    }
  } catch (error) {
    await close();
    throw error instanceof InputError ? error : unreadable(paths.at(-1) ?? '', error);
  }
  return { files: opened, recent: [], problems: [], close };
}

/** journal.jsonl.2, journal.jsonl.1, journal.jsonl. */
export async function pathsOf(directory: string, file: string): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (errnoName(error) === 'ENOENT') return [];
    throw unreadable(directory, error);
  }
  const age = (name: string): number => {
    const rest = name.startsWith(file) ? name.slice(file.length) : '.';
    return rest === '' ? 0 : Number(/^\.(\d+)$/.exec(rest)?.[1] ?? NaN);
  };
  return entries
    .map(({ name }) => name)
    .filter((name) => !Number.isNaN(age(name)))
    .sort((a, b) => age(b) - age(a))
    .map((name) => join(directory, name));
}

/** Texts of recent records of all nodes. */
async function recentTexts(directory: string): Promise<{ texts: string[]; problems: string[] }> {
  const problem = (error: unknown): string =>
    `the newest records, in ${directory}, are missing: ${errnoName(error) ?? String(error)}; run as root to read them`;
  let names: string[];
  try {
    names = (await readdir(directory)).filter((name) => /^(journal|order)-/.test(name) && !name.endsWith('.new')).sort();
  } catch (error) {
    return { texts: [], problems: errnoName(error) === 'ENOENT' ? [] : [problem(error)] };
  }
  const problems: string[] = [];
  const orNothing = <T>(read: () => readonly T[]): readonly T[] => {
    try {
      return read();
    } catch (error) {
      problems.push(problem(error));
      return [];
    }
  };
  const instances = (kind: string): string[] => names.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length));
  // Orders first: evictd may record one and clear it meanwhile.
  const orders = instances('order-').flatMap((instance) =>
    orNothing(() => orderLines(orderFilePath(directory, instance))).map((line) => ({ line, ring: ringPath(directory, instance) })),
  );
  const texts = instances('journal-').flatMap((instance) => orNothing(() => undrainedTexts(ringPath(directory, instance))));
  texts.push(...orNothing(() => orders.filter(({ line, ring }) => isUnrecorded(line, ring)).map(({ line }) => line)));
  return { texts, problems };
}

function undrainedTexts(path: string): readonly string[] {
  return undrainedRecords(path).map(({ text }) => text);
}

/** The standing order that was carried out while evictd did not know it yet. */
function orderLines(path: string): readonly string[] {
  const found = orderIn(path);
  return found === undefined ? [] : [found.line];
}

/** The texts that evictd moved to the files meanwhile. Reads only the end of the files. */
async function textsAtEnd(files: readonly JournalFile[], texts: readonly string[]): Promise<ReadonlySet<string>> {
  const wanted = new Set(texts);
  const found = new Set<string>();
  if (texts.length === 0) return found;
  let left = 2 * texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0) + 1024 * 1024;
  for (const { file, size } of files.toReversed()) {
    for await (const { lines } of linePieces(file, size, true)) {
      for (const line of lines) {
        const text = line.toString();
        if (wanted.has(text)) found.add(text);
        left -= line.length + 1;
      }
      if (left <= 0) return found;
    }
  }
  return found;
}

/** evictd has not run yet, or has its journal elsewhere. */
export class NoJournalError extends InputError {
  constructor(directory: string) {
    super('EVICTD_HISTORY_FILE', `there is no journal in ${directory} yet`, {
      isMissing: true,
      hint: 'evictd run writes it; --state-directory names another directory',
    });
  }
}

export function unreadable(path: string, cause: unknown): InputError {
  const errno = errnoName(cause);
  const denied = errno === 'EACCES' || errno === 'EPERM';
  return new InputError('EVICTD_HISTORY_FILE', `the journal ${path} cannot be read: ${errno ?? String(cause)}`, {
    isMissing: true,
    hint: denied ? 'run it as root: the state directory belongs to root' : 'use --state-directory, or name the files',
    cause,
  });
}
