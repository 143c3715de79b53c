import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasSystemd, systemd } from '../support/systemd.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { evictd } from './evictd.js';
import { ON, processesIn, testNode, workload } from './node.js';

interface Plan {
  readonly groups: readonly {
    readonly priority: number;
    readonly workloads: readonly { readonly name: string; readonly gracePeriodSeconds: number }[];
  }[];
  readonly neededSeconds: number;
  readonly inhibitDelayMaxSeconds: number | null;
  readonly inhibitDelayUnknown: string | null;
}

test(`shutdown --plan prints the order and times of workloads, and signals none (${ON})`, async () => {
  const node = testNode();
  const [db, web, batch] = [node.child('db'), node.child('web'), node.child('batch')];
  node.child('empty');
  const running = [await workload(db), await workload(web), await workload(batch)];
  const directory = temporaryDirectory('/dev/shm');
  const file = join(directory, 'config.yaml');
  const config = {
    node: { cgroup: node.path },
    shutdownGracePeriod: '30s',
    shutdownGracePeriodCriticalPods: '10s',
    workloads: [{ cgroup: node.path }],
    rules: [
      { match: { name: 'db' }, critical: true },
      { match: { name: 'batch' }, terminationGracePeriodSeconds: 5 },
    ],
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const { code, stdout } = await evictd('shutdown', '--plan', '--config', file, '-o', 'json');
  expect(code).toBe(0);
  const plan = JSON.parse(stdout) as Plan;
  expect(
    plan.groups.map(({ priority, workloads }) => [priority, workloads.map(({ name, gracePeriodSeconds }) => [name, gracePeriodSeconds])]),
  ).toEqual([
    [
      0,
      [
        ['batch', 5],
        ['web', 20],
      ],
    ],
    [2_000_000_000, [['db', 10]]],
  ]);
  expect(plan.neededSeconds).toBe(30);
  if (hasSystemd) {
    const said = systemd(
      'busctl',
      'get-property',
      'org.freedesktop.login1',
      '/org/freedesktop/login1',
      'org.freedesktop.login1.Manager',
      'InhibitDelayMaxUSec',
    );
    expect([plan.inhibitDelayMaxSeconds, plan.inhibitDelayUnknown]).toEqual([Number(said.replace('t ', '')) / 1e6, null]);
  }
  expect(running.map(({ alive }) => alive)).toEqual([true, true, true]);
  expect(processesIn(db, web, batch)).toHaveLength(3);
});
