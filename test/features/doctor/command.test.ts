import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { doctorCommand } from '../../../src/features/doctor/command.js';
import { broken, command, degraded, ok, type Check } from '../../../src/features/doctor/check.js';
import { ran } from '../../cli/support.js';
import { scratch } from '../../config/scratch.js';

const kernel = ok('kernel.version', 'Linux 6.12.1', { release: '6.12.1' });
const cgroup = degraded('cgroup.version', 'cgroup v1', 'boot with v2', { version: 1 });
const oom = degraded('kernel.oom', 'it panics', `${command('sysctl -w vm.panic_on_oom=0')}; or never mind`);
const source = broken('workloads[0]', '/a is not there', 'make it');
const evictable = ok('workloads.evictable', '2 of 3 can be');

const doctor = (checks: readonly Check[], ...args: string[]) =>
  ran((io, setExitCode) => doctorCommand({ io, setExitCode, examine: () => Promise.resolve({ checks, exitNow: undefined }) }), args);

describe('evictd doctor', () => {
  test.each<[rule: string, checks: readonly Check[], exit: number]>([
    ['no check is worse than ok', [kernel, evictable], 0],
    ['one check is degraded', [kernel, cgroup], 1],
    ['one check is broken, whatever the others are', [source, cgroup, kernel], 2],
  ])('has the exit code for %s: %#', async (_rule, checks, exit) => {
    expect((await doctor(checks)).exit).toBe(exit);
    expect((await doctor(checks, '-o', 'json')).exit).toBe(exit);
  });

  test('prints groups, a line for each check, the fix below a check that is not ok, and a verdict with the broken checks', async () => {
    expect((await doctor([kernel, cgroup, source, evictable])).out).toBe(`\
ok        kernel.version       Linux 6.12.1

degraded  cgroup.version       cgroup v1
                               fix: boot with v2

broken    workloads[0]         /a is not there
                               fix: make it
ok        workloads.evictable  2 of 3 can be

broken: 1 broken, 1 degraded, 2 ok
  /a is not there
`);
  });

  test('prints JSON in which an ok check has no fix', async () => {
    const { out } = await doctor([kernel, cgroup], '-o', 'json');
    expect(JSON.parse(out)).toEqual({
      status: 'degraded',
      checks: [
        { id: 'kernel.version', status: 'ok', summary: 'Linux 6.12.1', details: { release: '6.12.1' } },
        { id: 'cgroup.version', status: 'degraded', summary: 'cgroup v1', fix: 'boot with v2', commands: [], details: { version: 1 } },
      ],
    });
  });

  test('--fix prints commands and the rest as comments, with the same exit code', async () => {
    const { out, exit } = await doctor([kernel, cgroup, oom], '--fix');
    expect(out).toBe(
      '# cgroup.version (degraded): cgroup v1\n# by hand: boot with v2\n\n# kernel.oom (degraded): it panics\nsysctl -w vm.panic_on_oom=0\n',
    );
    expect(exit).toBe(1);
    expect((await doctor([kernel], '--fix')).out).toBe('# every check is ok\n');
    expect((await doctor([oom])).out).toContain('fix: sysctl -w vm.panic_on_oom=0; or never mind\n');
  });

  test('--fix does not let a name with a line break add a command', async () => {
    const { out } = await doctor([degraded('workloads[0]', 'a\nrm x', 'see `a` and b\nrm x')], '--fix');
    expect(out.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });

  test('reports a configuration file with errors as broken, and runs the other checks', async () => {
    const file = join(scratch(), 'config.yaml');
    writeFileSync(file, 'evictionHard: { memory.available: nonsense }');
    const { out, exit, error } = await doctor([kernel], '--config', file, '--runtime-directory', scratch());
    expect(error).toBeUndefined();
    expect(exit).toBe(2);
    expect(out).toMatch(
      /^evictd: warning: the configuration has 1 error, so this command uses the defaults: .*config\.yaml:1:\d+: EVICTD_CONFIG_/,
    );
    expect(out).toMatch(/\nbroken +config +the configuration has 1 error: .*\n +fix: evictd config check\n/);
    expect(out).toContain('Linux 6.12.1');
  });

  test('runs no check with a configuration that cannot be used', async () => {
    const { out, error } = await doctor([kernel], '--eviction-hard', 'memory.available<nonsense');
    expect(out).toBe('');
    expect(error).toMatchObject({ name: 'ConfigError' });
  });
});
