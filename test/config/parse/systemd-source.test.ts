import { describe, expect, test } from 'vitest';
import { errorOf, issuesOf, load } from '../scratch.js';

test('slices and units are read in the order of the files, each once', () => {
  const { config, notices } = load({
    'config.yaml':
      "workloads:\n  - systemd: {slices: [batch.slice, user-1000.slice], units: [a.service, 'web@*.service']}\n  - cgroup: /x\n  - systemd: {units: [run-1.scope]}\n",
    'config.d/1.yaml': 'workloads:\n  - systemd: {slices: [batch.slice], units: [b.service]}\n  - systemd: {slices: [batch.slice]}\n',
  });
  expect(config.workloads).toEqual([
    { systemd: { slices: ['batch.slice', 'user-1000.slice'], units: ['a.service', 'web@*.service'] } },
    { cgroup: '/x' },
    { systemd: { slices: [], units: ['run-1.scope'] } },
    { systemd: { slices: ['batch.slice'], units: ['b.service'] } },
  ]);
  const twice = notices.filter(({ code }) => code === 'EVICTD_CONFIG_WORKLOADS_TWICE');
  expect(twice.map(({ message, position }) => [message, position?.line, position?.column])).toEqual([
    ['workloads: batch.slice is named twice', 2, 24],
    ['workloads: batch.slice is named twice', 3, 24],
  ]);
});

test.each<[yaml: string, message: string]>([
  ['{systemd: {slices: [-.slice]}}', 'workloads: -.slice makes every unprotected service of the machine a workload'],
  ["{systemd: {units: ['*.service']}}", 'workloads: *.service makes every unprotected service of the machine a workload'],
])('%s covers the whole machine, which causes a warning', (yaml, message) => {
  const { notices } = load({ 'config.yaml': `workloads: [${yaml}]\n` });
  expect(notices.find(({ code }) => code === 'EVICTD_CONFIG_WORKLOADS_ROOT')?.message).toBe(message);
});

describe('errors in a systemd source, with position and hint', () => {
  test.each<[rule: string, entry: string, at: string, code: string, hint: string]>([
    ['a name without its end', '{slices: [batch]}', '24', 'UNIT', 'write the name that systemctl shows: batch.slice'],
    ['a path', '{slices: [/batch.slice]}', '24', 'UNIT', 'write the name that systemctl shows: batch.slice'],
    [
      'a path with the mount',
      '{slices: [/sys/fs/cgroup/a.slice/a-b.slice]}',
      '24',
      'UNIT',
      'write the name that systemctl shows: a-b.slice',
    ],
    ['a service among slices', '{slices: [web.service]}', '24', 'UNIT', 'write units: [web.service]'],
    ['a slice that cannot be', '{slices: [batch-.slice]}', '24', 'UNIT', 'no dash at the beginning, at the end or next to another'],
    ['a pattern of slices', "{slices: ['batch-*.slice']}", '24', 'UNIT', 'name each slice; the slices below it are included'],
    ['an empty name', '{slices: [""]}', '24', 'UNIT', 'write the name that systemctl shows: batch.slice'],
    ['a slice among units', '{units: [batch.slice]}', '23', 'UNIT', 'write slices: [batch.slice]'],
    ['a unit without its end', '{units: [web]}', '23', 'UNIT', 'write the name that systemctl shows: web.service'],
    ['a unit with a wrong end', '{units: [web.servcie]}', '23', 'UNIT', 'write the name that systemctl shows: web.service'],
    ['a unit that has no processes of its own', '{units: [web.socket]}', '23', 'UNIT', 'name a service or a scope'],
    ['a template', '{units: [web@.service]}', '23', 'UNIT', 'for its instances write web@*.service'],
    ['a path among units', '{units: [/a.slice/web.service]}', '23', 'UNIT', 'write the name that systemctl shows: web.service'],
    ['the second of two', '{units: [a.service, b]}', '34', 'UNIT', 'b.service'],
    ['neither slices nor units are set', '{}', '14', 'MISSING', 'systemd: { slices: [batch.slice] }'],
    ['empty lists', '{slices: [], units: []}', '14', 'MISSING', 'systemd: { slices: [batch.slice] }'],
    ['text instead of a map', 'batch.slice', '14', 'TYPE', 'write { slices: [batch.slice] }'],
    ['text instead of a list', '{slices: batch.slice}', '23', 'TYPE', 'write [batch.slice]'],
    ['a key that is nearly right', '{slice: [batch.slice]}', '15', 'UNKNOWN_KEY', 'did you mean slices?'],
  ])('%s', (_rule, entry, column, code, hint) => {
    const read = () => load({ 'config.yaml': `workloads:\n  - systemd: ${entry}\n` });
    expect(issuesOf(read)).toEqual([`config.yaml:2:${column} EVICTD_CONFIG_${code}`]);
    expect(errorOf(read).issues[0]?.hint).toContain(hint);
  });

  test.each<[rule: string, entry: string, at: string, code: string, hint: string]>([
    ['both are set in one entry', '{cgroup: /a, systemd: {slices: [b.slice]}}', '1:35', 'VALUE', 'write two entries'],
    ['a slice as text', 'batch.slice', '1:13', 'TYPE', 'write { systemd: { slices: [batch.slice] } }'],
    ['a unit as text', 'web.service', '1:13', 'TYPE', 'write { systemd: { units: [web.service] } }'],
    ['a wrong name for the key', '{sytemd: {slices: [b.slice]}}', '1:14', 'UNKNOWN_KEY', 'did you mean systemd?'],
  ])('%s', (_rule, entry, at, code, hint) => {
    const read = () => load({ 'config.yaml': `workloads: [${entry}]\n` });
    expect(issuesOf(read)).toEqual([`config.yaml:${at} EVICTD_CONFIG_${code}`]);
    expect(errorOf(read).issues[0]?.hint).toContain(hint);
  });
});

describe('liftProtection of a rule', () => {
  test('is accepted with the full name and critical: false', () => {
    const { config } = load({ 'config.yaml': 'rules: [{match: {name: sshd.service}, critical: false, liftProtection: true}]\n' });
    expect(config.rules).toEqual([{ match: { name: 'sshd.service' }, critical: false, liftProtection: true }]);
  });

  test('has no effect if it is false', () => {
    const { config } = load({ 'config.yaml': "rules: [{match: {name: '*'}, liftProtection: false, priority: 1}]\n" });
    expect(config.rules).toEqual([{ match: { name: '*' }, priority: 1 }]);
  });

  test.each<[rule: string, entry: string, at: string, message: string, hint: string]>([
    [
      'a pattern',
      "{match: {name: 'ssh*.service'}, critical: false, liftProtection: true}",
      '1:24',
      '"ssh*.service" is a pattern',
      'one rule for each unit',
    ],
    ['everything', '{match: {}, critical: false, liftProtection: true}', '1:54', 'needs the full name', 'match: { name: UNIT.service }'],
    [
      'a path',
      '{match: {path: /a/sshd.service}, critical: false, liftProtection: true}',
      '1:75',
      'needs the full name',
      'match: { name: UNIT.service }',
    ],
    [
      'a name without its end',
      '{match: {name: sshd}, critical: false, liftProtection: true}',
      '1:24',
      'not the full name of a unit',
      'sshd.service',
    ],
    [
      'is refused without critical: false',
      '{match: {name: sshd.service}, liftProtection: true}',
      '1:55',
      'needs critical: false',
      'two keys',
    ],
    [
      'is refused with critical: true',
      '{match: {name: sshd.service}, critical: true, liftProtection: true}',
      '1:71',
      'needs critical: false',
      'two keys',
    ],
    [
      'process 1',
      '{match: {name: init.scope}, critical: false, liftProtection: true}',
      '1:24',
      'init.scope is always protected',
      'remove the rule',
    ],
    [
      'evictd',
      '{match: {name: evictd.service}, critical: false, liftProtection: true}',
      '1:24',
      'evictd.service is always protected',
      'remove',
    ],
  ])('%s', (_rule, entry, at, message, hint) => {
    const read = () => load({ 'config.yaml': `rules: [${entry}]\n` });
    expect(issuesOf(read)).toEqual([`config.yaml:${at} EVICTD_CONFIG_LIFT`]);
    expect(errorOf(read).issues[0]?.message).toContain(message);
    expect(errorOf(read).issues[0]?.hint).toContain(hint);
  });
});

describe('flags for sources', () => {
  test('for cgroups, slices and units together replace the sources of files', () => {
    const flags = { workloadSlice: ['batch.slice', 'x.slice'], workloadUnit: ['web@*.service'], workloadCgroup: ['/y'] };
    const { config } = load({ 'config.yaml': 'workloads: [{cgroup: /a}]\n' }, flags);
    expect(config.workloads).toEqual([
      { cgroup: '/y' },
      { systemd: { slices: ['batch.slice'], units: [] } },
      { systemd: { slices: ['x.slice'], units: [] } },
      { systemd: { slices: [], units: ['web@*.service'] } },
    ]);
  });

  test.each([
    ['--workload-slice', { workloadCgroup: ['/y'], workloadSlice: ['batch'] }],
    ['--workload-unit', { workloadUnit: ['a.service', 'web'] }],
  ])('have their own error for %s', (flag, flags) => {
    expect(issuesOf(() => load({ 'config.yaml': '' }, flags))).toEqual([`${flag}:1 EVICTD_CONFIG_UNIT`]);
  });
});
