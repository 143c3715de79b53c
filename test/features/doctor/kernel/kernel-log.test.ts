import { expect, test } from 'vitest';
import { checkClock } from '../../../../src/features/doctor/kernel/clock.js';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { KernelLogFacts } from '../../../../src/host/facts/kernel-facts.js';
import type { SubjectFacts } from '../../../../src/host/facts/process-facts.js';
import { checkKernelLog } from '../../../../src/features/doctor/kernel/kernel-log.js';
import { expectCheck, subjectFacts, withoutCapabilities } from '../support.js';

const refused = '/dev/kmsg: EPERM (operation not permitted)';
const running = { kind: 'running' } as const;

test.each<[rule: string, log: Partial<KernelLogFacts>, subject: Partial<SubjectFacts>, status: CheckStatus, summary: RegExp]>([
  ['it was opened', {}, {}, 'ok', /is readable/],
  ['it was refused', { refused }, {}, 'degraded', /^cannot read OOM kills from \/dev\/kmsg: \/dev\/kmsg: EPERM/],
  ['refused to this process, but the running evictd can', { refused, restricted: true }, running, 'ok', /running evictd can/],
  [
    'the running one has no CAP_SYSLOG',
    { restricted: true },
    { ...running, effective: withoutCapabilities(34n) },
    'degraded',
    /lacks CAP_SYSLOG/,
  ],
  ['… and needs none', { restricted: false }, { ...running, effective: 0n }, 'ok', /running evictd can/],
])('%s', (_rule, log, subject, status, summary) => {
  expectCheck(checkKernelLog({ refused: undefined, restricted: true, ...log }, subjectFacts(subject)), 'kernel.log', status, summary);
});

test('state is dated with the boot', () => {
  expectCheck(checkClock({ bootId: '65b1', bootTimeNs: 5_400_000_000n }), 'kernel.clock', 'ok', /^boot ID 65b1$/);
  expect(checkClock({ bootId: '65b1', bootTimeNs: 5_400_000_000n }).details).toEqual({ bootId: '65b1', upSeconds: 5 });
  expectCheck(checkClock({ bootId: undefined, bootTimeNs: undefined }), 'kernel.clock', 'degraded', /^cannot read/);
});
