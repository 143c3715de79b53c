import { expect, test } from 'vitest';
import { capabilitiesCheck } from '../../../../src/features/doctor/checks/process.js';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { SubjectFacts } from '../../../../src/host/facts.js';
import { expectCheck, subjectFacts, unit, withoutCapabilities as without } from '../support.js';

const unlimited = { openFiles: 1024, lockedBytes: Infinity };

test.each<[rule: string, facts: Partial<SubjectFacts>, status: CheckStatus, summary: RegExp, fix: RegExp]>([
  ['root has all', {}, 'ok', /^this process has all/, /^$/],
  [
    'CAP_SYS_RESOURCE is missing',
    { effective: without(24n) },
    'degraded',
    /lacks CAP_SYS_RESOURCE \(for pressure windows/,
    /^grant root CAP_SYS_RESOURCE/,
  ],
  [
    'CAP_KILL is missing, so evictd cannot end processes of other users',
    { effective: without(5n) },
    'broken',
    /lacks CAP_KILL/,
    /CAP_KILL/,
  ],
  [
    'the user is not root',
    { uid: 1000, effective: 0n },
    'broken',
    /CAP_KILL.*CAP_DAC_OVERRIDE.*CAP_SYS_RESOURCE.*CAP_SYSLOG.*CAP_SYS_PTRACE.*CAP_IPC_LOCK/,
    /^run evictd as root$/,
  ],
  [
    'the capabilities of the running evictd count',
    { kind: 'running', effective: without(34n) },
    'degraded',
    /^the running evictd \(process 4711\)/,
    /CapabilityBoundingSet/,
  ],
  ['CAP_IPC_LOCK is missing', { effective: without(14n) }, 'degraded', /CAP_IPC_LOCK/, /CAP_IPC_LOCK/],
  [
    'LimitMEMLOCK=infinity stands for it, as the installed service has it',
    { effective: without(14n), limits: unlimited },
    'ok',
    /has all/,
    /^$/,
  ],
  [
    'the capabilities cannot be read',
    { effective: { unseen: '/proc/4711/status: ENOENT' } },
    'degraded',
    /^unknown capabilities of evictd: .*ENOENT/,
    /as root/,
  ],
])('%s', (_rule, facts, status, summary, fix) => {
  const check = capabilitiesCheck.judge({ service: unit(), subject: subjectFacts(facts) })[0];
  expectCheck(check, 'process.capabilities', status, summary);
  expect(check?.fix ?? '').toMatch(fix);
});
