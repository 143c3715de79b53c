import { describe, expect, test } from 'vitest';
import type { Layout } from '../../../src/core/signal/layout.js';
import { localStorageEviction, type StorageBreach } from '../../../src/core/disk/storage-limit.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { container, containerStats, emptyDir, files, machine, pod, resources, volumeStats } from '../usage.js';
import { breachCounter } from '../../vectors/kubelet/evictions-counter.js';

const breaches = (usages: readonly WorkloadUsage[], layout: Layout = 'single'): string[] =>
  localStorageEviction(usages, layout).map(({ usage, breach }) => `${usage.workload.name}: ${textOf(breach)}`);

function textOf(breach: StorageBreach): string {
  switch (breach.kind) {
    case 'emptyDir':
      return `emptyDir ${breach.volume} ${breach.limit.text}`;
    case 'pod':
      return `pod ${breach.limit.text}`;
    case 'container':
      return `container ${breach.container} ${breach.limit.text}`;
  }
}

describe('the size limit of an emptyDir', () => {
  const using = (limit: string | undefined, medium: string, ...used: (bigint | undefined)[]): WorkloadUsage =>
    pod('p', { pod: { volumes: [emptyDir('v', limit, medium)] }, stats: { volumes: used.map((bytes) => volumeStats('v', bytes)) } });

  test.each<[rule: string, usage: WorkloadUsage, expected: string[]]>([
    ['equal to it is allowed', using('1Ki', '', 1024n), []],
    ['one byte above the limit', using('1Ki', '', 1025n), ['p: emptyDir v 1Ki']],
    ['thousandths of a byte below the limit', using('1024500m', '', 1024n), []],
    ['thousandths of a byte above the limit', using('1024500m', '', 1025n), ['p: emptyDir v 1024500m']],
    ['an emptyDir in memory has a limit, too', using('1Ki', 'Memory', 1025n), ['p: emptyDir v 1Ki']],
    ['a limit of zero is not a limit', using('0', '', 1025n), []],
    ['a limit below zero is not a limit', using('-1', '', 1025n), []],
    ['none', using(undefined, '', 1025n), []],
    ['the last of two statistics of one name counts, and is within the limit', using('1Ki', '', 1025n, 1n), []],
    ['the last of two statistics of one name counts, and is over the limit', using('1Ki', '', 1n, 1025n), ['p: emptyDir v 1Ki']],
    ['statistics without a number', using('1Ki', '', undefined), []],
    ['the volume has no statistics', using('1Ki', ''), []],
  ])('%s', (_rule, usage, expected) => {
    expect(breaches([usage])).toEqual(expected);
  });

  test('the first in the spec is named if two volumes exceed their limits', () => {
    const volumes = [emptyDir('a', '1'), emptyDir('b', '1')];
    const usage = pod('p', { pod: { volumes }, stats: { volumes: [volumeStats('b', 9n), volumeStats('a', 9n)] } });
    expect(breaches([usage])).toEqual(['p: emptyDir a 1']);
  });
});

describe('the limits of all containers together', () => {
  const using = (limit: string, used: bigint | undefined): WorkloadUsage =>
    pod('p', { pod: { limits: resources({ 'ephemeral-storage': limit }) }, stats: { ephemeralStorageBytes: used } });

  test.each<[rule: string, usage: WorkloadUsage, expected: string[]]>([
    ['equal to it is allowed', using('1Ki', 1024n), []],
    ['one byte above the sum of the limits', using('1Ki', 1025n), ['p: pod 1Ki']],
    ['zero is a limit: anything exceeds it', using('0', 1n), ['p: pod 0']],
    ['zero, and nothing used', using('0', 0n), []],
    ['the usage is not known', using('1Ki', undefined), []],
  ])('%s', (_rule, usage, expected) => {
    expect(breaches([usage])).toEqual(expected);
  });
});

describe('the limit of one container', () => {
  const limited = (name: string, limit: string, kind: 'regular' | 'init' | 'sidecar' = 'regular') =>
    container(name, {}, { kind, limits: resources({ 'ephemeral-storage': limit }) });
  const written = containerStats('a', { rootfs: files(1000n), logs: files(25n) });

  test.each<[rule: string, layout: Layout, limit: string, expected: string[]]>([
    ['single: writable layer and logs, equal', 'single', '1025', []],
    ['single: writable layer and logs, above', 'single', '1024', ['p: container a 1024']],
    ['imagefs: logs alone, equal', 'imagefs', '25', []],
    ['imagefs: logs alone, above', 'imagefs', '24', ['p: container a 24']],
    ['split: logs alone, equal', 'split', '25', []],
    ['split: logs alone, above', 'split', '24', ['p: container a 24']],
    ['a limit of zero is not a limit', 'single', '0', []],
  ])('%s', (_rule, layout, limit, expected) => {
    expect(breaches([pod('p', { pod: { containers: [limited('a', limit)] }, stats: { containers: [written] } })], layout)).toEqual(
      expected,
    );
  });

  test.each(['init', 'sidecar'] as const)('the limit of %s is not checked', (kind) => {
    const usage = pod('p', { pod: { containers: [limited('a', '1', kind)] }, stats: { containers: [written] } });
    expect(breaches([usage])).toEqual([]);
  });

  test('the first in the statistics is named if two containers exceed their limits', () => {
    const containers = [limited('b', '1'), limited('a', '1')];
    const usage = pod('p', { pod: { containers }, stats: { containers: [written, { ...written, name: 'b' }] } });
    expect(breaches([usage])).toEqual(['p: container a 1']);
  });
});

test('a volume is named before its pod and its containers, and each pod once, in the order given', () => {
  const limits = resources({ 'ephemeral-storage': '1' });
  const containers = [container('a', {}, { limits })];
  const stats = { ephemeralStorageBytes: 9n, containers: [containerStats('a', { logs: files(9n) })], volumes: [volumeStats('v', 9n)] };
  expect(
    breaches([
      pod('third', { pod: { containers }, stats }),
      pod('first', { pod: { containers, limits, volumes: [emptyDir('v', '1')] }, stats }),
      pod('within', { pod: { limits: resources({ 'ephemeral-storage': '9' }) }, stats }),
      pod('second', { pod: { containers, limits }, stats }),
    ]),
  ).toEqual(['third: container a 1', 'first: emptyDir v 1', 'second: pod 1']);
});

test('neither a pod without statistics nor a machine workload exceeds a limit', () => {
  const limits = resources({ 'ephemeral-storage': '0' });
  expect(breaches([pod('unknown', { pod: { limits }, stats: null }), machine('m', 9n)])).toEqual([]);
});

test('the resource that storage limits are counted under', () => {
  const limit = { text: '1', nano: 1_000_000_000n, format: 'DecimalSI' } as const;
  expect(breachCounter({ kind: 'emptyDir', volume: 'v', limit })).toBe('emptydirfs.limit');
  expect(breachCounter({ kind: 'pod', limit })).toBe('ephemeralpodfs.limit');
  expect(breachCounter({ kind: 'container', container: 'c', limit })).toBe('ephemeralcontainerfs.limit');
});
