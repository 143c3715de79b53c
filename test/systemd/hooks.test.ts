import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd } from '../e2e/evictd.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { leaking, NODE, SLICE, softly } from './slice.js';

const LEAK = 'evictd-test-leak.service';
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

  test('they run in units of their own, with the same environment, and the eviction waits', async () => {
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking({}) });
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
    await evictd.until('both are recorded', () => evictd.journal().filter(({ type }) => type === 'hook').length === 2);
    expect(evictd.journal().filter(({ type }) => type === 'hook')).toMatchObject([
      { hook: 'preEvict', result: 'succeeded' },
      { hook: 'postEvict', result: 'succeeded' },
    ]);
    expect(systemd('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'evictd-hook-*')).toBe('');
  });

  test('a hook of systemd-oomd is called with the cgroup of the unit', async () => {
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
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking({}) });
    const evictd = await new Evictd({ config: softly({ hooks: { prekill: true } }) }).guarding();
    units.start(LEAK);
    const cgroup = property(LEAK, 'ControlGroup');
    await evictd.recorded('outcome');
    expect(calls).toEqual([`{"method":"io.systemd.oom.Prekill.Notify","parameters":{"cgroup":"${cgroup}"}}\0`]);
    expect(await evictd.recorded('hook')).toMatchObject({ hook: 'prekill', result: 'succeeded' });
  });
});
