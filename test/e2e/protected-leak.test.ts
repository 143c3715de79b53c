import { describe, expect, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { fullFilesystem } from '../support/full-filesystem.js';
import { evictd as command, Evictd } from './evictd.js';
import { guarding, MIB, ON, testNode, workload, type Workload } from './node.js';
import { until } from './wait.js';

/** 22 MiB a second in steps of 2 MiB, up to so much. */
const leak = (mib: number): string => `
  my @held;
  for (1 .. ${String(mib / 2)}) { push @held, "x" x (2 << 20); select undef, undef, undef, 0.09 }
  sleep while 1;`;

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

async function others(node: TestCgroup): Promise<readonly Workload[]> {
  const started: Workload[] = [];
  for (const name of NAMES) started.push(await workload(node.child(name), { holdsMib: 16 }));
  return started;
}

const ended = (workloads: readonly Workload[]): number => workloads.filter(({ alive }) => !alive).length;
const remaining = 'evictd_eviction_budget_remaining{resource="memory"}';

describe(`a protected workload leaks beside six others (${ON})`, () => {
  test('the leak costs one or two of them, and the alert names it', async () => {
    const node = testNode();
    const six = await others(node);
    const evictd = await new Evictd({ config: guarding(node, [{ match: { name: 'db' }, critical: true }]) }).guarding();
    await node.child('db').spawn('perl', ['-e', leak(300)]);
    const alert = await evictd.recorded('alert');
    expect(alert).toMatchObject({ alert: 'leak-elsewhere', grower: { kind: 'workload', name: 'db' } });
    await until('the leak goes on for a while', async () => {
      const available = await evictd.metric('evictd_signal_available_bytes{eviction_signal="memory.available"}');
      return available !== undefined && available < 250 * MIB;
    });
    expect([1, 2]).toContain(ended(six));
    expect(evictd.journal().filter(({ type }) => type === 'alert')).toHaveLength(1);
  });

  test('the budget limits the number of victims, and evictd resume restarts the count', async () => {
    const node = testNode();
    const six = await others(node);
    const config = {
      ...guarding(node, [{ match: { name: 'db' }, critical: true }]),
      evictionBudget: { max: 1 },
    };
    const evictd = await new Evictd({ config }).guarding();
    await until('the budget is known', async () => (await evictd.metric(remaining)) === 1);
    await node.child('db').spawn('perl', ['-e', leak(200)]);

    const alert = await evictd.recorded('alert');
    expect(alert).toMatchObject({ alert: 'budget-exhausted', signal: 'memory.available', budget: { max: 1, windowSeconds: 600 } });
    expect([ended(six), await evictd.metric(remaining)]).toEqual([1, 0]);
    expect(evictd.log.map(({ code }) => code)).toContain('EVICTD_BUDGET_EXHAUSTED');

    const resumed = await command('resume', '--config', evictd.configFile);
    expect([resumed.code, resumed.stderr]).toEqual([0, '']);
    expect(resumed.stdout).toMatch(/^uid 0.*, process \d+ \(evictd\) resumed evictions: the budget counts anew .*1 for memory/);
    await until('another workload is evicted', () => ended(six) === 2);
    await until('the alert comes again', () => evictd.journal().filter(({ type }) => type === 'alert').length === 2);
    expect(evictd.journal().filter(({ type }) => type === 'resume')).toMatchObject([{ evictions: { memory: 1 } }]);
    expect(ended(six)).toBe(2);
  });
});

describe(`a process outside the workload sources leaks (${ON})`, () => {
  test('the alert names its cgroup, with its growth', async () => {
    const node = testNode();
    const apps = node.child('apps');
    for (const name of NAMES) await workload(apps.child(name), { holdsMib: 16 });
    const config = { ...guarding(node), workloads: [{ cgroup: apps.path }] };
    const evictd = await new Evictd({ config }).guarding();
    const backup = node.child('backup');
    await backup.spawn('perl', ['-e', leak(300)]);
    const alert = await evictd.recorded('alert');
    const said = expect.stringMatching(new RegExp(`in the last .* cgroup ${backup.path} grew by [\\d.]+MiB`)) as string;
    const grower = { kind: 'cgroup', name: backup.path, grownBytes: expect.any(Number) as number };
    expect(alert).toMatchObject({ alert: 'leak-elsewhere', grower: { kind: 'outside' }, growers: [grower], message: said });
    expect(evictd.log.map(({ msg }) => msg)).toContainEqual(said);
  });
});

describe(`files in a tmpfs leak (${ON})`, () => {
  test('the mount is named, in journal, log and explain', async () => {
    const node = testNode();
    const apps = node.child('apps');
    for (const name of NAMES) await workload(apps.child(name), { holdsMib: 16 });
    const config = { ...guarding(node), workloads: [{ cgroup: apps.path }] };
    const evictd = await new Evictd({ config }).guarding();
    const { directory } = fullFilesystem(300 * 1024);
    const write = `open my $out, '>', '${directory}/file'; `;
    await node.child('writer').spawn('perl', ['-e', write + leak(280).replace('push @held,', 'syswrite $out,')]);
    const alert = await evictd.recorded('alert');
    const said = expect.stringContaining(`tmpfs ${directory} grew by `) as string;
    const grower = expect.objectContaining({ kind: 'tmpfs', name: directory }) as object;
    expect(alert).toMatchObject({ alert: 'leak-elsewhere', growers: expect.arrayContaining([grower]) as object, message: said });
    await evictd.logged(new RegExp(` tmpfs ${directory} grew by `));
    const explained = await command('explain', '--at', 'now', '--config', evictd.configFile);
    expect(explained.stdout.replaceAll(/\s+/g, ' ')).toEqual(said);
  });
});

describe(`evictd resume (${ON})`, () => {
  test('reports that nothing was paused, or that no evictd guards the node', async () => {
    const evictd = await new Evictd({ config: guarding(testNode()) }).guarding();
    const resumed = await command('resume', '--config', evictd.configFile);
    expect([resumed.code, resumed.stdout]).toEqual([0, expect.stringMatching(/nothing was paused\n$/)]);
    await evictd.stop('SIGKILL');
    const later = await command('resume', '--config', evictd.configFile);
    expect([later.code, later.stderr]).toEqual([75, expect.stringContaining('EVICTD_RESUME_NO_INSTANCE: no evictd guards this node')]);
  });
});
