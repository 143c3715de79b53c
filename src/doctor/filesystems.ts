import { amountOfBytes } from '../core/amount.js';
import { jsonInteger } from '../core/integer.js';
import { FILESYSTEM_ROLES, layoutOf, type FilesystemRole } from '../core/layout.js';
import { broken, degraded, ok, unseen, type Check } from './check.js';
import type { DirectoryAnswer, DirectoryFacts, FilesystemFacts } from './facts/filesystem.js';

const ID = 'filesystem.ROLE';

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
]);
const IN_MEMORY: readonly string[] = ['tmpfs', 'ramfs'];
/** Those that wait for somebody else to answer. */
const MAY_HANG: readonly string[] = ['fuse', 'nfs', 'cifs', 'smb2', 'ceph', '9p'];

/** Enough for a day of evictions: a record with its ranking has some kilobytes. */
const JOURNAL_BYTES = 16n << 20n;

/** The small files in the runtime directory, with those that take their place. */
const RUNTIME_BYTES = 64n << 10n;

type There = Extract<DirectoryAnswer, { readonly kind: 'there' }>;

/** The filesystems that evictd watches and writes to. */
export function checkFilesystems(facts: FilesystemFacts): Check[] {
  const { directories } = facts;
  return directories.map((directory) => {
    const id = ID.replace('ROLE', directory.role);
    const { path, role, answer } = directory;
    if (answer === undefined) {
      const said = `${path}: its filesystem has not answered within ${String(facts.patienceMs)} ms`;
      return broken(id, said, HUNG[role], { path, answered: false });
    }
    if (answer.kind === 'error') {
      if (answer.error.startsWith('EACCES')) return unseen(id, path, { unseen: answer.error });
      return broken(id, `${path}: ${answer.error}`, `look at ${path}, or name another`, { path, error: answer.error });
    }
    return checkThere(id, directory, answer, facts);
  });
}

const HUNG_DISK = 'look at what serves it (dmesg, the network); evictd goes on without it, and its thresholds are unknown';
const HUNG: Readonly<Record<DirectoryFacts['role'], string>> = {
  nodefs: HUNG_DISK,
  imagefs: HUNG_DISK,
  containerfs: HUNG_DISK,
  state: 'look at what serves it; evictd goes on, and keeps the journal in the ring until it answers',
  runtime: 'set runtimeDirectory to a directory on tmpfs',
};

function checkThere(id: string, { role, path, isTold }: DirectoryFacts, answer: There, { directories }: FilesystemFacts): Check {
  const type = TYPES.get(answer.type) ?? `type 0x${answer.type.toString(16)}`;
  const same = directories.find((other) => other.role !== role && other.answer?.kind === 'there' && other.answer.device === answer.device);
  const isWatched = isFilesystem(role);
  const where = answer.at === path ? path : `${path} (${isWatched ? 'not there, below' : 'to be made below'} ${answer.at})`;
  const said = `${where}${isTold ? ', as the container runtime tells' : ''}: ${type}, ${amountOfBytes(answer.availableBytes)} of ${amountOfBytes(answer.totalBytes)} available${same ? `, the filesystem of ${same.role}` : ''}`;
  const details = {
    path,
    at: answer.at,
    type,
    device: answer.device.toString(),
    availableBytes: jsonInteger(answer.availableBytes),
    totalBytes: jsonInteger(answer.totalBytes),
    answeredMs: Math.round(answer.afterMs * 10) / 10,
    sameAs: same?.role ?? null,
    told: isTold,
    refused: answer.refused ?? null,
  };
  const [worst] = isFilesystem(role) ? diskTroubles(role, path, type, answer, directories) : [...troublesOf(role, type, answer)];
  if (worst === undefined) return ok(id, said, details);
  return (worst.isBroken ? broken : degraded)(id, `${said}: ${worst.said}`, worst.fix, details);
}

interface Trouble {
  readonly said: string;
  readonly fix: string;
  readonly isBroken: boolean;
}

function isFilesystem(role: DirectoryFacts['role']): role is FilesystemRole {
  return (FILESYSTEM_ROLES as readonly string[]).includes(role);
}

/** The worst first. */
function diskTroubles(role: FilesystemRole, path: string, type: string, { at }: There, directories: readonly DirectoryFacts[]): Trouble[] {
  const troubles: Trouble[] = [];
  if (at !== path) {
    const fix = `make or mount it, or set filesystems.${role} to another`;
    troubles.push({ said: 'its thresholds are unknown until it is there', fix, isBroken: false });
  }
  if (IN_MEMORY.includes(type)) {
    const fix = `set filesystems.${role} to a directory on a disk, or its thresholds to 0%`;
    troubles.push({ said: 'in memory, which is no disk: its thresholds are unknown', fix, isBroken: false });
  }
  const deviceOf = (of: FilesystemRole): bigint | undefined => {
    const answer = directories.find((directory) => directory.role === of)?.answer;
    return answer?.kind === 'there' ? answer.device : undefined;
  };
  const { unsupported } = layoutOf({ nodefs: deviceOf('nodefs'), imagefs: deviceOf('imagefs'), containerfs: deviceOf('containerfs') });
  if (role === 'containerfs' && unsupported !== undefined) {
    troubles.push({ said: unsupported, fix: 'set filesystems.containerfs to where nodefs or imagefs is', isBroken: false });
  }
  return troubles;
}

/** The worst first. */
function* troublesOf(role: 'state' | 'runtime', type: string, answer: There): Generator<Trouble> {
  const key = `${role}Directory`;
  const isRuntime = role === 'runtime';
  if (answer.refused !== undefined) {
    yield {
      said: `it may not be written to (${answer.refused})`,
      fix: `run evictd as root, or set ${key} to a directory that it may write to`,
      isBroken: isRuntime,
    };
  }
  if (isRuntime && answer.availableBytes < answer.toMakeBytes) {
    yield {
      said: `the ring of decisions and the state take ${amountOfBytes(answer.toMakeBytes)}: evictd would guard without them, and a kill lose records and evictions in flight`,
      fix: `free some of ${answer.at}`,
      isBroken: false,
    };
  } else if (isRuntime && answer.availableBytes < RUNTIME_BYTES) {
    yield { said: 'no room for what evictd tells others there (conditions, reloads)', fix: `free some of ${answer.at}`, isBroken: false };
  }
  if (isRuntime && !IN_MEMORY.includes(type)) {
    yield {
      said: 'no tmpfs: a full or slow disk can delay a decision',
      fix: 'set runtimeDirectory to a directory on tmpfs',
      isBroken: false,
    };
  }
  if (!isRuntime && IN_MEMORY.includes(type)) {
    yield { said: 'in memory: the journal does not survive a boot', fix: 'set stateDirectory to a directory on a disk', isBroken: false };
  }
  if (!isRuntime && answer.availableBytes < JOURNAL_BYTES) {
    yield {
      said: 'no room for the journal',
      fix: `free some of ${answer.at}: records wait in the ring, and the oldest are lost at last`,
      isBroken: false,
    };
  }
  if (MAY_HANG.includes(type)) {
    yield { said: 'it may hang: evictions do not wait for it, records do', fix: `set ${key} to a local directory`, isBroken: false };
  }
}
