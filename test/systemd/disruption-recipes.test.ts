import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { askEvictd } from '../../src/node/control-client.js';
import { eventually } from '../support/eventually.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { answers, configure, evictd, run, SERVICE, state } from './service.js';

// The recipes of docs/drain.md, docs/admission.md, docs/preemption.md, docs/taints.md, docs/budgets.md, docs/evict.md and
// docs/api.md, as they are there, for an evictd that is installed as a service.

/** What is indented first after these words. */
function recipe(page: string, after: string): string {
  const text = readFileSync(`docs/${page}.md`, 'utf8');
  const [found] = /^ {4}.*\n(?: {4}.*\n|\n)*/m.exec(text.slice(text.indexOf(after))) ?? [];
  if (!text.includes(after) || found === undefined) throw new Error(`docs/${page}.md has no recipe after ${after}`);
  return found.replaceAll(/^ {4}/gm, '').trimEnd();
}

const PROGRAM = '/usr/bin/evictd';
const DROP_INS = '/run/systemd/system/batch-.service.d';
const SLICE = 'evictdtest.slice';
const ALL = 'evictd-test-all.target';
const batch = (name: string): string => `batch-evictd-test-${name}.service`;
const WEB = ['evictd-test-web-1.service', 'evictd-test-web-2.service'];
const DB = 'db-evictd-test.service';
const REPLICAS = ['web@1.service', 'web@2.service', 'web@3.service'];

describe.runIf(hasSystemd)('recipes of disruptions (an installed evictd; where systemd is the init)', () => {
  const units = new TestUnits(/^(batch|db)-evictd-test|^web@\.service$/);
  const service = { Slice: SLICE, ExecStart: '/bin/sleep infinity', Restart: 'always', RestartSec: '100ms' };
  beforeAll(async () => {
    writeFileSync(PROGRAM, '#!/bin/sh\nexec node /project/dist/evictd.js "$@"\n', { mode: 0o755 });
    mkdirSync(DROP_INS, { recursive: true });
    writeFileSync(`${DROP_INS}/10-admit.conf`, recipe('admission', '## In a systemd unit'));
    units.writeAll({
      [SLICE]: { Slice: {} },
      [ALL]: { Unit: { Wants: WEB } },
      ...Object.fromEntries([...WEB, batch('1'), batch('2'), 'web@.service'].map((name) => [name, { Service: service }])),
      [DB]: { Service: { ...service, ExecCondition: recipe('preemption', 'In a unit, with').split('ExecCondition=')[1] ?? '' } },
    });
    configure({
      workloads: [{ systemd: { slices: [SLICE] } }],
      rules: [
        { match: { name: 'batch-*' }, priority: -10, requests: { memory: '600Mi' } },
        { match: { name: DB }, priority: 100, requests: { memory: '1Gi' } },
        { match: { name: WEB[1] }, critical: true },
      ],
    });
    units.start(SLICE);
    expect(evictd('install', '--now')).toMatchObject({ status: 0, stderr: '' });
    await answers();
  });
  afterAll(() => {
    evictd('uninstall');
    units.remove();
    for (const path of [PROGRAM, DROP_INS, '/etc/evictd', '/var/lib/evictd']) rmSync(path, { recursive: true, force: true });
  });

  const active = (...names: readonly string[]): readonly string[] => names.filter((name) => property(name, 'ActiveState') === 'active');
  /** What its log says last, and its state: not failed. */
  const skipped = (name: string) => [
    property(name, 'ActiveState'),
    systemd('journalctl', '--unit', name, '--no-pager', '--output=cat')
      .match(/refused: \w+|Started/g)
      ?.at(-1),
  ];
  const SKIPPED = ['inactive', 'refused: TaintToleration'];
  const shell = (...lines: readonly string[]) => run('sh', '-ec', lines.join('\n'));
  const admits = (name: string) => eventually(`${name} may start`, () => run(PROGRAM, 'admit', '--name', name).status === 0);

  test('maintenance drains, works and uncordons, and systemd starts enabled units; a start meanwhile is skipped', async () => {
    units.start(ALL, batch('1'));
    const [dryRun = ''] = recipe('drain', '# Drain for maintenance').split('\n');
    expect(shell(dryRun)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/stays: critical\n(.* would be evicted\n){2}$/) as string,
    });
    expect(active(...WEB, batch('1'))).toHaveLength(3);
    const text = recipe('drain', '## Maintenance of a machine with units').replace('multi-user.target', ALL);
    const [drain = '', rest = ''] = text.split('# the work\n');
    expect(shell(drain)).toMatchObject({ status: 0, stdout: expect.stringContaining('the node is drained: 2 ended') as string });
    expect(active(...WEB, batch('1'))).toEqual([WEB[1]]);
    run('systemctl', 'start', batch('1'));
    expect(skipped(batch('1'))).toEqual(SKIPPED);
    expect(shell(rest)).toMatchObject({ status: 0, stderr: '' });
    expect(active(...WEB, batch('1'))).toEqual(WEB);
    await admits(batch('1'));
    units.start(batch('1'));
    expect(active(batch('1'))).toEqual([batch('1')]);
  });

  test('taints skip starts with NoSchedule, end running units with NoExecute, and without them all units start', async () => {
    units.start(ALL, batch('1'));
    const [noSchedule = '', noExecute = '', remove = '', list = ''] = recipe('taints', '# Taints and tolerations').split('\n');
    expect(shell(noSchedule)).toMatchObject({ status: 0, stderr: '' });
    await eventually('a start is refused', () => run(PROGRAM, 'admit', '--name', batch('2')).status === 1);
    run('systemctl', 'start', batch('2'));
    expect([skipped(batch('2')), active(batch('1'))]).toEqual([SKIPPED, [batch('1')]]);
    expect(shell(noExecute)).toMatchObject({ status: 0, stderr: '' });
    await eventually('they have ended', () => active(...WEB, batch('1')).length === 1);
    expect(shell(remove)).toMatchObject({ status: 0, stderr: '' });
    expect(shell(list)).toMatchObject({ status: 0, stdout: 'no taints\n' });
    await admits(batch('2'));
    units.start(ALL, batch('1'), batch('2'));
    expect(active(...WEB, batch('1'), batch('2'))).toHaveLength(4);
  });

  /** Of the page, as a file of the service; without it after the test. */
  const configured = (name: string, text: string): void => {
    const [directory, reload] = ['/etc/evictd/config.d', () => evictd('reload')];
    mkdirSync(directory, { recursive: true });
    writeFileSync(`${directory}/${name}.yaml`, text);
    onTestFinished(() => {
      rmSync(directory, { recursive: true });
      reload();
    });
    expect(reload()).toMatchObject({ status: 0, stderr: '' });
  };

  test('a taint of the configuration works with a rule that tolerates it', async () => {
    configured('taints', recipe('taints', 'into the configuration:'));
    await eventually('a start is refused', () => run(PROGRAM, 'admit', '--name', batch('1')).status === 1);
    expect(run(PROGRAM, 'admit', '--name', 'backup.service').status).toBe(0);
    expect(run(PROGRAM, 'taint').stdout).toBe('maintenance=yes:NoSchedule (configuration)\n');
  });

  test('budgets let one of three replicas end, with each command of the page, and as a request of the eviction API', async () => {
    onTestFinished(() => {
      units.stop(...REPLICAS);
    });
    configured('budgets', /```yaml\n([^]*?)```/.exec(readFileSync('docs/budgets.md', 'utf8'))?.[1] ?? '');
    const [evict = '', graceful = '', dryRun = ''] = recipe('evict', '# Evict a workload').split('\n');
    const allUp = () => {
      units.start(...REPLICAS);
      const counted = 'disruption budget web: 3 of 3 healthy, 2 desired, 1 may be evicted';
      return eventually('all are healthy', () => run(PROGRAM, 'status').stdout.includes(counted));
    };
    await allUp();
    expect(shell(dryRun)).toMatchObject({ status: 0, stdout: 'web@1.service would be evicted\n' });
    // The machine has no curl.
    const curl = /--unix-socket (\S+) http:\/\/evictd(\S+) -d '([^]*)'$/.exec(recipe('api', "## Evict as Kubernetes' eviction API"));
    const [, socket = '', path = '', body = ''] = curl ?? [];
    expect(existsSync(socket)).toBe(true);
    expect(
      await askEvictd({ node: { cgroup: undefined }, runtimeDirectory: dirname(socket) }, { method: 'POST', path, body }),
    ).toMatchObject({ code: 201 });
    expect(active(...REPLICAS)).toEqual(REPLICAS);
    for (const line of [graceful, evict]) {
      await allUp();
      expect(shell(line)).toMatchObject({ status: 0, stdout: expect.stringContaining('web@1.service is being evicted') as string });
      await eventually('it has ended', () => active('web@1.service').length === 0);
      const second = run(PROGRAM, 'evict', 'web@2.service');
      expect(second).toMatchObject({ status: 75, stderr: expect.stringContaining('EVICTD_EVICT_BUDGET') as string });
      expect(active(...REPLICAS)).toEqual(REPLICAS.slice(1));
    }
  });

  test('admit --preempt as ExecCondition= stops a less important unit for good, and the unit starts', async () => {
    units.start(batch('1'), batch('2'));
    await admits(DB);
    units.start(DB);
    expect([active(DB), active(batch('1'), batch('2')).length]).toEqual([[DB], 1]);
    // Not more important than what runs: it is skipped.
    const [stopped = ''] = [batch('1'), batch('2')].filter((name) => active(name).length === 0);
    expect(run(PROGRAM, 'admit', '--preempt', '--name', stopped)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('OutOfmemory') as string,
    });
    expect(active(DB)).toEqual([DB]);
  });

  test('a unit with ExecCondition= starts without evictd', () => {
    run('systemctl', 'stop', SERVICE, batch('1'), DB);
    expect(state()).toBe('inactive/dead');
    units.start(batch('1'), DB);
    expect(active(batch('1'), DB)).toEqual([batch('1'), DB]);
  });
});
