import { expect, test } from 'vitest';
import { kernelVersionCheck } from '../../../../src/features/doctor/checks/kernel.js';
import type { KernelFacts } from '../../../../src/host/facts.js';

const all = { pidfd: true, 'cgroup.kill': true, process_mrelease: true };

test.each<[rule: string, features: KernelFacts['features'], status: string, summary: RegExp]>([
  ['every feature', all, 'ok', /^Linux 6\.1\.0: pidfd, cgroup\.kill, process_mrelease$/],
  [
    'a feature that could not be tried is neither present nor missing',
    { ...all, 'cgroup.kill': null },
    'ok',
    /^Linux 6\.1\.0: pidfd, process_mrelease$/,
  ],
  [
    'cgroup.kill is missing',
    { ...all, 'cgroup.kill': false },
    'degraded',
    /lacks cgroup\.kill \(Linux 5\.14\): evictd ends a cgroup process by process$/,
  ],
  ['process_mrelease is missing', { ...all, process_mrelease: false }, 'degraded', /lacks process_mrelease \(Linux 5\.15\)/],
  [
    'pidfds are missing, so evictd cannot end processes',
    { pidfd: false, 'cgroup.kill': false, process_mrelease: false },
    'broken',
    /lacks pidfd \(Linux 5\.3\)/,
  ],
])('%s', (_rule, features, status, summary) => {
  const check = kernelVersionCheck.judge({ kernel: { release: '6.1.0', features } })[0];
  expect(check).toMatchObject({ id: 'kernel.version', status, details: { release: '6.1.0', features } });
  expect(check?.summary).toMatch(summary);
});

test('the fix names the kernel version with all missing features', () => {
  expect(
    kernelVersionCheck.judge({ kernel: { release: '5.4.0', features: { ...all, 'cgroup.kill': false, process_mrelease: false } } })[0]?.fix,
  ).toMatch(/^boot Linux 5\.15 or later/);
});
