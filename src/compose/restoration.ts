import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { OomScoreAdj } from '../features/oom-score-adj/process-adjuster.js';
import { FoundFile } from '../features/oom-score-adj/original-values-file.js';
import { liftAbandoned } from '../features/policy/restraint/abandoned-restraints.js';
import { counted } from '../core/quantity/amount.js';
import { errnoName, HostError, messageOf } from '../errors.js';
import { selectHost } from '../host/select.js';
import type { EvictdDirectories, Restoration } from '../features/install/install-machine.js';
import type { Log } from '../log/log.js';
import { heldIn, withoutHeld } from '../state/saved-state.js';
import { ringPath } from '../journal/journal-ring.js';
import { isUnrecorded, OrderFile, orderFilePath } from '../journal/order-file.js';
import { addLinesToRing, addToRing, drainRing } from '../journal/ring-recovery.js';
import { stillStoppedText, reasonsOf, startHeldUnits } from '../features/restart-storm/stopped-units.js';
import { releaseRecord } from '../monitor/effects/release.js';
import { notReleasedRecord } from '../journal/records/record.js';
import { readStateFile, StateFile } from '../state/state-file.js';
import { native } from '../native/index.js';
import { isLockHeld } from '../native/lock-held.js';
import { openJournalFiles, ROTATION_LOCK } from './journal.js';
import { foundFilePath } from '../features/oom-score-adj/open.js';
import { stateFilePath } from './saved-state.js';

/** Timeout for systemd and for the state directory. */
const TIMEOUT_MS = 5_000;

const NOTHING: Restoration = { restored: [], unrestored: [], hangs: false };

/**
 * Restores what ended evictds have left in the runtime directory: oom_score_adj, throttled and frozen cgroups, units that
 * are kept stopped, journal records. Leaves out the files of a running evictd.
 *
 * @param forget  units that are kept stopped and are to stay so
 * @param only  `restraints`: only throttled and frozen cgroups
 * @throws HostError  the directory cannot be read, or a lock cannot be taken
 */
export async function restore(directories: EvictdDirectories, forget: ReadonlySet<string>, only?: 'restraints'): Promise<Restoration> {
  let all = liftRestraints();
  if (only === 'restraints') return all;
  for (const instance of instancesIn(directories.runtimeDirectory)) {
    const lock = lockOf(directories.runtimeDirectory, instance);
    if (lock === undefined) continue;
    try {
      for (const restoreSome of [restoreScores, startUnits, drainRecords]) {
        const { restored, unrestored, hangs } = await orUnrestored(
          async () => restoreSome(directories, instance, forget),
          directories.runtimeDirectory,
        );
        all = { restored: [...all.restored, ...restored], unrestored: [...all.unrestored, ...unrestored], hangs: all.hangs || hangs };
      }
    } finally {
      lock.close();
    }
  }
  return all;
}

/** An error becomes an unrestored item, and the rest is restored all the same. */
async function orUnrestored(act: () => Promise<Restoration>, runtimeDirectory: string): Promise<Restoration> {
  try {
    return await act();
  } catch (error) {
    return { ...NOTHING, unrestored: [`files of evictd in ${runtimeDirectory}: ${messageOf(error)}; ${AGAIN}`] };
  }
}

/** The instances with a lock file, which evictd creates first and never removes. */
function instancesIn(runtimeDirectory: string): readonly string[] {
  try {
    const names = readdirSync(runtimeDirectory).filter((name) => name.endsWith('.lock') && name !== ROTATION_LOCK);
    return names.map((name) => name.slice(0, -'.lock'.length)).sort();
  } catch (error) {
    if (errnoName(error) === 'ENOENT') return [];
    throw unusable(runtimeDirectory, error);
  }
}

/** undefined: a running evictd holds it. */
function lockOf(runtimeDirectory: string, instance: string): { close(): void } | undefined {
  try {
    return new native.FileLock(join(runtimeDirectory, `${instance}.lock`));
  } catch (error) {
    if (isLockHeld(error)) return undefined;
    throw unusable(runtimeDirectory, error);
  }
}

function restoreScores({ runtimeDirectory }: EvictdDirectories, instance: string): Restoration {
  const file = new FoundFile(foundFilePath(runtimeDirectory, instance), selectHost().readBootId());
  if (!existsSync(file.path)) return NOTHING;
  const what = (processes: number): string => `oom_score_adj of ${counted(BigInt(processes), 'processes')}`;
  try {
    file.load();
  } catch (error) {
    const why = `oom_score_adj of processes: cannot read ${file.path}: ${messageOf(error)}`;
    return { ...NOTHING, unrestored: [`${why}; restart the workloads, then: rm ${file.path}`] };
  }
  const hierarchy = selectHost().readHierarchies().memory;
  if (hierarchy === undefined)
    return { ...NOTHING, unrestored: [`oom_score_adj in ${file.path}: no memory controller is mounted; ${AGAIN}`] };
  const warnings: string[] = [];
  const adjuster = new OomScoreAdj(native, hierarchy, file, collecting(warnings));
  adjuster.takeOver();
  const { processes, failed } = adjuster.restore();
  const isUnrestored = existsSync(file.path);
  return {
    ...NOTHING,
    restored: processes > 0 ? [what(processes)] : [],
    unrestored: isUnrestored ? [`${failed > 0 ? what(failed) : 'oom_score_adj'}: ${warnings.join('; ')}; ${AGAIN}`] : [],
  };
}

/** memory.high, cgroup.freeze and freezer.state as policies have left them, of all evictds that have ended. */
function liftRestraints(): Restoration {
  const warnings: string[] = [];
  const { lifted, left } = liftAbandoned(collecting(warnings));
  return {
    ...NOTHING,
    restored: lifted.map(({ path, file: control, before }) => `${control} of ${path}: ${before}`),
    unrestored: left.length > 0 ? [`throttled or frozen cgroups: ${warnings.join('; ')}; ${AGAIN}`] : [],
  };
}

async function startUnits({ runtimeDirectory }: EvictdDirectories, instance: string, forget: ReadonlySet<string>): Promise<Restoration> {
  const host = selectHost();
  const path = stateFilePath(runtimeDirectory, instance);
  const { text } = readStateFile(path);
  if (text === undefined) return NOTHING;
  let saved;
  try {
    saved = heldIn(text, host.readBootId());
  } catch (error) {
    const why = `units that are kept stopped, if any: cannot parse ${path}: ${messageOf(error)}`;
    return { ...NOTHING, unrestored: [`${why}; start them (evictd history --since today), then: rm ${path}`] };
  }
  const { node, holds } = saved;
  if (holds.length === 0) return NOTHING;
  const forgotten = holds.filter(({ unit }) => forget.has(unit));
  const units = host.openUnitManager();
  const released = await startHeldUnits(
    units,
    holds.filter((hold) => !forgotten.includes(hold)),
    TIMEOUT_MS,
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
  const unrecorded = failureOf(() => {
    addToRing(ringPath(runtimeDirectory, instance), records, node);
  });
  return {
    ...NOTHING,
    restored: [
      ...started.map(({ unit, start }) => `${unit}, which was kept stopped: started ${start.join(', ')}`),
      ...forgotten.map(({ unit }) => `${unit}, which was kept stopped: left stopped`),
    ],
    unrestored: [
      ...stopped.map(stillStoppedText),
      ...(unrecorded === undefined ? [] : [`the journal has no record for ${holds.map(({ unit }) => unit).join(', ')}: ${unrecorded}`]),
    ],
  };
}

async function drainRecords(directories: EvictdDirectories, instance: string): Promise<Restoration> {
  const { runtimeDirectory, stateDirectory } = directories;
  const path = ringPath(runtimeDirectory, instance);
  takeOrder(orderFilePath(runtimeDirectory, instance), path);
  const { records, failure, hangs } = await drainRing(path, openJournalFiles(directories), TIMEOUT_MS);
  if (records === 0) return NOTHING;
  const what = `${String(records)} journal record${records === 1 ? '' : 's'}`;
  if (failure === undefined) return { ...NOTHING, restored: [`${what} to ${stateDirectory}`] };
  return { restored: [], unrestored: [`${what} that could not be written to ${stateDirectory}: ${failure}; ${AGAIN}`], hangs };
}

/** A standing order was carried out, and its evictd ended before it knew. */
function takeOrder(path: string, ring: string): void {
  if (!existsSync(path)) return;
  const file = new OrderFile(path);
  try {
    if (file.found === undefined) return;
    if (isUnrecorded(file.found.line, ring)) addLinesToRing(ring, [file.found.line]);
    file.clear();
  } finally {
    file.close();
  }
}

const AGAIN = 'remove the cause, then: evictd restore';

/** The error message of `act`; undefined: it succeeded. */
function failureOf(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** A log that collects warnings and errors. */
function collecting(warnings: string[]): Log {
  const nothing = (): void => undefined;
  const collect = (message: string): void => {
    warnings.push(message);
  };
  return { debug: nothing, info: nothing, warn: collect, error: collect, dropped: 0, flush: () => Promise.resolve() };
}

function unusable(path: string, cause: unknown): HostError {
  return new HostError('EVICTD_RUNTIME_DIRECTORY', `cannot use the runtime directory ${path}: ${messageOf(cause)}`, {
    hint: selectHost().elevation.other,
    path,
    cause,
  });
}
