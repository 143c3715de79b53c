import { expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { rank } from '../../../src/core/rank/rank.js';
import { containerStats, files, pod } from '../usage.js';

const Gi = 1024n ** 3n;

/**
 * A million files with a request for 1Gi of storage; beside it 12 files without a request.
 */
const usages = [
  pod('million-files', {
    requests: { ephemeralStorage: Gi },
    stats: { containers: [containerStats('app', { rootfs: files(Gi / 2n, 1_000_000n) })] },
  }),
  pod('twelve-files', { stats: { containers: [containerStats('app', { rootfs: files(4096n, 12n) })] } }),
];

const order = (on: boolean): string[] =>
  rank('nodefs.inodesFree', 'single', usages, { ...departuresOf('kubelet'), 'inode-ranking': on }).map(({ workload }) => workload.name);

test('when inodes run out the kubelet subtracts 1Gi from a million inodes, and evicts the pod with 12 of them', () => {
  expect(order(false)).toEqual(['twelve-files', 'million-files']);
});

test('with inode-ranking evictd evicts the pod with a million inodes', () => {
  expect(order(true)).toEqual(['million-files', 'twelve-files']);
});

test('inode-ranking is the only difference between the profiles here', () => {
  const { 'inode-ranking': _, ...others } = departuresOf('evictd');
  const names = rank('nodefs.inodesFree', 'single', usages, { ...others, 'inode-ranking': false }).map(({ workload }) => workload.name);
  expect(names).toEqual(order(false));
});

test('with inode-ranking a request named inodes is subtracted instead of a request for bytes', () => {
  const asking = pod('asking', {
    requests: { inodes: 999_990n },
    stats: { containers: [containerStats('app', { rootfs: files(1n, 1_000_000n) })] },
  });
  const [, twelve] = usages;
  const departures = departuresOf('evictd');
  expect(rank('nodefs.inodesFree', 'single', twelve ? [asking, twelve] : [], departures).map(({ workload }) => workload.name)).toEqual([
    'twelve-files',
    'asking',
  ]);
});
