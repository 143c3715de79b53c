import { expect, test } from 'vitest';
import type { Check } from '../../../../src/features/doctor/check.js';
import { cgroupVersionCheck, controllersCheck } from '../../../../src/features/doctor/checks/cgroup.js';
import { checkDaemons } from '../../../../src/features/doctor/checks/daemons.js';
import { kernelLogCheck } from '../../../../src/features/doctor/checks/kernel.js';
import { shutdownDelayCheck } from '../../../../src/features/doctor/checks/node.js';
import { capabilitiesCheck, descriptorsCheck } from '../../../../src/features/doctor/checks/process.js';
import { memoryMinCheck, oomScoreAdjCheck } from '../../../../src/features/doctor/checks/protection.js';
import { instanceCheck, pauseCheck, runningVersionCheck, safeModeCheck } from '../../../../src/features/doctor/checks/service.js';
import type { DaemonFacts, ServiceFacts } from '../../../../src/host/facts.js';
import { cgroupFacts, memoryFacts, nodeFacts, subjectFacts, unit, workloadFacts } from '../support.js';

const running = { kind: 'running', pid: 12, version: '1.0.0' } as const;
const subject = subjectFacts({ kind: 'running', effective: 0n, oomScoreAdj: 0, cgroups: [{ path: '/a', minBytes: 0n, usageBytes: 1n }] });
const v2 = cgroupFacts({ delegations: [{ path: '/a/b', stopsAt: '/a' }] });
const v1 = cgroupFacts({ memory: { version: 1, mountPoint: '/sys/fs/cgroup/memory' } });
const listed = Array.from({ length: 999 }, (_, index) => ({ name: String(index), path: `/a/${String(index)}`, unevictable: undefined }));
const earlyoom: DaemonFacts = {
  name: 'earlyoom',
  pid: 7,
  unit: 'earlyoom.service',
  arguments: ['-m', '50'],
  settings: '',
  thresholds: undefined,
};

/** The checks whose fix depends on systemd, none of them ok. */
const judged = (service: ServiceFacts): readonly Check[] =>
  [
    cgroupVersionCheck.judge({ service, cgroup: v1 }),
    controllersCheck.judge({ service, cgroup: v2 }),
    kernelLogCheck.judge({ service, kernelLog: { refused: 'EPERM', restricted: true }, subject }),
    capabilitiesCheck.judge({ service, subject }),
    descriptorsCheck.judge({ service, subject, workloads: workloadFacts({ listed }) }),
    memoryMinCheck.judge({ service, subject, cgroup: v2 }),
    memoryMinCheck.judge({ service, subject, cgroup: v1 }),
    oomScoreAdjCheck.judge({ service, subject }),
    instanceCheck.judge({ service, instance: { kind: 'none' } }),
    runningVersionCheck.judge({ service, instance: running, version: '2.0.0' }),
    safeModeCheck.judge({ service, instance: running, crashes: { crashes: 9, limit: 3 } }),
    shutdownDelayCheck.judge({ service, shutdown: { requestedNs: 1n, delay: { kind: 'unknown', reason: 'no logind' } } }),
    checkDaemons(
      { found: [earlyoom], hidden: undefined },
      { service, memory: memoryFacts(), cgroup: cgroupFacts(), node: nodeFacts(), workloads: workloadFacts() },
    ),
  ].flat();

const OF_SYSTEMD = /systemctl|journalctl|systemd\.|unit|slice|evictd install|Delegate/;

test.each(judged({ kind: 'no systemd' }).map((check, index) => [check.id, check, index] as const))(
  'the fix of %s does not suggest systemd where it is not the init system',
  (_id, { status, fix }, index) => {
    expect(status).not.toBe('ok');
    expect(fix).not.toMatch(OF_SYSTEMD);
    expect(judged(unit({ ActiveState: 'inactive' }))[index]?.fix).toMatch(OF_SYSTEMD);
  },
);

test('commands of fixes can be run as printed', () => {
  const commands = (service: ServiceFacts): readonly string[] => judged(service).flatMap((check) => check.commands);
  expect(commands(unit())).toEqual([
    'evictd install',
    'systemctl restart evictd', // another version; the safe mode has none: a person removes its cause first
    'systemctl disable --now earlyoom.service',
  ]);
  expect(commands({ kind: 'no systemd' })).toEqual([
    'echo +memory >/sys/fs/cgroup/a/cgroup.subtree_control',
    'echo -999 >/proc/4711/oom_score_adj',
  ]);
});

test.each(['a b', 'a;reboot', '$(reboot)', 'a`b`'])('a fix has no command with a name that a shell would expand: %s', (name) => {
  const daemons = { found: [{ ...earlyoom, unit: `earlyoom${name}.service` }], hidden: undefined };
  const context = { service: unit(), memory: memoryFacts(), cgroup: cgroupFacts(), node: nodeFacts(), workloads: workloadFacts() };
  const cgroup = cgroupFacts({ delegations: [{ path: '/x/y', stopsAt: `/x ${name}` }] });
  const checks = [...checkDaemons(daemons, context), ...controllersCheck.judge({ service: { kind: 'no systemd' }, cgroup })];
  expect(checks.map(({ status, commands }) => [status === 'ok', commands])).toEqual([
    [false, []],
    [false, []],
  ]);
});

test.each(['session-3.scope', 'ssh.service', 'docker-0123.scope', 'earlyoom.scope'])(
  'a fix has no command to stop a unit that may hold more than the daemon: %s',
  (name) => {
    const daemons = { found: [{ ...earlyoom, unit: name }], hidden: undefined };
    const [check] = checkDaemons(daemons, {
      service: unit(),
      memory: memoryFacts(),
      cgroup: cgroupFacts(),
      node: nodeFacts(),
      workloads: workloadFacts(),
    });
    expect(check).toMatchObject({ commands: [], fix: expect.stringMatching(/^end process [0-9]+/) as string });
  },
);

test('a fix has no command to end a pause, because an operator has decided on the pause', () => {
  expect(pauseCheck.judge({ instance: running, pauses: { messages: ['paused'] } })).toMatchObject([{ status: 'degraded', commands: [] }]);
});
