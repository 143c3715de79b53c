import { expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../../src/core/workload/cgroup.js';
import { pidsSource } from '../../../../src/host/linux/cgroup/pids.js';

const hierarchy: CgroupHierarchy = { version: 1, controller: 'pids', mountPoint: '/sys/fs/cgroup/pids', root: '/' };
const machine = [32768, 15000, 1000]; // pid_max, threads-max, tasks

test.each<[rule: string, levels: number[], available: bigint, capacity: bigint]>([
  ['the machine: the smaller of pid_max and threads-max', [], 14000n, 15000n],
  ['the node has less left', [100, 40, Infinity, 900], 60n, 100n],
  ['a cgroup above has less left, though its limit is larger', [100, 40, 1000, 990], 10n, 1000n],
  ["without a limit the machine's process IDs are available", [Infinity, 40, Infinity, 900], 14000n, 15000n],
  ["without a pids controller the machine's process IDs are available", [NaN, NaN, NaN, NaN], 14000n, 15000n],
  ['more processes than the limit are 0 available, because the limit may have been lowered', [100, 140, 1000, 1], 0n, 100n],
])('%s', (_rule, levels, available, capacity) => {
  const source = pidsSource(levels.length === 0 ? undefined : { hierarchy, path: '/node' });
  const padded = levels.slice(0, 2 * (source.files.length - 3));
  const errors = new Int32Array(source.files.length);
  padded.forEach((value, index) => (errors[machine.length + index] = Number.isNaN(value) ? 2 : 0));
  expect(source.read(Float64Array.from([...machine, ...padded]), errors)).toMatchObject({ narrowest: { available, capacity } });
});

test('every cgroup with a limit is listed with its file', () => {
  const source = pidsSource({ hierarchy, path: '/node/inner' });
  const { length } = source.files;
  const values = [...machine, 100, 40, Infinity, 40, 1000, 990].slice(0, length);
  const reading = source.read(Float64Array.from(values), new Int32Array(length));
  expect('levels' in reading && reading.levels.map(({ available, used }) => [available, used.files[0]?.path])).toEqual([
    [14000n, '/proc/loadavg'],
    [60n, '/sys/fs/cgroup/pids/node/inner/pids.current'],
    [10n, '/sys/fs/cgroup/pids/pids.current'],
  ]);
});

test('without the values of the machine there is no reading', () => {
  const source = pidsSource(undefined);
  expect(source.read(Float64Array.from([32768, NaN, 1]), Int32Array.from([0, 13, 0]))).toEqual({
    missing: '/proc/sys/kernel/threads-max: EACCES (permission denied)',
  });
});
