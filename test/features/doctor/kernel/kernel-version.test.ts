import { expect, test } from 'vitest';
import { kernelVersionCheck } from '../../../../src/features/doctor/checks/kernel.js';
import type { KernelFacts } from '../../../../src/host/facts.js';

const all = { pidfd: true, 'cgroup.kill': true, process_mrelease: true };

test.each<[rule: string, features: KernelFacts['features'], status: string, summary: RegExp]>([
  ['every feature', all, 'ok', /^Linux 6\.1\.0: pidfd, cgroup\.kill, process_mrelease$/],
  [
    'what could not be tried is neither there nor missing',
    { ...all, 'cgroup.kill': null },
    'ok',
    /^Linux 6\.1\.0: pidfd, process_mrelease$/,
  ],
  [
    'no cgroup.kill',
    { ...all, 'cgroup.kill': false },
    'degraded',
    /lacks cgroup\.kill \(Linux 5\.14\): evictd ends a cgroup process by process$/,
  ],
  ['no process_mrelease', { ...all, process_mrelease: false }, 'degraded', /lacks process_mrelease \(Linux 5\.15\)/],
  [
    'no pidfd: evictd cannot end processes',
    { pidfd: false, 'cgroup.kill': false, process_mrelease: false },
    'broken',
    /lacks pidfd \(Linux 5\.3\)/,
  ],
])('%s', (_rule, features, status, summary) => {
  const check = kernelVersionCheck.judge({ kernel: { release: '6.1.0', features } })[0];
  expect(check).toMatchObject({ id: 'kernel.version', status, details: { release: '6.1.0', features } });
  expect(check?.summary).toMatch(summary);
});

test('the fix names the version that has all that is missing', () => {
  expect(
    kernelVersionCheck.judge({ kernel: { release: '5.4.0', features: { ...all, 'cgroup.kill': false, process_mrelease: false } } })[0]?.fix,
  ).toMatch(/^boot Linux 5\.15 or later/);
});
