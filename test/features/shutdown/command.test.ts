import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shutdownCommand } from '../../../src/features/shutdown/command.js';
import type { InhibitDelay } from '../../../src/core/systemd/inhibit-delay.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import { SECOND, candidates, workload } from '../../core/support.js';
import { reading } from '../check/support.js';
import { fakeReading, ran, type Ran } from '../../cli/support.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const MEMBERS: Candidates = {
  ...candidates(
    [workload('web'), 0n],
    [workload('db', { protection: { kind: 'critical' }, terminationGracePeriodNs: 30n * SECOND }), 0n],
    [workload('batch', { priority: -10, terminationGracePeriodNs: 5n * SECOND }), 0n],
    [workload('ssh.service', { protection: { kind: 'unit', rule: 'ssh.service', why: 'a way into the machine' } }), 0n],
    [workload('empty'), 0n],
  ),
  unreadable: [{ name: 'odd', path: '/w/odd', reason: 'EIO' }],
  veto: ({ name }) => (name === 'empty' ? { kind: 'vacant' } : undefined),
};
const PERIODS = 'shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s\n';
const FIVE_SECONDS: InhibitDelay = { kind: 'known', maxNs: 5n * SECOND };

async function shutdown(
  config: string,
  delay: InhibitDelay,
  ...given: readonly (string | Candidates)[]
): Promise<Ran & { closed: number }> {
  const directory = temporaryDirectory();
  const file = join(directory, 'config.yaml');
  writeFileSync(file, config, { mode: 0o600 });
  const args = given.filter((each) => typeof each === 'string');
  const source = fakeReading(() => reading({}), { candidates: given.find((each) => typeof each !== 'string') ?? MEMBERS });
  const made = await ran(
    (io) => shutdownCommand({ io, open: () => source, readInhibitDelay: () => Promise.resolve(delay) }),
    ['--config', file, ...args],
  );
  return { ...made, closed: source.closed() };
}

test('the plan has groups in order, protected workloads, and a delay that is too short', async () => {
  const { out, error, closed } = await shutdown(`${PERIODS}workloads: [{cgroup: /w}]\n`, FIVE_SECONDS, '--plan');
  expect(error).toBeUndefined();
  expect(`\n${out}`).toBe(`
START       GROUP  PERIOD  WORKLOAD  PRIORITY  GRACE
   0s           0     20s  batch          -10     5s
   0s           0     20s  web              0    20s
  20s  2000000000     10s  db               0    10s  critical

all workloads end within 30s; the configuration needs 30s, and evictd 2s more
InhibitDelayMaxSec of logind is 5s: too short by 27s; evictd install --logind-drop-in, or InhibitDelayMaxSec=32 in /etc/systemd/logind.conf.d/
not ended: ssh.service: protected unit (ssh.service): a way into the machine
left out: odd: EIO
`);
  expect(closed).toBe(1);
});

test('the plan gives an empty group no time', async () => {
  const groups = [0, 100, 2000000000].map((priority) => ({ priority, shutdownGracePeriodSeconds: 60 }));
  const config = JSON.stringify({ shutdownGracePeriodByPodPriority: groups, workloads: [{ cgroup: '/w' }] });
  const { out } = await shutdown(config, { kind: 'known', maxNs: 182n * SECOND }, '--plan');
  expect(out).toMatch(/^ *1m0s +100 +1m0s +-$/m);
  expect(out).toMatch(/^ *1m0s +2000000000 +1m0s +db +0 +30s +critical$/m);
  expect(out).toContain('all workloads end within 1m30s; the configuration needs 3m0s, and evictd 2s more');
  expect(out).toContain('InhibitDelayMaxSec of logind is 3m2s: long enough');
});

test('the plan does not wait for a group without time, and a parent is in the last group of its children', async () => {
  const members = candidates(
    [workload('team', { path: '/team', terminationGracePeriodNs: SECOND }), 0n],
    [workload('db', { path: '/team/db', priority: 100, terminationGracePeriodNs: 2n * SECOND }), 0n],
    [workload('cache', { protection: { kind: 'critical' } }), 0n],
  );
  const groups = [0, 100, 2000000000].map((priority) => ({ priority, shutdownGracePeriodSeconds: priority === 100 ? 60 : 0 }));
  const config = JSON.stringify({ shutdownGracePeriodByPodPriority: groups, workloads: [{ cgroup: '/w' }] });
  const { out } = await shutdown(config, { kind: 'known', maxNs: 182n * SECOND }, '--plan', members);
  expect(out).toMatch(/^ *0s +100 +1m0s +team +0 +1s +contains db$/m);
  expect(out).toMatch(/^ *0s +100 +1m0s +db +100 +2s$/m);
  expect(out).toMatch(/^ *3s +2000000000 +0s +cache +0 +0s +critical, not awaited$/m);
  expect(out).toContain('all awaited workloads end within 3s');
});

test('the plan ends a unit with the units that systemd stops with it', async () => {
  const unit = (name: string) => ({ unit: { name, manager: 'system' } }) as const;
  const stopped = {
    kind: 'stop',
    dependants: ['web.service'],
    triggers: [],
    timers: [],
    running: [],
    restarts: false,
    affected: [],
  } as const;
  const members: Candidates = {
    ...candidates([workload('web', { priority: 100, ...unit('web.service') }), 0n], [workload('db', unit('db.service')), 0n]),
    stop: ({ name }) => (name === 'db' ? stopped : undefined),
  };
  const groups = [0, 100].map((priority) => ({ priority, shutdownGracePeriodSeconds: 60 }));
  const config = JSON.stringify({ shutdownGracePeriodByPodPriority: groups, workloads: [{ cgroup: '/w' }] });
  const { out } = await shutdown(config, FIVE_SECONDS, '--plan', members);
  expect(out).toMatch(/^ *0s +100 +1m0s +db +0 +1m0s +also stops web$/m);
});

test('the plan is printed as JSON', async () => {
  const delay: InhibitDelay = { kind: 'unknown', reason: 'no bus' };
  const { out } = await shutdown(`${PERIODS}workloads: [{cgroup: /w}]\n`, delay, '--plan', '-o', 'json');
  const report = JSON.parse(out) as { groups: { workloads: unknown[] }[] };
  expect(report).toMatchObject({
    groups: [
      { priority: 0, gracePeriodSeconds: 20, startsAtSeconds: 0, endsAtSeconds: 20 },
      { priority: 2_000_000_000, gracePeriodSeconds: 10, startsAtSeconds: 20, endsAtSeconds: 30 },
    ],
    neededSeconds: 30,
    requestedSeconds: 30,
    inhibitDelayMaxSeconds: null,
    inhibitDelayUnknown: 'no bus',
    suffices: null,
    leftAlone: [{ name: 'ssh.service', path: '/ssh.service', why: 'protected unit (ssh.service): a way into the machine' }],
    unreadable: [{ name: 'odd', path: '/w/odd', reason: 'EIO' }],
    problems: [],
  });
  expect(report.groups[1]?.workloads).toEqual([
    { name: 'db', path: '/db', priority: 0, critical: true, gracePeriodSeconds: 10, ownGracePeriodSeconds: 30 },
  ]);
});

test.each<[rule: string, config: string, said: string]>([
  ['there is no grace period', 'workloads: [{cgroup: /w}]\n', 'neither shutdownGracePeriod nor shutdownGracePeriodByPodPriority is set'],
  ['there is no workload source', PERIODS, 'no workload source is configured'],
])('the plan says why no workload would be ended: %s', async (_rule, config, said) => {
  expect((await shutdown(config, FIVE_SECONDS, '--plan')).out).toContain(`no workload would be ended: ${said}`);
});

test('--plan is required', async () => {
  const { out, error, closed } = await shutdown(PERIODS, FIVE_SECONDS);
  expect(String(error)).toContain("required option '--plan' not specified");
  expect({ out: out.includes('GROUP'), closed }).toEqual({ out: false, closed: 0 });
});
