import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { OomScoreAdj } from '../actions/oom-score-adj/adjuster.js';
import { FoundFile } from '../actions/oom-score-adj/found-file.js';
import { counted } from '../core/amount.js';
import { errnoName, HostError } from '../errors.js';
import { selectHost } from '../host/select.js';
import type { EvictdDirectories, Restoration } from '../install/restoration.js';
import type { Log } from '../log.js';
import { heldIn, withoutHeld } from '../monitor/inheritance.js';
import { ringPath } from '../monitor/journal.js';
import { addToRing, drainRing } from '../monitor/left-records.js';
import { stillStoppedText, reasonsOf, startHeldUnits } from '../monitor/left-units.js';
import { releaseRecord } from '../monitor/effects/release.js';
import { notReleasedRecord } from '../monitor/record.js';
import { readStateFile, StateFile } from '../monitor/state-file.js';
import { native } from '../native/index.js';
import { isLockHeld } from '../native/lock-refusal.js';
import { openJournalFiles, ROTATION_LOCK } from './journal.js';
import { foundFilePath } from './safety-net.js';
import { stateFilePath } from './takeover.js';

/** For systemd, and for the state directory. */
const PATIENCE_MS = 5_000;

const NOTHING: Restoration = { restored: [], owed: [], hangs: false };

/**
 * Gives back what evictds have left in the runtime directory that are not there any more: oom_score_adj, units that are kept stopped, journal records. What an evictd
 * that runs has there is left to it.
 *
 * @param forget  units that are kept stopped and are not to be started: evictd owes them no more
 * @throws HostError  the directory cannot be read, or not be locked
 */
export async function restore(directories: EvictdDirectories, forget: ReadonlySet<string>): Promise<Restoration> {
  let all = NOTHING;
  for (const instance of instancesIn(directories.runtimeDirectory)) {
    const lock = lockOf(directories.runtimeDirectory, instance);
    if (lock === undefined) continue;
    try {
      for (const give of [giveBackScores, startUnits, drainRecords]) {
        const { restored, owed, hangs } = await orOwed(async () => give(directories, instance, forget), directories.runtimeDirectory);
        all = { restored: [...all.restored, ...restored], owed: [...all.owed, ...owed], hangs: all.hangs || hangs };
      }
    } finally {
      lock.close();
    }
  }
  return all;
}

/** What fails is owed still, and keeps nothing else from being given back. */
async function orOwed(give: () => Promise<Restoration>, runtimeDirectory: string): Promise<Restoration> {
  try {
    return await give();
  } catch (error) {
    return { ...NOTHING, owed: [`what evictd has left in ${runtimeDirectory}: ${reasonOf(error)}; ${AGAIN}`] };
  }
}

/** By their locks, which are made before everything else and stay. */
function instancesIn(runtimeDirectory: string): readonly string[] {
  try {
    const names = readdirSync(runtimeDirectory).filter((name) => name.endsWith('.lock') && name !== ROTATION_LOCK);
    return names.map((name) => name.slice(0, -'.lock'.length)).sort();
  } catch (error) {
    if (errnoName(error) === 'ENOENT') return [];
    throw unusable(runtimeDirectory, error);
  }
}

/** undefined: an evictd holds it. */
function lockOf(runtimeDirectory: string, instance: string): { close(): void } | undefined {
  try {
    return new native.FileLock(join(runtimeDirectory, `${instance}.lock`));
  } catch (error) {
    if (isLockHeld(error)) return undefined;
    throw unusable(runtimeDirectory, error);
  }
}

function giveBackScores({ runtimeDirectory }: EvictdDirectories, instance: string): Restoration {
  const file = new FoundFile(foundFilePath(runtimeDirectory, instance), selectHost().readBootId());
  if (!existsSync(file.path)) return NOTHING;
  const what = (processes: number): string => `oom_score_adj of ${counted(BigInt(processes), 'processes')}`;
  try {
    file.load();
  } catch (error) {
    const why = `oom_score_adj of processes that evictd has marked: ${file.path} cannot be read: ${reasonOf(error)}`;
    return { ...NOTHING, owed: [`${why}; restart what it guarded, then: rm ${file.path}`] };
  }
  const hierarchy = selectHost().readHierarchies().memory;
  if (hierarchy === undefined) return { ...NOTHING, owed: [`oom_score_adj in ${file.path}: no memory controller is mounted; ${AGAIN}`] };
  const said: string[] = [];
  const adjuster = new OomScoreAdj(native, hierarchy, file, listening(said));
  adjuster.takeOver();
  const { processes, failed } = adjuster.restore();
  const isOwed = existsSync(file.path);
  return {
    ...NOTHING,
    restored: processes > 0 ? [what(processes)] : [],
    owed: isOwed ? [`${failed > 0 ? what(failed) : 'oom_score_adj'}: ${said.join('; ')}; ${AGAIN}`] : [],
  };
}

async function startUnits({ runtimeDirectory }: EvictdDirectories, instance: string, forget: ReadonlySet<string>): Promise<Restoration> {
  const host = selectHost();
  const path = stateFilePath(runtimeDirectory, instance);
  const { text } = readStateFile(path);
  if (text === undefined) return NOTHING;
  let left;
  try {
    left = heldIn(text, host.readBootId());
  } catch (error) {
    const why = `units that are kept stopped, if any: ${path} cannot be understood: ${reasonOf(error)}`;
    return { ...NOTHING, owed: [`${why}; start them (evictd history --since today), then: rm ${path}`] };
  }
  const { node, holds } = left;
  if (holds.length === 0) return NOTHING;
  const forgotten = holds.filter(({ unit }) => forget.has(unit));
  const units = host.openUnitManager();
  const released = await startHeldUnits(
    units,
    holds.filter((hold) => !forgotten.includes(hold)),
    PATIENCE_MS,
  ).finally(() => {
    units.close();
  });
  const started = released.flatMap(({ kind, hold }) => (kind === 'started' ? [hold] : []));
  const stopped = released.flatMap((it) => (it.kind === 'started' ? [] : [it]));
  const file = new StateFile(path);
  file.write(withoutHeld(text, new Set([...started, ...forgotten].map(({ unit }) => unit))));
  file.close();
  const records = [
    ...started.map((hold) => releaseRecord({ hold })),
    ...stopped.map((left) => notReleasedRecord(left.hold, { reasons: reasonsOf(left) })),
    ...forgotten.map((hold) => notReleasedRecord(hold, { reasons: ['it is left stopped (evictd restore --forget)'] })),
  ];
  const unrecorded = reasonNot(() => {
    addToRing(ringPath(runtimeDirectory, instance), records, node);
  });
  return {
    ...NOTHING,
    restored: [
      ...started.map(({ unit, start }) => `${unit}, which was kept stopped: started ${start.join(', ')}`),
      ...forgotten.map(({ unit }) => `${unit}, which was kept stopped: left stopped`),
    ],
    owed: [
      ...stopped.map(stillStoppedText),
      ...(unrecorded === undefined
        ? []
        : [`the journal does not have what became of ${holds.map(({ unit }) => unit).join(', ')}: ${unrecorded}`]),
    ],
  };
}

async function drainRecords(directories: EvictdDirectories, instance: string): Promise<Restoration> {
  const { runtimeDirectory, stateDirectory } = directories;
  const path = ringPath(runtimeDirectory, instance);
  const { records, failure, hangs } = await drainRing(path, openJournalFiles(directories), PATIENCE_MS);
  if (records === 0) return NOTHING;
  const what = `${String(records)} journal record${records === 1 ? '' : 's'}`;
  if (failure === undefined) return { ...NOTHING, restored: [`${what} to ${stateDirectory}`] };
  return { restored: [], owed: [`${what} that ${stateDirectory} has not: ${failure}; ${AGAIN}`], hangs };
}

const AGAIN = 'when that is cured: evictd restore';

/** Why it could not be done; undefined: it was. */
function reasonNot(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What is complained of becomes the reason. */
function listening(said: string[]): Log {
  const nothing = (): void => undefined;
  const hear = (message: string): void => {
    said.push(message);
  };
  return { debug: nothing, info: nothing, warn: hear, error: hear, dropped: 0, flush: () => Promise.resolve() };
}

function unusable(path: string, cause: unknown): HostError {
  return new HostError('EVICTD_RUNTIME_DIRECTORY', `runtime directory ${path} cannot be used: ${reasonOf(cause)}`, {
    hint: selectHost().elevation.other,
    path,
    cause,
  });
}
