import { expect, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { DirectoryAnswer, DirectoryFacts } from '../../../../src/host/facts.js';
import { filesystemsCheck } from '../../../../src/features/doctor/checks/filesystems.js';
import { expectCheck, GIB, MIB, workloadFacts } from '../support.js';

const [EXT4, TMPFS, FUSE] = [0xef53, 0x01021994, 0x65735546];
const PATHS = { nodefs: '/', imagefs: '/images', containerfs: '/containers', state: '/var/lib/evictd', runtime: '/run/evictd' } as const;

type There = Extract<DirectoryAnswer, { kind: 'there' }>;

function directory(role: DirectoryFacts['role'], facts: Partial<There> = {}): DirectoryFacts {
  const path = PATHS[role];
  const type = role === 'runtime' ? TMPFS : EXT4;
  const device = role === 'runtime' ? 27n : 65024n;
  const answer = {
    kind: 'there',
    at: path,
    afterMs: 0.02,
    type,
    device,
    totalBytes: 8n * GIB,
    availableBytes: GIB,
    refused: undefined,
    toMakeBytes: 0n,
  } as const;
  return { role, path, isReported: false, answer: { ...answer, ...facts } };
}

const check = (directories: readonly DirectoryFacts[]) =>
  filesystemsCheck.judge({ filesystems: { directories, timeoutMs: 1000 }, workloads: workloadFacts() });

test.each<[rule: string, directory: DirectoryFacts, status: CheckStatus, summary: RegExp]>([
  ['nodefs', directory('nodefs'), 'ok', /^\/: ext4, 1GiB of 8GiB available$/],
  ['nodefs may be anything', directory('nodefs', { type: FUSE }), 'ok', /fuse/],
  ['imagefs that is not there yet, which lint judges', directory('imagefs', { at: '/' }), 'ok', /does not exist, below \/\): ext4/],
  [
    'a filesystem that a runtime reported',
    { ...directory('imagefs'), isReported: true },
    'ok',
    /^\/images, reported by the container runtime: ext4, 1GiB of 8GiB available$/,
  ],
  ['a filesystem that does not answer', { ...directory('nodefs'), answer: undefined }, 'degraded', /did not answer within 1000 ms$/],
  ['a filesystem that does not answer, and that evictd needs', { ...directory('runtime'), answer: undefined }, 'broken', /did not answer/],
  ['statfs fails', { ...directory('nodefs'), answer: { kind: 'error', error: 'EIO' } }, 'degraded', /^\/: EIO$/],
  [
    'a directory without permission',
    { ...directory('runtime'), answer: { kind: 'error', error: 'EACCES (permission denied)' } },
    'degraded',
    /^unknown filesystem of \/run\/evictd: EACCES/,
  ],
  ['the state directory', directory('state'), 'ok', /^\/var\/lib\/evictd: ext4/],
  ['a directory that does not exist yet', directory('state', { at: '/var/lib' }), 'ok', /to be created below \/var\/lib/],
  ['a state directory in memory', directory('state', { type: TMPFS }), 'degraded', /a reboot deletes the journal/],
  [
    'a state directory without enough space for the journal',
    directory('state', { availableBytes: 16n * MIB - 1n }),
    'degraded',
    /not enough space for the journal/,
  ],
  ['a state directory that may hang', directory('state', { type: FUSE }), 'degraded', /it may hang/],
  [
    'a state directory that is not writable, so that the journal stays in the ring',
    directory('state', { refused: 'EROFS' }),
    'degraded',
    /not writable \(EROFS\)/,
  ],
  ['the runtime directory', directory('runtime'), 'ok', /^\/run\/evictd: tmpfs/],
  [
    'a runtime directory that is not writable, so that evictd would not start',
    directory('runtime', { refused: 'EACCES' }),
    'broken',
    /EACCES/,
  ],
  ['a runtime directory on a disk', directory('runtime', { type: EXT4 }), 'degraded', /not on tmpfs/],
  ['just enough for ring and state', directory('runtime', { availableBytes: 5n * MIB, toMakeBytes: 5n * MIB }), 'ok', /5MiB of/],
  [
    'a runtime directory without enough space for ring and state',
    directory('runtime', { availableBytes: 5n * MIB - 1n, toMakeBytes: 5n * MIB }),
    'degraded',
    /need 5MiB: without them/,
  ],
  ['a runtime directory that already has ring and state', directory('runtime', { availableBytes: 64n << 10n }), 'ok', /64KiB of/],
  [
    'a runtime directory with ring and state, without space for other files',
    directory('runtime', { availableBytes: (64n << 10n) - 1n }),
    'degraded',
    /files that evictd publishes/,
  ],
  ['a type without a name here', directory('nodefs', { type: 0x1234 }), 'ok', /type 0x1234/],
])('%s', (_rule, facts, status, summary) => {
  expectCheck(check([facts])[0], `filesystem.${facts.role}`, status, summary);
});

test('directories on one filesystem are reported as such', () => {
  const checks = check([directory('nodefs'), directory('state'), directory('runtime')]);
  expect(checks.map(({ details }) => details.sameAs)).toEqual(['state', 'nodefs', null]);
  expect(checks[1]?.summary).toMatch(/, same filesystem as nodefs$/);
});
