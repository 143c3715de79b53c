import { describe, expect, test } from 'vitest';
import type { Signal } from '../../src/core/signal/signal.js';
import { DocumentError } from '../../src/errors.js';
import { makeSignalObservations, type NodeOs } from '../../src/kubernetes/summary.js';

const TIME = '2026-01-01T00:01:00Z';
const TIME_NS = 1767225660n * 1_000_000_000n;
const MAX = 2n ** 64n - 1n;

/** What a summary with this node says about a signal: an observation, or why there is none. */
function reading(signal: Signal, node: unknown, os: NodeOs = 'linux'): unknown {
  const { observed, missing } = makeSignalObservations({ node, pods: [] }, os);
  return observed.get(signal) ?? missing.get(signal);
}

const memory = (stats: Readonly<Record<string, unknown>>) => ({ memory: { time: TIME, ...stats } });

describe('memory in the summary', () => {
  test('has the sum of available and working set as its capacity', () => {
    expect(reading('memory.available', memory({ availableBytes: 3, workingSetBytes: 5, usageBytes: 100 }))).toEqual({
      available: 3n,
      capacity: 8n,
      timeNs: TIME_NS,
      source: 'node.memory of the summary',
    });
  });

  test.each<[rule: string, stats: Readonly<Record<string, unknown>>, available: bigint, capacity: bigint]>([
    ['nothing is available', { availableBytes: 0, workingSetBytes: 8 }, 0n, 8n],
    ['more than a double can hold', { availableBytes: 2n ** 53n + 1n, workingSetBytes: 2n ** 53n + 2n }, 2n ** 53n + 1n, 2n ** 54n + 3n],
    ['the largest that is positive', { availableBytes: 2n ** 63n - 1n, workingSetBytes: 0 }, 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['from 2^63 on the number is negative', { availableBytes: 2n ** 63n, workingSetBytes: 0 }, -(2n ** 63n), -(2n ** 63n)],
    ['the largest of all', { availableBytes: MAX, workingSetBytes: 0 }, -1n, -1n],
    ['a sum wraps around', { availableBytes: MAX, workingSetBytes: 6 }, -1n, 5n],
  ])('%s', (_rule, stats, available, capacity) => {
    expect(reading('memory.available', memory(stats))).toMatchObject({ available, capacity });
  });

  test.each<[rule: string, node: unknown, reason: string]>([
    ['there is no node', undefined, 'the summary has no node.memory.availableBytes'],
    ['there is no memory', {}, 'the summary has no node.memory.availableBytes'],
    ['null', { memory: null }, 'the summary has no node.memory.availableBytes'],
    ['availableBytes is missing', memory({ workingSetBytes: 1 }), 'the summary has no node.memory.availableBytes'],
    [
      'the working set is missing, and usage does not replace it',
      memory({ availableBytes: 1, usageBytes: 1 }),
      'the summary has no node.memory.workingSetBytes',
    ],
  ])('is missing: %s', (_rule, node, reason) => {
    expect(reading('memory.available', node)).toBe(reason);
  });
});

describe('memory of the pods in the summary', () => {
  const numbers = { availableBytes: 3, workingSetBytes: 5 };
  const systemContainers = (...containers: readonly unknown[]) => ({ systemContainers: containers });

  test('is that of the system container "pods"', () => {
    expect(reading('allocatableMemory.available', systemContainers({ name: 'kubelet' }, { name: 'pods', ...memory(numbers) }))).toEqual({
      available: 3n,
      capacity: 8n,
      timeNs: TIME_NS,
      source: 'node.systemContainers[1].memory of the summary',
    });
  });

  test.each<[rule: string, node: unknown, reason: string]>([
    [
      'there is no such container',
      systemContainers({ name: 'Pods', ...memory(numbers) }),
      'node.systemContainers of the summary has no "pods"',
    ],
    ['there are no containers', {}, 'node.systemContainers of the summary has no "pods"'],
    [
      'the first container of the name counts, even if it is empty',
      systemContainers({ name: 'pods' }, { name: 'pods', ...memory(numbers) }),
      'the summary has no node.systemContainers[0].memory.availableBytes',
    ],
  ])('is missing: %s', (_rule, node, reason) => {
    expect(reading('allocatableMemory.available', node)).toBe(reason);
  });
});

describe('memory in the summary of Windows', () => {
  const commit = (stats: Readonly<Record<string, unknown>>) => ({
    ...memory({ availableBytes: 1, workingSetBytes: 1 }),
    systemContainers: [{ name: 'windows-global-commit-memory', ...memory(stats) }],
  });

  test('is the commit charge, available and in use', () => {
    expect(reading('memory.available', commit({ availableBytes: 3, usageBytes: 5, workingSetBytes: 9 }), 'windows')).toMatchObject({
      available: 3n,
      capacity: 8n,
    });
  });

  test('is not read on Linux', () => {
    expect(reading('memory.available', commit({ availableBytes: 3, usageBytes: 5 }))).toMatchObject({ available: 1n, capacity: 2n });
  });

  test.each<[rule: string, node: unknown, reason: string]>([
    [
      'the memory of the node does not replace it',
      memory({ availableBytes: 1, workingSetBytes: 1 }),
      'node.systemContainers of the summary has no "windows-global-commit-memory"',
    ],
    ['availableBytes is missing', commit({ usageBytes: 5 }), 'the summary has no node.systemContainers[0].memory.availableBytes'],
    [
      'usageBytes is missing',
      commit({ availableBytes: 3, workingSetBytes: 5 }),
      'the summary has no node.systemContainers[0].memory.usageBytes',
    ],
  ])('is missing: %s', (_rule, node, reason) => {
    expect(reading('memory.available', node, 'windows')).toBe(reason);
  });
});

describe('filesystems in the summary', () => {
  const full = { time: TIME, availableBytes: 3, capacityBytes: 8, usedBytes: 5, inodesFree: 30, inodes: 80, inodesUsed: 50 };
  const node = { fs: full, runtime: { imageFs: { ...full, availableBytes: 4 }, containerFs: { ...full, availableBytes: 5 } } };

  test.each<[signal: Signal, available: bigint, capacity: bigint]>([
    ['nodefs.available', 3n, 8n],
    ['nodefs.inodesFree', 30n, 80n],
    ['imagefs.available', 4n, 8n],
    ['imagefs.inodesFree', 30n, 80n],
    ['containerfs.available', 5n, 8n],
    ['containerfs.inodesFree', 30n, 80n],
  ])('%s', (signal, available, capacity) => {
    expect(reading(signal, node)).toMatchObject({ available, capacity, timeNs: TIME_NS });
  });

  test.each<[rule: string, signal: Signal, without: string, reason: string]>([
    ['bytes without a capacity', 'nodefs.available', 'capacityBytes', 'the summary has no node.fs.capacityBytes'],
    ['bytes without those available', 'nodefs.available', 'availableBytes', 'the summary has no node.fs.availableBytes'],
    ['inodes without a total', 'nodefs.inodesFree', 'inodes', 'the summary has no node.fs.inodes'],
    ['inodes without those free', 'nodefs.inodesFree', 'inodesFree', 'the summary has no node.fs.inodesFree'],
  ])('are missing: %s', (_rule, signal, without, reason) => {
    expect(reading(signal, { fs: { ...full, [without]: undefined } })).toBe(reason);
  });

  test('have inodes also without bytes', () => {
    expect(reading('nodefs.inodesFree', { fs: { inodesFree: 30, inodes: 80 } })).toMatchObject({ available: 30n, timeNs: undefined });
  });

  test('keep an available amount above the capacity', () => {
    expect(reading('nodefs.available', { fs: { ...full, availableBytes: 9 } })).toMatchObject({ available: 9n, capacity: 8n });
  });
});

describe('processes in the summary', () => {
  const rlimit = (maxpid: unknown, curproc: unknown) => ({ rlimit: { time: TIME, maxpid, curproc } });
  test.each<[rule: string, maxpid: unknown, curproc: unknown, available: bigint, capacity: bigint]>([
    ['the limit less those that run', 100, 30, 70n, 100n],
    ['no process id is left', 100, 100, 0n, 100n],
    ['there are more processes than the limit', 100, 150, -50n, 100n],
    ['the largest limit', 2n ** 63n - 1n, 1, 2n ** 63n - 2n, 2n ** 63n - 1n],
    ['these numbers are signed, so that a difference wraps around', -2, 2n ** 63n - 1n, 2n ** 63n - 1n, -2n],
  ])('%s', (_rule, maxpid, curproc, available, capacity) => {
    expect(reading('pid.available', rlimit(maxpid, curproc))).toMatchObject({ available, capacity, timeNs: TIME_NS });
  });

  test.each([
    ['maxpid', rlimit(undefined, 1)],
    ['curproc', rlimit(100, undefined)],
  ])('are missing: %s', (name, node) => {
    expect(reading('pid.available', node)).toBe(`the summary has no node.rlimit.${name}`);
  });
});

test('every signal is observed or missing', () => {
  const { observed, missing } = makeSignalObservations({ pods: null }, 'linux');
  expect([observed.size, missing.size]).toEqual([0, 9]);
});

test.each<[rule: string, time: unknown]>([
  ['absent', undefined],
  ['null', null],
  ['the zero time', '0001-01-01T00:00:00Z'],
])('a time that is %s is ignored', (_rule, time) => {
  expect(reading('memory.available', memory({ availableBytes: 1, workingSetBytes: 1, time }))).toMatchObject({ timeNs: undefined });
});

test.each<[rule: string, summary: unknown, path: string]>([
  ['nothing', null, ''],
  ['a list', [], ''],
  ['an invalid node', { node: 'node-1' }, 'node'],
  ['pods that are not a list', { pods: {} }, 'pods'],
  ['a negative count', { node: memory({ availableBytes: -1 }) }, 'node.memory.availableBytes'],
  ['a broken count', { node: memory({ availableBytes: 0.5 }) }, 'node.memory.availableBytes'],
  ['a count wider than 64 bits', { node: memory({ availableBytes: MAX + 1n }) }, 'node.memory.availableBytes'],
  ['a count in quotes', { node: memory({ availableBytes: '1' }) }, 'node.memory.availableBytes'],
  ['a limit beyond a signed number', { node: { rlimit: { maxpid: 2n ** 63n, curproc: 1 } } }, 'node.rlimit.maxpid'],
  ['an invalid time', { node: memory({ time: '12:00' }) }, 'node.memory.time'],
])('the document is not a summary: %s', (_rule, summary, path) => {
  expect(() => makeSignalObservations(summary, 'linux')).toThrow(
    expect.objectContaining({ constructor: DocumentError, code: 'EVICTD_KUBERNETES_DOCUMENT', path }),
  );
});
