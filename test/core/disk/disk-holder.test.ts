import { withDisks } from '../../../src/core/rank/candidate-usages.js';
import { expect, test } from 'vitest';
import { holderJson, holderLine, holderText } from '../../../src/core/disk/disk-holder.js';
import { type DeletedFilesHolder, type DirectoryHolder, type ImageHolder } from '../../../src/core/disk/filesystem-holders.js';
import type { Effect } from '../../../src/core/decide/effect.js';
import { alertRecord } from '../../../src/monitor/effects/alert.js';
import { decisionRecord } from '../../../src/journal/records/decision-record.js';
import { candidates, Mi, policy, SECOND, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

const nginx = { pid: 12, name: 'nginx', cgroup: '/web' };
const holder = (overrides: Partial<DeletedFilesHolder> = {}): DeletedFilesHolder => ({
  kind: 'deleted-files',
  holds: { bytes: 3n * Mi, inodes: 1n },
  processes: [nginx],
  count: 1,
  ...overrides,
});

test.each<[given: DeletedFilesHolder, text: string]>([
  [holder(), 'nginx (pid 12) of /web holds 3MiB in 1 deleted file'],
  [holder({ holds: { bytes: 3n * Mi, inodes: 2n }, count: 3 }), 'nginx (pid 12) of /web and 2 more hold 3MiB in 2 deleted files'],
  [
    holder({ processes: [{ pid: 12, name: 'a\u001b[2J\n', cgroup: '/b\u009b' }] }),
    'a\\x1b[2J\\x0a (pid 12) of /b\\u009b holds 3MiB in 1 deleted file',
  ],
  [holder({ processes: [{ pid: 12, name: '', cgroup: undefined }] }), ' (pid 12) holds 3MiB in 1 deleted file'],
])('the text of a disk holder: %#', (given, text) => {
  expect(holderText(given)).toBe(text);
});

test('a disk holder in JSON', () => {
  const both = holder({ processes: [nginx, { pid: 13, name: 'x', cgroup: undefined }], count: 2 });
  expect(holderJson(both)).toEqual({
    kind: 'deleted-files',
    bytes: 3 * 1024 * 1024,
    inodes: 1,
    processes: [nginx, { pid: 13, name: 'x' }],
    processCount: 2,
  });
});

const directory = (overrides: Partial<DirectoryHolder> = {}): DirectoryHolder => ({
  kind: 'directory',
  path: '/srv/data',
  holds: { bytes: 3n * Mi, inodes: 7n },
  besidesNamed: false,
  ageNs: 59n * SECOND,
  isPartial: false,
  ...overrides,
});

test.each<[rule: string, given: Partial<DirectoryHolder>, line: string]>([
  ['a directory', {}, 'directory: /srv/data holds 3MiB in 7 inodes'],
  ['below /var/log', { path: '/var/log/journal' }, 'logs in /var/log/journal hold 3MiB in 7 inodes'],
  ['a directory of which other files begin with the same name', { path: '/var/logger' }, 'directory: /var/logger holds 3MiB in 7 inodes'],
  ['besides others', { besidesNamed: true }, 'directory: /srv/data holds 3MiB in 7 inodes outside its listed subdirectories'],
  ['a directory that was not read completely', { isPartial: true }, 'directory: /srv/data holds at least 3MiB in 7 inodes'],
  ['a while ago', { ageNs: 60n * SECOND + 1n }, 'directory: /srv/data holds 3MiB in 7 inodes, 1m0s ago'],
  ['a name for terminals', { path: '/srv/\u001b[31m\nred' }, 'directory: /srv/\\x1b[31m\\x0ared holds 3MiB in 7 inodes'],
])('%s', (_rule, given, line) => {
  expect(holderLine(directory(given))).toBe(line);
});

test('a directory as a disk holder in JSON', () => {
  expect(holderJson(directory({ path: '/var/log', ageNs: 1_500_000_000n }))).toEqual({
    kind: 'directory',
    path: '/var/log',
    logs: true,
    bytes: 3 * 1024 * 1024,
    inodes: 7,
    besidesNamed: false,
    partial: false,
    measuredSecondsAgo: 1.5,
  });
});

test('an image in use as a disk holder', () => {
  const image: ImageHolder = { kind: 'image', name: 'docker.io/library/web:1', holds: { bytes: 3n * Mi, inodes: 0n } };
  expect(holderLine(image)).toBe('image docker.io/library/web:1, in use, holds 3MiB');
  expect(holderJson(image)).toEqual({ kind: 'image', name: 'docker.io/library/web:1', inUse: true, bytes: 3 * 1024 * 1024 });
});

const amount = (bytes: bigint): { bytes: bigint; inodes: bigint } => ({ bytes, inodes: 1n });
const effects = (signal: 'nodefs.available' | 'memory.available', freesBytes: bigint): Effect[] => {
  const found = withDisks(
    candidates([workload('a'), 1n]),
    () => ({ nodefs: { uses: amount(freesBytes), frees: amount(freesBytes), atNs: 0n } }),
    { nodefs: { deleted: [holder()] } },
  );
  return new Timeline(policy([threshold(signal, '100Mi')]), found).at(0, { [signal]: 0n });
};
const alerts = (given: readonly Effect[]): Extract<Effect, { kind: 'alert' }>[] =>
  given.flatMap((effect) => (effect.kind === 'alert' ? [effect] : []));
const decisions = (given: readonly Effect[]) => given.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []));

test('an alert without an evictable workload names what holds most of the disk', () => {
  const [alert] = alerts(effects('nodefs.available', 0n));
  const record = alert && alertRecord(alert);
  expect(record).toMatchObject({ alert: 'nothing-evictable', holders: [{ bytes: 3 * 1024 * 1024 }] });
  expect(record?.message).toMatch(
    /no evictable workload would free anything there; nginx \(pid 12\) of \/web holds 3MiB in 1 deleted file$/,
  );
});

test('a decision for a disk names what holds most of the disk, and a decision for memory does not', () => {
  const [disk] = decisions(effects('nodefs.available', 10n * Mi));
  expect(disk && decisionRecord(disk, { source: 'tick', atNs: 0n })).toMatchObject({ holders: [{ inodes: 1 }] });
  const [memory] = decisions(effects('memory.available', Mi));
  expect(memory && decisionRecord(memory, { source: 'tick', atNs: 0n })).not.toHaveProperty('holders');
});
