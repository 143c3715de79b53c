import { expect, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { ShutdownFacts } from '../../../../src/features/doctor/machine-facts.js';
import { shutdownDelayCheck } from '../../../../src/features/doctor/checks/node.js';
import { expectCheck, unit } from '../support.js';

const seconds = (count: number): bigint => BigInt(count) * 1_000_000_000n;
const known = (count: number): ShutdownFacts['delay'] => ({ kind: 'known', maxNs: seconds(count) });

test.each<[rule: string, facts: ShutdownFacts, status: CheckStatus, summary: RegExp]>([
  ['no grace period is configured', { requestedNs: 0n, delay: undefined }, 'ok', /^no graceful shutdown/],
  ['exactly as long', { requestedNs: seconds(30), delay: known(32) }, 'ok', /at most 32s .* needs 30s, and evictd 2s more$/],
  [
    'the delay leaves no time for evictd itself',
    { requestedNs: seconds(30), delay: known(30) },
    'degraded',
    /needs 30s, and evictd 2s more: then systemd stops the remaining/,
  ],
  [
    'the delay is too short',
    { requestedNs: seconds(30), delay: known(5) },
    'degraded',
    /at most 5s .* needs 30s, .*: then systemd stops the remaining/,
  ],
  [
    'logind does not run',
    { requestedNs: seconds(30), delay: { kind: 'unknown', reason: 'logind does not run' } },
    'degraded',
    /logind does not run/,
  ],
])('the check shutdown.delay: %s', (_rule, facts, status, summary) => {
  expectCheck(shutdownDelayCheck.judge({ service: unit(), shutdown: facts })[0], 'shutdown.delay', status, summary);
});

test('a drop-in that overrides that of evictd is named, without another fix', () => {
  const setIn = '/usr/lib/systemd/logind.conf.d/zzz.conf';
  const delay = { kind: 'known', maxNs: seconds(5), setIn } as const;
  const [check] = shutdownDelayCheck.judge({ service: unit(), shutdown: { requestedNs: seconds(30), delay } });
  expect([check?.summary, check?.fix]).toEqual([
    expect.stringContaining(`(InhibitDelayMaxSec of ${setIn})`),
    `set InhibitDelayMaxSec=32 in ${setIn}, which sorts after zz-evictd.conf and wins, and systemctl kill --signal=HUP systemd-logind`,
  ]);
});

test('the fix for a delay that is too short has the value to write', () => {
  expect(shutdownDelayCheck.judge({ service: unit(), shutdown: { requestedNs: seconds(30), delay: known(5) } })[0]?.fix).toContain(
    'InhibitDelayMaxSec=32 in /etc/systemd/logind.conf.d/',
  );
});
