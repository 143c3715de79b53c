import { setImmediate } from 'node:timers/promises';
import { attempt } from '../../errors.js';
import { membership, pathBelowMount, withAncestors, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { NOTHING_ON_DISK, type DiskAmount, type DiskHolding, type DiskHoldings } from '../../core/disk/disk-amount.js';
import type { DeletedFilesHolder, DiskHolders } from '../../core/disk/filesystem-holders.js';
import { FILESYSTEM_ROLES, pathsByRole, type FilesystemPaths, type FilesystemRole } from '../../core/signal/layout.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import type { Binding, DeletedFilesResult } from '../../native/binding.js';
import { BackgroundReads } from '../../native/pending-answers.js';
import type { ContainerMeasurement } from './container-measurement.js';
import { NO_ANSWER_MS, type DirectoryMeasurement, type MeasuredDirectory } from './directory-measurement.js';
import type { FilesystemTrees } from './filesystem-trees.js';
import type { ImagesInUse } from './images-in-use.js';
import { namesText } from '../../byte-paths.js';

/** The result for one filesystem. */
interface Measured {
  /** The space of deleted files, by the cgroup that contains all processes with the files open. */
  readonly deleted: ReadonlyMap<string, DiskAmount>;
  readonly holders: readonly DeletedFilesHolder[];
  readonly atNs: bigint;
  /** st_dev. */
  readonly device: bigint;
}

/** What cgroups hold on the node's filesystems. */
export interface DiskMeasurement {
  /** Begin, and the time of the last answer, monotonic. */
  readonly beganNs: bigint;
  readonly endedNs: bigint;
  /** `shortSince`: container layers measured before then do not count; left out: no decision depends on it. */
  readonly of: (path: string, shortSince?: ShortSince) => DiskHoldings;
  /** All holders of space, workloads or not. */
  readonly holders: DiskHolders;
  readonly problems: readonly SourceProblem[];
}

/** The monotonic time since which each filesystem is short; left out: since now. */
export type ShortSince = Partial<Readonly<Record<FilesystemRole, bigint>>>;

/** Other measurements, each with its own interval. */
export interface DiskParts {
  readonly directories: Pick<DirectoryMeasurement, 'of' | 'problems'>;
  readonly containers: Pick<ContainerMeasurement, 'of' | 'problems'>;
  readonly trees: Pick<FilesystemTrees, 'of' | 'problems'>;
  readonly images: Pick<ImagesInUse, 'holders'>;
}

/** Processes looked up before yielding. */
const AT_ONCE = 50;
/** Holders named, and processes named of each. */
const NAMED_HOLDERS = 5;
const NAMED_PROCESSES = 3;

/**
 * Measures all filesystems, each on a thread of the addon; JavaScript's part yields. Never rejects.
 *
 * @param silent  filesystems that have not answered
 */
export async function measureDisks(
  native: Binding,
  hierarchy: CgroupHierarchy | undefined,
  configured: FilesystemPaths,
  parts: DiskParts,
  silent = new BackgroundReads(),
): Promise<DiskMeasurement> {
  const beganNs = process.hrtime.bigint();
  const paths = pathsByRole(configured);
  const measured = new Map<string, Measured>();
  const problems: SourceProblem[] = [];
  let endedNs = beganNs;
  const look = async (path: string): Promise<void> => {
    const atNs = process.hrtime.bigint();
    const found = await silent.read<DeletedFilesResult>(path, NO_ANSWER_MS, (onDone) => new native.DeletedFiles(path, onDone));
    const reason = typeof found === 'string' ? found : found.complete || found.groups.length > 0 ? undefined : 'it or /proc cannot be read';
    if (reason !== undefined || typeof found === 'string')
      problems.push(unmeasured(`cannot measure deleted files on the filesystem of ${path}: ${reason ?? ''}`));
    else {
      if (found.unreadable > 0) {
        const hint = 'grant CAP_SYS_PTRACE: /proc/PID/fd of other users cannot be read without it';
        problems.push(unmeasured(`cannot measure the deleted files of all processes on the filesystem of ${path}`, hint));
      }
      measured.set(path, {
        device: found.device,
        atNs,
        deleted: await byCgroup(found.groups, hierarchy),
        holders: holdersOf(found.groups, hierarchy),
      });
    }
    if (!silent.has(path)) endedNs = process.hrtime.bigint();
  };
  await Promise.all([...new Set(Object.values(paths))].map(look));
  return {
    beganNs,
    endedNs,
    of: (path, shortSince) => forRoles((role) => holdingOn(measured.get(paths[role]), parts, path, shortSince?.[role])),
    get holders() {
      return forRoles((role) => {
        const on = measured.get(paths[role]);
        const found = parts.trees.of(role);
        if (on === undefined && found === undefined) return undefined;
        const hasImages = on !== undefined && on.device === measured.get(paths.imagefs)?.device;
        return {
          deleted: on?.holders ?? [],
          ...(found && { directories: found }),
          ...(hasImages && { images: parts.images.holders }),
        };
      });
    },
    get problems() {
      return [...problems, ...parts.directories.problems, ...parts.containers.problems, ...parts.trees.problems];
    },
  };
}

/** What the cgroup at `path` holds on one filesystem. */
function holdingOn(
  found: Measured | undefined,
  { directories, containers }: DiskParts,
  path: string,
  shortSinceNs: bigint | undefined,
): DiskHolding | 'measuring' | undefined {
  const written = containers.of(path, shortSinceNs);
  if (written === 'measuring') return 'measuring';
  if (found === undefined) return undefined;
  const on = ({ device }: MeasuredDirectory): boolean => device === found.device;
  const goes = written.layers.filter(on);
  const stays = [...directories.of(path), ...written.logs].filter(on);
  const gone = goes.reduce((sum, { amount }) => plus(sum, amount), found.deleted.get(path) ?? NOTHING_ON_DISK);
  const atNs = [...goes, ...stays].reduce((oldest, part) => (part.atNs < oldest ? part.atNs : oldest), found.atNs);
  return { uses: stays.reduce((sum, { amount }) => plus(sum, amount), gone), frees: gone, atNs };
}

/** The values by role. Roles for which `tell` returns undefined are left out. */
export function forRoles<T>(tell: (role: FilesystemRole) => T | undefined): Partial<Record<FilesystemRole, T>> {
  const known: Partial<Record<FilesystemRole, T>> = {};
  for (const role of FILESYSTEM_ROLES) {
    const value = tell(role);
    if (value !== undefined) known[role] = value;
  }
  return known;
}

export const MEASURING: DiskHoldings = forRoles(() => 'measuring' as const);

function unmeasured(message: string, hint?: string): SourceProblem {
  return { code: 'EVICTD_DISK_UNMEASURED', message, ...(hint === undefined ? {} : { hint }) };
}

/**
 * What ending all processes of a cgroup frees. Files of processes in several cgroups are freed only with all of them,
 * and count for the cgroups above all of these.
 */
async function byCgroup(
  groups: DeletedFilesResult['groups'],
  hierarchy: CgroupHierarchy | undefined,
): Promise<ReadonlyMap<string, DiskAmount>> {
  const amounts = new Map<string, DiskAmount>();
  let lookedUp = 0;
  for (const { pids, bytes, inodes } of groups) {
    let common: readonly string[] | undefined;
    for (const pid of pids) {
      if (++lookedUp % AT_ONCE === 0) await setImmediate();
      const above = hierarchy && cgroupsOf(pid, hierarchy);
      if (above !== undefined) common = common?.filter((path) => above.includes(path)) ?? above;
    }
    for (const path of common ?? []) {
      amounts.set(path, plus(amounts.get(path) ?? NOTHING_ON_DISK, { bytes: BigInt(bytes), inodes: BigInt(inodes) }));
    }
  }
  return amounts;
}

function plus(a: DiskAmount, b: DiskAmount): DiskAmount {
  return { bytes: a.bytes + b.bytes, inodes: a.inodes + b.inodes };
}

/** Largest first. */
function holdersOf(groups: DeletedFilesResult['groups'], hierarchy: CgroupHierarchy | undefined): readonly DeletedFilesHolder[] {
  const largest = [...groups].sort((a, b) => b.bytes - a.bytes || b.inodes - a.inodes).slice(0, NAMED_HOLDERS);
  return largest.map(({ pids, bytes, inodes }) => ({
    kind: 'deleted-files',
    holds: { bytes: BigInt(bytes), inodes: BigInt(inodes) },
    count: pids.length,
    processes: pids
      .slice(0, NAMED_PROCESSES)
      .map((pid) => ({ pid, name: nameOf(pid), cgroup: hierarchy && cgroupsOf(pid, hierarchy)?.[0] })),
  }));
}

function nameOf(pid: number): string {
  return attempt(() => namesText(`/proc/${String(pid)}/comm`).slice(0, -1)) ?? ''; // it has ended
}

/** The cgroup of a process and those above; undefined: it has ended. Empty outside the mount. */
function cgroupsOf(pid: number, hierarchy: CgroupHierarchy): readonly string[] | undefined {
  const text = attempt(() => namesText(`/proc/${String(pid)}/cgroup`));
  if (text === undefined) return undefined;
  const cgroup = membership(text, hierarchy);
  const path = cgroup === undefined ? undefined : pathBelowMount(cgroup, hierarchy);
  return path === undefined ? [] : withAncestors(path);
}
