import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { FILESYSTEM_ROLES, type FilesystemRole } from '../../../core/signal/layout.js';
import { broken, degraded, ok, unseen, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { findingsOf, judged } from '../findings.js';
import type { VolumeFacts, WorkloadFacts } from '../machine-facts.js';
import type { DirectoryAnswer, DirectoryFacts, FilesystemFacts } from '../../../host/facts.js';

/** statfs's f_type by name (man 2 statfs; include/uapi/linux/magic.h). */
const TYPES: ReadonlyMap<number, string> = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x2fc12fc1, 'zfs'],
  [0xf2f52010, 'f2fs'],
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
  [0x794c7630, 'overlay'],
  [0x65735546, 'fuse'],
  [0x6969, 'nfs'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x00c36400, 'ceph'],
  [0x01021997, '9p'],
  [0x73717368, 'squashfs'],
  [0xe0f5e1e2, 'erofs'],
  [0x9660, 'iso9660'],
  [0x28cd3d45, 'cramfs'],
  [0x7275, 'romfs'],
]);
const IN_MEMORY: readonly string[] = ['tmpfs', 'ramfs'];
/** Filesystems that depend on a server. */
const MAY_HANG: readonly string[] = ['fuse', 'nfs', 'cifs', 'smb2', 'ceph', '9p'];

/** The space for a day of evictions: a record with its ranking has a few kilobytes. */
const JOURNAL_BYTES = 16n << 20n;

/** The small files in the runtime directory, and their replacements. */
const RUNTIME_BYTES = 64n << 10n;

type There = Extract<DirectoryAnswer, { readonly kind: 'there' }>;

/** The filesystems that evictd watches or writes to. */
export const filesystemsCheck = defineCheck(
  'filesystem.ROLE',
  ['filesystems', 'workloads'],
  ({ filesystems: facts, workloads }, pattern) => {
    const { directories, timeoutMs } = facts;
    const idOf = (role: DirectoryFacts['role']): string => pattern.replace('ROLE', role);
    const checks = directories.map((directory) => {
      const { path, role, answer } = directory;
      const id = idOf(role);
      const worse = isWatched(role) ? degraded : broken;
      if (answer === undefined) {
        const check = worse(id, `${path}: its filesystem did not answer within ${String(timeoutMs)} ms`, HUNG[role], {
          path,
          answered: false,
        });
        return foundOr(check, workloads);
      }
      if (answer.kind === 'error') {
        if (answer.error.startsWith('EACCES')) return unseen(id, `filesystem of ${path}`, { unseen: answer.error });
        const check = worse(id, `${path}: ${answer.error}`, `check ${path}, or configure another path`, { path, error: answer.error });
        return foundOr(check, workloads);
      }
      return foundOr(checkThere(id, directory, answer, facts), workloads);
    });
    const unplaced = FILESYSTEM_ROLES.filter((role) => !directories.some((directory) => directory.role === role)).map(idOf);
    return [...checks, ...unplaced.filter((id) => findingsOf(id, workloads).length > 0).map((id) => judged(id, workloads, ''))];
  },
);

/** The judgement of lint, where it has one. */
function foundOr(check: Check, workloads: Pick<WorkloadFacts, 'notices'>): Check {
  return findingsOf(check.id, workloads).length === 0 ? check : judged(check.id, workloads, check.summary, check.details);
}

const HUNG_DISK = 'check its server (dmesg, the network); evictd runs without it and does not know its thresholds';
const HUNG: Readonly<Record<DirectoryFacts['role'], string>> = {
  nodefs: HUNG_DISK,
  imagefs: HUNG_DISK,
  containerfs: HUNG_DISK,
  state: 'check its server; evictd keeps the journal in the ring until it answers',
  runtime: 'set runtimeDirectory to a directory on tmpfs',
};

function checkThere(id: string, { role, path, isReported }: DirectoryFacts, answer: There, { directories }: FilesystemFacts): Check {
  const type = TYPES.get(answer.type) ?? `type 0x${answer.type.toString(16)}`;
  const same = directories.find((other) => other.role !== role && other.answer?.kind === 'there' && other.answer.device === answer.device);
  const where = answer.at === path ? path : `${path} (${isWatched(role) ? 'does not exist, below' : 'to be created below'} ${answer.at})`;
  const summary = `${where}${isReported ? ', reported by the container runtime' : ''}: ${type}, ${amountOfBytes(answer.availableBytes)} of ${amountOfBytes(answer.totalBytes)} available${same ? `, same filesystem as ${same.role}` : ''}`;
  const details = {
    path,
    at: answer.at,
    type,
    device: answer.device.toString(),
    availableBytes: jsonInteger(answer.availableBytes),
    totalBytes: jsonInteger(answer.totalBytes),
    answeredMs: Math.round(answer.afterMs * 10) / 10,
    sameAs: same?.role ?? null,
    reported: isReported,
    refused: answer.refused ?? null,
  };
  const [worst] = isWatched(role) ? [] : [...ownProblems(role, type, answer)];
  if (worst === undefined) return ok(id, summary, details);
  return (worst.isBroken ? broken : degraded)(id, `${summary}: ${worst.problem}`, worst.fix, details);
}

interface Problem {
  readonly problem: string;
  readonly fix: string;
  readonly isBroken: boolean;
}

function isWatched(role: DirectoryFacts['role']): role is FilesystemRole {
  return (FILESYSTEM_ROLES as readonly string[]).includes(role);
}

/** The worst first. */
function* ownProblems(role: 'state' | 'runtime', type: string, answer: There): Generator<Problem> {
  const key = `${role}Directory`;
  const isRuntime = role === 'runtime';
  if (answer.refused !== undefined) {
    yield {
      problem: `not writable (${answer.refused})`,
      fix: `run evictd as root, or set ${key} to a writable directory`,
      isBroken: isRuntime,
    };
  }
  if (isRuntime && answer.availableBytes < answer.toMakeBytes) {
    yield {
      problem: `the ring and the saved state need ${amountOfBytes(answer.toMakeBytes)}: without them a crash of evictd loses records and evictions in flight`,
      fix: `free space in ${answer.at}`,
      isBroken: false,
    };
  } else if (isRuntime && answer.availableBytes < RUNTIME_BYTES) {
    yield {
      problem: 'not enough space for the files that evictd publishes (conditions, reloads)',
      fix: `free space in ${answer.at}`,
      isBroken: false,
    };
  }
  if (isRuntime && !IN_MEMORY.includes(type)) {
    yield {
      problem: 'not on tmpfs: a full or slow disk can delay a decision',
      fix: 'set runtimeDirectory to a directory on tmpfs',
      isBroken: false,
    };
  }
  if (!isRuntime && IN_MEMORY.includes(type)) {
    yield { problem: 'in memory: a reboot deletes the journal', fix: 'set stateDirectory to a directory on a disk', isBroken: false };
  }
  if (!isRuntime && answer.availableBytes < JOURNAL_BYTES) {
    yield {
      problem: 'not enough space for the journal',
      fix: `free space in ${answer.at}: records wait in the ring, which then drops the oldest`,
      isBroken: false,
    };
  }
  if (MAY_HANG.includes(type)) {
    yield { problem: 'it may hang: records then wait for it, evictions do not', fix: `set ${key} to a local directory`, isBroken: false };
  }
}

/** The space for a day of evictions and the ring. */
const ROOM_BYTES = 16n << 20n;

/** The volumes that evictd watches or writes to. */
export const volumesCheck = defineCheck('filesystem.ROLE', ['volumes', 'workloads'], ({ volumes, workloads }, pattern) =>
  volumes.map((volume) => foundOr(checkVolume(pattern.replace('ROLE', volume.role), volume), workloads)),
);

function checkVolume(id: string, { role, path, answer, refused }: VolumeFacts): Check {
  const worse = isWatched(role) ? degraded : broken;
  if (answer === undefined)
    return worse(id, `${path}: its volume did not answer in time`, 'check the disk or server behind it', { path, answered: false });
  if ('error' in answer)
    return worse(id, `${path}: ${answer.error}`, `check ${path}, or configure another path`, { path, error: answer.error });
  const { at, totalBytes, availableBytes } = answer;
  const where = at === path ? path : `${path} (${isWatched(role) ? 'does not exist,' : 'to be created'} below ${at})`;
  const summary = `${where}: ${amountOfBytes(availableBytes)} of ${amountOfBytes(totalBytes)} available`;
  const details = { path, at, availableBytes: jsonInteger(availableBytes), totalBytes: jsonInteger(totalBytes), refused: refused ?? null };
  if (refused !== undefined) {
    const fix = `run evictd as an administrator, or set ${role}Directory to a writable directory`;
    return (role === 'runtime' ? broken : degraded)(id, `${summary}: not writable (${refused})`, fix, details);
  }
  if (!isWatched(role) && availableBytes < ROOM_BYTES)
    return degraded(id, `${summary}: not enough space for the journal`, `free space in ${at}`, details);
  return ok(id, summary, details);
}
