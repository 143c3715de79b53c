import { expect, test } from 'vitest';
import { clockCheck, kernelLogCheck } from '../../../../src/features/doctor/checks/kernel.js';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { KernelLogFacts, SubjectFacts } from '../../../../src/host/facts.js';
import { expectCheck, subjectFacts, unit, withoutCapabilities } from '../support.js';

const refused = '/dev/kmsg: EPERM (operation not permitted)';
const running = { kind: 'running' } as const;

test.each<[rule: string, log: Partial<KernelLogFacts>, subject: Partial<SubjectFacts>, status: CheckStatus, summary: RegExp]>([
  ['the kernel log was opened', {}, {}, 'ok', /is readable/],
  ['the kernel log cannot be opened', { refused }, {}, 'degraded', /^cannot read OOM kills from \/dev\/kmsg: \/dev\/kmsg: EPERM/],
  ['refused to this process, but the running evictd can', { refused, restricted: true }, running, 'ok', /running evictd can/],
  [
    'the running evictd has no CAP_SYSLOG',
    { restricted: true },
    { ...running, effective: withoutCapabilities(34n) },
    'degraded',
    /lacks CAP_SYSLOG/,
  ],
  [
    'the running evictd has no CAP_SYSLOG, and needs none',
    { restricted: false },
    { ...running, effective: 0n },
    'ok',
    /running evictd can/,
  ],
])('%s', (_rule, log, subject, status, summary) => {
  expectCheck(
    kernelLogCheck.judge({
      service: unit(),
      kernelLog: { refused: undefined, restricted: true, ...log },
      subject: subjectFacts(subject),
    })[0],
    'kernel.log',
    status,
    summary,
  );
});

test('the check of the clock shows the boot ID', () => {
  expectCheck(clockCheck.judge({ clock: { bootId: '65b1', bootTimeNs: 5_400_000_000n } })[0], 'kernel.clock', 'ok', /^boot ID 65b1$/);
  expect(clockCheck.judge({ clock: { bootId: '65b1', bootTimeNs: 5_400_000_000n } })[0]?.details).toEqual({ bootId: '65b1', upSeconds: 5 });
  expectCheck(clockCheck.judge({ clock: { bootId: undefined, bootTimeNs: undefined } })[0], 'kernel.clock', 'degraded', /^cannot read/);
});
