import { expect, test } from 'vitest';
import { lintAllocatable } from '../../../../src/config/lint/thresholds/allocation.js';
import { threshold } from '../../../core/support.js';
import { subject } from '../support.js';

const own = [threshold('allocatableMemory.available', '100Mi')];

test.each<[rule: string, cgroup: string, source: string, found: string | undefined]>([
  ['the cgroup itself', '/pods', '/pods', undefined],
  ['the same cgroup is written otherwise', '/pods/', 'pods', undefined],
  ['below it', '/pods', '/pods/batch', undefined],
  ['the cgroup is the root', '/', '/batch', undefined],
  ['beside it', '/pods', '/batch', 'the workloads of /batch are outside allocatable.cgroup (/pods)'],
  ['only the beginning of the name is the same', '/pods', '/podsandmore', 'the workloads of /podsandmore are outside'],
  ['above it', '/a/pods', '/a', 'some workloads of /a are outside allocatable.cgroup (/a/pods)'],
])('%s', (_rule, cgroup, source, found) => {
  const looked = subject(own, { workloads: [{ cgroup: source }], allocatable: { cgroup, capacity: 1n } });
  const findings = lintAllocatable(looked);
  expect(findings).toHaveLength(found === undefined ? 0 : 1);
  if (found !== undefined) expect(findings[0]?.message).toContain(found);
});

test.each<[rule: string, slices: readonly string[], found: readonly string[]]>([
  ['the slice itself', ['pods.slice'], []],
  ['a slice below', ['pods-a.slice'], []],
  ['one of two units', ['pods.slice', 'batch.slice'], ['the workloads of batch.slice are outside allocatable.cgroup (/pods.slice)']],
])('units in allocatable memory: %s', (_rule, slices, found) => {
  const looked = subject(own, {
    workloads: [{ systemd: { slices, units: ['a.service'] } }],
    allocatable: { cgroup: '/pods.slice', capacity: 1n },
  });
  expect(lintAllocatable(looked).map(({ message }) => message.slice(0, found[0]?.length))).toEqual(found);
});

test('allocatable memory is not judged without the signal, or without the cgroup', () => {
  const beside = { workloads: [{ cgroup: '/batch' }] };
  expect(
    lintAllocatable(subject([threshold('memory.available', '1Gi')], { ...beside, allocatable: { cgroup: '/pods', capacity: 1n } })),
  ).toEqual([]);
  expect(lintAllocatable(subject(own, beside))).toEqual([]);
});
