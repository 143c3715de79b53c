import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd } from '../e2e/evictd.js';
import { eventually } from '../support/eventually.js';
import { fuseWorks, mountFuse } from '../support/fuse.js';
import { kill } from '../support/kill.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { answers, configure, dropIn, evictd as run, logged, mainPid, state } from './service.js';
import { leaking, NODE, SLICE, small, softly } from './slice.js';

const LEAK = 'evictd-test-leak.service';
/** Keeps the slice alive. */
const OTHER = 'evictd-test-other.service';
const DIRECTORY = '/run/evictd-test-hooks';
const PREKILL = '/run/systemd/oomd.prekill.hook/evictd-test';

/** A hook that writes its environment, its arguments and its cgroup. */
function hook(name: string): string {
  const path = join(DIRECTORY, name);
  const out = `${path}.out`;
  const script = `#!/bin/sh\n{ env; printf 'ARG=%s\\n' "$@"; cat /proc/self/cgroup; id -u; } > ${out}.part\nmv ${out}.part ${out}\n`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

const canHang = hasSystemd && (await fuseWorks());
const said = (name: string): string => readFileSync(join(DIRECTORY, `${name}.out`), 'utf8');

describe.skipIf(!hasSystemd)('hooks (needs systemd)', () => {
  const units = new TestUnits();
  beforeEach(() => {
    mkdirSync(DIRECTORY, { mode: 0o755 });
    onTestFinished(() => {
      units.remove();
      rmSync(DIRECTORY, { recursive: true });
    });
  });

  test('run in separate units, with the same environment, and leave none', async () => {
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking(), [OTHER]: small() });
    units.start(OTHER);
    const hooks = { preEvict: { command: [hook('pre'), '$HOME', '%n', 'two words'], deadline: '500ms' }, postEvict: [hook('post')] };
    const evictd = await new Evictd({ config: softly({ hooks }) }).guarding();
    units.start(LEAK);
    await evictd.recorded('outcome');
    await evictd.until('both have run', () => ['pre', 'post'].every((name) => existsSync(join(DIRECTORY, `${name}.out`))));
    expect(said('pre')).toContain('ARG=$HOME\nARG=%n\nARG=two words\n');
    expect(said('pre')).toContain(`EVICTD_VICTIM_UNIT=${LEAK}\n`);
    expect(said('pre')).toMatch(/\/evictd-hook-preEvict-\d+-1\.service$/m);
    expect(said('post')).toMatch(/\/evictd-hook-postEvict-\d+-2\.service$/m);
    expect(said('post')).toMatch(/^EVICTD_OUTCOME=/m);
    const records = () => evictd.journal().filter(({ type }) => type === 'hook');
    await evictd.until('both are recorded', () => records().length === 2);
    // A busy machine may not start a unit within the deadline.
    expect(records()).toMatchObject([{ hook: 'preEvict' }, { hook: 'postEvict', result: 'succeeded' }]);
    expect(['succeeded', 'late']).toContain(records()[0]?.result);
    await evictd.until(
      'no unit is left',
      () => systemd('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'evictd-hook-*') === '',
    );
  });

  test.runIf(canHang)('do not delay a restart of the service while a program waits for its filesystem', async () => {
    mkdirSync(join(DIRECTORY, 'fuse'));
    const fuse = await mountFuse(join(DIRECTORY, 'fuse'));
    onTestFinished(async () => {
      await fuse.remove();
      run('uninstall');
      for (const path of ['/etc/evictd', '/var/lib/evictd']) rmSync(path, { recursive: true, force: true });
    });
    const pre = join(fuse.directory, 'pre');
    writeFileSync(pre, '#!/bin/sh\n', { mode: 0o755 });
    await fuse.hangAt('open');
    configure({ hooks: { preEvict: [pre] } });
    const since = new Date();
    expect(run('install', '--now')).toMatchObject({ status: 0, stderr: '' });
    await fuse.stuck();
    await answers();
    const first = mainPid();
    kill(first, 'SIGKILL');
    await eventually('another evictd guards', () => state() === 'active/running' && ![0, first].includes(mainPid()));
    await answers();
    expect(logged(since)).toContain('left-over process');
    expect(logged(since)).not.toMatch(/timed out|still around/);
  });

  test('what a policy has frozen is thawed after SIGKILL of a service that does not start again', async () => {
    onTestFinished(() => {
      dropIn(undefined);
      run('uninstall');
      for (const path of ['/etc/evictd', '/var/lib/evictd']) rmSync(path, { recursive: true, force: true });
    });
    units.writeAll({ [SLICE]: NODE, [OTHER]: small() });
    units.start(OTHER);
    const frozen = (): string => readFileSync(`/sys/fs/cgroup${property(OTHER, 'ControlGroup')}/cgroup.freeze`, 'latin1').trim();
    const freeze = { name: 'freeze', scope: { cgroup: `/${SLICE}/*` }, when: 'memory.current > 1Ki', then: [{ freeze: { for: '1m' } }] };
    configure({ workloads: [{ systemd: { slices: [SLICE] } }], policies: [freeze] });
    dropIn('[Service]\nRestart=no\n');
    expect(run('install', '--now')).toMatchObject({ status: 0, stderr: '' });
    await eventually('it is frozen', () => frozen() === '1');
    kill(mainPid(), 'SIGKILL');
    await eventually('the service has ended', () => state() === 'failed/failed');
    expect(frozen()).toBe('0');
  });

  test('of systemd-oomd are called with the cgroup of the unit', async () => {
    const calls: string[] = [];
    const made = mkdirSync(dirname(PREKILL), { recursive: true });
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        calls.push(data.toString());
        socket.write('{"parameters":{}}\0');
      });
    });
    await new Promise<void>((resolve) => server.listen(PREKILL, resolve));
    onTestFinished(() => {
      server.close();
      rmSync(made ?? PREKILL, { recursive: true, force: true });
    });
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking(), [OTHER]: small() });
    units.start(OTHER);
    // Its deadline is that of preEvict; the default is short for an emulated machine.
    const hooks = { preEvict: { command: ['/bin/true'], deadline: '500ms' }, prekill: true };
    const evictd = await new Evictd({ config: softly({ hooks }) }).guarding();
    units.start(LEAK);
    // No command runs meanwhile: this thread answers the call.
    await evictd.recorded('outcome');
    const called = () => evictd.journal().find(({ hook: name }) => name === 'prekill');
    await evictd.until('it is recorded', () => called() !== undefined);
    const call = `{"method":"io.systemd.oom.Prekill.Notify","parameters":{"cgroup":"/${SLICE}/${LEAK}"}}\0`;
    // On a busy machine the deadline may pass before it is called.
    expect([
      ['succeeded', [call]],
      ['late', [call]],
      ['late', []],
    ]).toContainEqual([called()?.result, calls]);
  });
});
