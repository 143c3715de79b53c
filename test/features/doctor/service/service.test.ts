import { describe, expect, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { CgroupProtection, InstanceFacts, ReloadFacts, ServiceFacts, SubjectFacts } from '../../../../src/host/facts.js';
import {
  instanceCheck,
  pauseCheck,
  runningConfigurationCheck,
  runningVersionCheck,
  safeModeCheck,
  serviceUnitCheck,
  watchdogCheck,
} from '../../../../src/features/doctor/checks/service.js';
import type { CrashFacts, PauseFacts } from '../../../../src/features/doctor/machine-facts.js';
import { memoryMinCheck, oomScoreAdjCheck } from '../../../../src/features/doctor/checks/protection.js';
import { cgroupFacts, expectCheck, MIB, subjectFacts, unit } from '../support.js';

const running = { kind: 'running' } as const;

test.each<[rule: string, service: ServiceFacts, status: CheckStatus, summary: RegExp]>([
  ['the unit is as installed', unit(), 'ok', /^evictd\.service is enabled and active$/],
  ['systemd does not run', { kind: 'no systemd' }, 'ok', /not the init/],
  ['systemd does not answer', { kind: 'unseen', unseen: 'systemctl did not answer' }, 'degraded', /did not answer/],
  ['the unit is not installed', unit({ LoadState: 'not-found', ActiveState: 'inactive' }), 'degraded', /is not installed/],
  ['masked', unit({ LoadState: 'masked', ActiveState: 'inactive' }), 'broken', /is masked/],
  ['failed', unit({ ActiveState: 'failed', SubState: 'failed', Result: 'watchdog' }), 'broken', /and failed \(failed\): watchdog$/],
  ['stopped', unit({ ActiveState: 'inactive', SubState: 'dead' }), 'degraded', /and inactive \(dead\)$/],
  ['the unit is activating', unit({ ActiveState: 'activating', SubState: 'auto-restart' }), 'degraded', /activating \(auto-restart\)/],
  ['the unit file has changed', unit({ NeedDaemonReload: 'yes' }), 'degraded', /has changed since/],
  ['the unit does not start at the next boot', unit({ UnitFileState: 'disabled' }), 'degraded', /does not start at the next boot/],
])('the check service.unit: %s', (_rule, service, status, summary) => {
  expectCheck(serviceUnitCheck.judge({ service })[0], 'service.unit', status, summary);
});

describe('the checks service.instance, service.version and service.configuration', () => {
  const here: InstanceFacts = { kind: 'running', pid: 12, version: '1.2.0' };

  test.each<[rule: string, instance: InstanceFacts, service: ServiceFacts, status: CheckStatus, summary: RegExp]>([
    ['one evictd runs', here, unit(), 'ok', /^process 12 guards this node$/],
    ['no evictd runs', { kind: 'none' }, { kind: 'no systemd' }, 'degraded', /^no evictd guards this node now$/],
    ['a dry run', { kind: 'none', dryRun: 12 }, { kind: 'no systemd' }, 'degraded', /^process 12 is a dry run: it evicts nothing$/],
    ['the service was left in a dry run', { kind: 'none', dryRun: 12 }, unit(), 'degraded', /^process 12 is a dry run: /],
    ['the service guards something else', { kind: 'none' }, unit(), 'degraded', /is active, but guards another node/],
    ['the lock of evictd cannot be read', { kind: 'unseen', unseen: 'EACCES' }, unit(), 'degraded', /^unknown whether .*: EACCES/],
  ])('%s', (_rule, instance, service, status, summary) => {
    expectCheck(instanceCheck.judge({ instance, service })[0], 'service.instance', status, summary);
  });

  test.each<[rule: string, version: string | undefined, statuses: readonly CheckStatus[]]>([
    ['the same version', '1.2.0', ['ok']],
    ['the running evictd was started before an upgrade', '1.1.9', ['degraded']],
    ['unknown version', undefined, []],
  ])('%s', (_rule, version, statuses) => {
    const checks = runningVersionCheck.judge({ service: unit(), instance: { ...here, version }, version: '1.2.0' });
    expect(checks.map(({ id, status }) => [id, status])).toEqual(statuses.map((status) => ['service.version', status]));
  });

  const line = '/etc/evictd/config.yaml:3:5: no such key';
  test.each<[rule: string, reload: ReloadFacts, status: CheckStatus, summary: RegExp]>([
    ['no configuration was refused', { refused: undefined }, 'ok', /has accepted its configuration$/],
    [
      'a configuration with one error was refused',
      { refused: [line] },
      'degraded',
      /keeps the previous one: \/etc\/evictd\/config\.yaml:3:5: no such key$/,
    ],
    ['several', { refused: [line, line, line] }, 'degraded', /no such key; and 2 more$/],
    ['the refused configuration cannot be read', { unseen: 'EACCES' }, 'degraded', /^unknown result .*: EACCES/],
  ])('%s', (_rule, reload, status, summary) => {
    expectCheck(runningConfigurationCheck.judge({ instance: here, reload })[0], 'service.configuration', status, summary);
  });

  test.each<[rule: string, crashes: CrashFacts, status: CheckStatus, summary: RegExp]>([
    ['evictd has not crashed', { crashes: 0, limit: 5 }, 'ok', /has not crashed$/],
    ['one crash does not start safe mode', { crashes: 1, limit: 5 }, 'ok', /crashed 1 time in a row, and evicts$/],
    ['the last crash before the safe mode', { crashes: 4, limit: 5 }, 'ok', /crashed 4 times in a row, and evicts$/],
    ['safe mode', { crashes: 5, limit: 5 }, 'broken', /in safe mode and evicts nothing: it has crashed, or the machine .*, 5 times$/],
    ['switched off', { crashes: 9, limit: 0 }, 'ok', /crashed 9 times in a row, and evicts$/],
    ['the count of crashes cannot be read', { unseen: 'EACCES' }, 'degraded', /^unknown whether .*: EACCES/],
  ])('%s', (_rule, crashes, status, summary) => {
    expectCheck(safeModeCheck.judge({ service: unit(), instance: here, crashes })[0], 'service.safe-mode', status, summary);
  });

  test.each<[rule: string, pauses: PauseFacts, status: CheckStatus, summary: RegExp]>([
    ['there is no pause', { messages: [] }, 'ok', /^evictions are not paused$/],
    ['there are two pauses', { messages: ['paused a', 'paused b'] }, 'degraded', /^paused a; paused b$/],
    ['only root may ask evictd', { unseen: 'EACCES', hint: undefined }, 'degraded', /^unknown whether .*: EACCES/],
  ])('%s', (_rule, pauses, status, summary) => {
    expectCheck(pauseCheck.judge({ instance: here, pauses })[0], 'service.pause', status, summary);
  });

  test('have the hint of what did not answer', () => {
    const [check] = pauseCheck.judge({ instance: here, pauses: { unseen: 'no answer for 1.5 s', hint: 'see journalctl -u evictd' } });
    expect(check?.fix).toBe('see journalctl -u evictd');
  });

  test('exist neither for the version nor for the configuration if evictd does not run', () => {
    expect(runningVersionCheck.judge({ service: unit(), instance: { kind: 'none' }, version: '1.2.0' })).toEqual([]);
    expect(runningConfigurationCheck.judge({ instance: { kind: 'none' }, reload: { refused: undefined } })).toEqual([]);
    expect(safeModeCheck.judge({ service: unit(), instance: { kind: 'none' }, crashes: { crashes: 5, limit: 5 } })).toEqual([]);
    expect(pauseCheck.judge({ instance: { kind: 'none' }, pauses: { messages: ['paused'] } })).toEqual([]);
  });
});

test.each<[rule: string, service: ServiceFacts, status: CheckStatus | undefined, summary: RegExp]>([
  ['the watchdog is as installed', unit(), 'ok', /^30s, Restart=always$/],
  ['without', unit({ WatchdogUSec: '0' }), 'degraded', /no watchdog/],
  ['infinity also means none', unit({ WatchdogUSec: 'infinity' }), 'degraded', /no watchdog/],
  ['the service is not restarted', unit({ Restart: 'on-failure' }), 'degraded', /Restart=on-failure/],
  ['the service does not run', unit({ ActiveState: 'inactive' }), undefined, /./],
  ['systemd does not run', { kind: 'no systemd' }, undefined, /./],
])('the check service.watchdog: %s', (_rule, service, status, summary) => {
  const [check] = watchdogCheck.judge({ service });
  if (status === undefined) expect(check).toBeUndefined();
  else expectCheck(check, 'service.watchdog', status, summary);
});

describe('the check service.memory-min', () => {
  const chain = (service: bigint | undefined, slice: bigint, usageBytes: bigint | undefined = 60n * MIB): readonly CgroupProtection[] => [
    { path: '/evictd.slice/evictd.service', minBytes: service, usageBytes },
    { path: '/evictd.slice', minBytes: slice, usageBytes },
  ];

  test.each<[rule: string, facts: Partial<SubjectFacts>, status: CheckStatus, summary: RegExp]>([
    [
      'memory.min is as installed',
      { ...running, cgroups: chain(128n * MIB, 128n * MIB) },
      'ok',
      /evictd\.service 128MiB, \/evictd\.slice 128MiB; evictd uses 60MiB$/,
    ],
    [
      'an ancestor without it takes it away',
      { ...running, cgroups: chain(128n * MIB, 0n) },
      'degraded',
      /not set in \/evictd\.slice: no memory is protected/,
    ],
    [
      'memory.min of the service is not set',
      { ...running, cgroups: chain(0n, 128n * MIB) },
      'degraded',
      /not set in \/evictd\.slice\/evictd\.service/,
    ],
    [
      'memory.min of a cgroup cannot be read',
      { ...running, cgroups: chain(undefined, 128n * MIB) },
      'degraded',
      /not set in .*evictd\.service \?/,
    ],
    ['the least of them counts', { ...running, cgroups: chain(128n * MIB, 32n * MIB) }, 'degraded', /protects 32MiB of 60MiB/],
    ['exactly what it uses', { ...running, cgroups: chain(128n * MIB, 60n * MIB) }, 'ok', /uses 60MiB/],
    ['evictd runs in the root cgroup', { ...running, cgroups: [] }, 'degraded', /root cgroup/],
    ['evictd does not run', {}, 'ok', /evictd install makes a top-level evictd\.slice/],
  ])('%s', (_rule, facts, status, summary) => {
    expectCheck(
      memoryMinCheck.judge({ service: unit(), subject: subjectFacts(facts), cgroup: cgroupFacts() })[0],
      'service.memory-min',
      status,
      summary,
    );
  });

  test('does not exist on v1', () => {
    const v1 = cgroupFacts({ memory: { version: 1, mountPoint: '/m' } });
    expectCheck(
      memoryMinCheck.judge({ service: unit(), subject: subjectFacts(running), cgroup: v1 })[0],
      'service.memory-min',
      'degraded',
      /^cgroup v1 has no memory\.min/,
    );
  });
});

test.each<[rule: string, facts: Partial<SubjectFacts>, status: CheckStatus | undefined]>([
  ['oom_score_adj is as installed', { ...running, oomScoreAdj: -999 }, 'ok'],
  ['-900 is enough', { ...running, oomScoreAdj: -900 }, 'ok'],
  ['-899 is not', { ...running, oomScoreAdj: -899 }, 'degraded'],
  ['another process is not checked', { oomScoreAdj: 0 }, undefined],
])('the check service.oom-score-adj: %s', (_rule, facts, status) => {
  const [check] = oomScoreAdjCheck.judge({ service: unit(), subject: subjectFacts(facts) });
  if (status === undefined) expect(check).toBeUndefined();
  else expectCheck(check, 'service.oom-score-adj', status, /oom_score_adj is -\d+/);
});
