import { describe, expect, test } from 'vitest';
import { load } from '../../config/scratch.js';
import { commentsOf, converted, convertedText, settingsOf } from './converted.js';

describe('an import from oomd', () => {
  const detector = (name: string, args: Readonly<Record<string, unknown>>) => ({ name, args });
  const ruleset = (detectors: readonly unknown[], actions: readonly unknown[], more: object = {}): string =>
    JSON.stringify({ rulesets: [{ name: 'Little Memory!', detectors: [['group', ...detectors]], actions, ...more }] });
  const pressure = (cgroup: string, more: object = {}) =>
    detector('pressure_above', { cgroup, resource: 'memory', threshold: '60', duration: '30', ...more });
  const kill = (name: string, cgroup: string, more: object = {}) => detector(name, { cgroup, ...more });

  test.each<[rule: string, detectors: readonly unknown[], when: string]>([
    ['pressure_above', [pressure('a.slice')], 'memory.pressure.full.avg10 > 60%'],
    ['pressure_above of io', [pressure('a.slice', { resource: 'io', threshold: '7.5' })], 'io.pressure.full.avg10 > 7.5%'],
    [
      'pressure_rising_beyond, but not while it falls',
      [detector('pressure_rising_beyond', { cgroup: 'a.slice', resource: 'memory', threshold: '60', duration: '30' })],
      'memory.pressure.full.avg60 > 60% & memory.pressure.full.avg10 > 60%\n    for: 30s\n    unless: memory.pressure.full.avg10 falling',
    ],
    [
      'memory_reclaim, which has a window, and which is not less than a second',
      [pressure('a.slice'), detector('memory_reclaim', { cgroup: 'a.slice', duration: 0 })],
      'memory.pressure.full.avg10 > 60% & pgscan > 0 over 1s',
    ],
    ['swap_free', [detector('swap_free', { threshold_pct: 15 })], 'swap.available < 15%'],
    [
      'bytes per second are pages per second',
      [detector('swap_free', { threshold_pct: 15, swapout_bps_threshold: '4097' })],
      'swap.available < 15% & node.pswpout >= 2/s over 10s',
    ],
    [
      'a number alone is in MiB',
      [detector('memory_above', { cgroup: 'a.slice', threshold: '1536', duration: 1 })],
      'memory.current > 1536Mi',
    ],
    ['a sum of sizes', [detector('memory_above', { cgroup: 'a.slice', threshold: '1.5M 32K 1', duration: 1 })], 'memory.current > 1569Ki'],
    [
      'threshold_anon wins, in percent of the machine',
      [detector('memory_above', { cgroup: 'a.slice', threshold: '1G', threshold_anon: '70%', duration: 1 })],
      'memory.anon > 70% of memory.total',
    ],
    [
      'swap_above_memory_max',
      [detector('swap_above_memory_max', { cgroup: 'a.slice', threshold_pct: 150 })],
      'memory.swap > 150% of memory.max',
    ],
    [
      'nr_dying_descendants: lte is the default',
      [detector('nr_dying_descendants', { cgroup: 'a.slice', count: 9 })],
      'descendants.dying <= 9',
    ],
    [
      'pressure of the machine',
      [pressure('/'), pressure('a.slice')],
      'node.memory.pressure.full.avg10 > 60% & memory.pressure.full.avg10 > 60%',
    ],
    ['a detector that is always met', [detector('continue', {}), pressure('a.slice')], 'memory.pressure.full.avg10 > 60%'],
  ])('%s', (_rule, detectors, when) => {
    expect(settingsOf(convertedText('oomd', ruleset(detectors, [kill('kill_by_swap_usage', 'a.slice/*')])))).toContain(`when: ${when}\n`);
  });

  test('converts the kill, its targets and its delay', () => {
    expect(
      settingsOf(convertedText('oomd', ruleset([pressure('a.slice')], [kill('kill_by_pg_scan', 'a.slice/*', { recursive: true })]))),
    ).toBe(
      [
        'workloads:',
        '  - systemd: {slices: [a.slice]}',
        'policies:',
        '  - name: little-memory',
        '    scope: {cgroup: /a.slice}',
        '    when: memory.pressure.full.avg10 > 60%',
        '    for: 30s',
        '    cooldown: 15s',
        '    then:',
        '      - kill: {by: [pgscan], recursive: true}',
      ].join('\n'),
    );
  });

  test.each<[rule: string, action: unknown, step: string]>([
    ['size', kill('kill_by_memory_size_or_growth', 'a.slice/*'), 'kill: {by: [size, growth]}'],
    ['memory pressure', kill('kill_by_pressure', 'a.slice/*', { resource: 'memory' }), 'kill: {by: [pressure]}'],
    ['io pressure', kill('kill_by_pressure', 'a.slice/*', { resource: 'io' }), 'kill: {by: [io]}'],
    ['dry', kill('kill_by_swap_usage', 'a.slice/*', { dry: 'true' }), 'notify'],
    ['dry: false', kill('kill_by_swap_usage', 'a.slice/*', { dry: 'false' }), 'kill: {by: [swap]}'],
    ['freeze', kill('freeze', 'a.slice/*'), 'freeze: {for: 30s}'],
    ['restart', detector('systemd_restart', { service: 'x y.service' }), 'run: [/usr/bin/systemctl, restart, x y.service]'],
  ])('converts an action: %s', (_rule, action, step) => {
    expect(settingsOf(convertedText('oomd', ruleset([pressure('a.slice')], [action])))).toContain(`then:\n      - ${step}`);
  });

  test.each<[rule: string, detectors: readonly unknown[], target: string, scopes: readonly string[]]>([
    ['one policy for each cgroup that has a target', [pressure('a.slice,b.slice')], 'a.slice/x/*,b.slice/*', ['/a.slice/x', '/b.slice']],
    ['a unit in the judged cgroup', [pressure('a.slice')], 'a.slice/b.service', ['/a.slice/b.service']],
    ['some of the units in the judged cgroup', [pressure('a.slice')], 'a.slice/x-*', ['/a.slice/x-*']],
    ['a judged pattern within the targets', [pressure('a.slice/x-*')], 'a.slice/*', ['/a.slice/x-*']],
    ['no policy for a cgroup without a target', [pressure('a.slice,b.slice')], 'b.slice/*', ['/b.slice']],
    ['the parent of the targets if no judged cgroup has one', [pressure('a.slice')], 'c.slice/d-*.slice/*', ['/c.slice/d-*.slice']],
    ['patterns that meet', [pressure('a.slice/a-*.slice')], 'a.slice/a-b.slice/*', ['/a.slice/a-b.slice']],
    ['patterns with one letter', [pressure('a.slice/a-?.slice')], 'a.slice/a-b.slice/*', ['/a.slice/a-b.slice']],
    ['the only parent of the targets for detectors of the node', [detector('swap_free', { threshold_pct: 15 })], 'a.slice/*', ['/a.slice']],
    ['the node if the targets have several', [detector('swap_free', { threshold_pct: 15 })], 'a.slice/*,b.slice/*', []],
  ])('converts the scope: %s', (_rule, detectors, target, scopes) => {
    const settings = settingsOf(convertedText('oomd', ruleset(detectors, [kill('kill_by_swap_usage', target)])));
    expect([...settings.matchAll(/cgroup: (\/[^}\n]+)}/g)].map(([, scope]) => scope)).toEqual(scopes);
  });

  const above = 'memory.pressure.full.avg10 > 60%';
  const ofA = `cgroup(/a.slice).${above}`;
  test.each<[rule: string, judged: string, target: string, policy: string]>([
    ['the cgroup above a unit is named', 'a.slice', 'a.slice/b.service', `/a.slice/b.service: ${ofA} → kill`],
    ['the cgroup above a pattern is named', 'a.slice', 'a.slice/b-*', `/a.slice/b-*: ${ofA} → kill`],
    ['the cgroup above a deep target is named', 'a.slice', 'a.slice/b-*.slice/*', `/a.slice/b-*.slice: ${ofA} → kill`],
    ['of several cgroups the one above counts', 'c.slice,a.slice', 'a.slice/b.service', `/a.slice/b.service: ${ofA} → kill`],
    ['a pattern above names the cgroup that it matches', '?.slice', 'a.slice/b.service', `/a.slice/b.service: ${ofA} → kill`],
    ['a pattern that matches the target', 'a.slice/b*', 'a.slice/b.service', `/a.slice/b.service: ${above} → kill`],
    [
      'a pattern of cgroups above a pattern only notifies',
      'a-*.slice',
      'a-*.slice/b.service',
      `/a-*.slice/b.service: node.${above} → notify`,
    ],
    ['a pattern beside the target only notifies', 'a.slice/c-*', 'a.slice/b.service', `/a.slice/b.service: node.${above} → notify`],
  ])('acts only in the targets, and judges what the detector judges: %s', (_rule, judged, target, policy) => {
    for (const action of ['kill_by_swap_usage', 'freeze']) {
      const text = convertedText('oomd', ruleset([pressure(judged)], [kill(action, target)]));
      const [, scope, when, step] = /scope: {cgroup: (.*)}\n {4}when: (.*)\n(?:.*\n)*? {6}- (\w+)/.exec(settingsOf(text)) ?? [];
      expect(`${scope ?? ''}: ${when ?? ''} → ${step?.replace('freeze', 'kill') ?? ''}`).toBe(policy);
      expect(settingsOf(text).match(/- name:/g)).toHaveLength(1);
      expect(commentsOf(text).includes('a condition cannot name a pattern')).toBe(step === 'notify');
    }
  });

  test('a ruleset_cgroup is below the cgroup of the ruleset', () => {
    const [judged, target] = ['.', 'x.service'].map((below) => ({ ruleset_cgroup: below, resource: 'memory', threshold: 60, duration: 0 }));
    const actions = [detector('kill_by_swap_usage', { ruleset_cgroup: target?.ruleset_cgroup })];
    const text = (cgroup: string): string =>
      convertedText('oomd', ruleset([detector('pressure_above', judged ?? {})], actions, { cgroup }));
    expect(settingsOf(text('a.slice'))).toContain(`scope: {cgroup: /a.slice/x.service}\n    when: ${ofA}\n`);
    expect(settingsOf(text('a-*.slice'))).toMatch(/scope: {cgroup: \/a-\*\.slice\/x\.service}\n(?:.*\n)* {6}- notify$/);
  });

  test('converts pressure of other cgroups to that of the node, and the policy only notifies', () => {
    const text = convertedText('oomd', ruleset([pressure('a.slice/*'), pressure('b.slice')], [kill('kill_by_swap_usage', 'b.slice/*')]));
    expect(settingsOf(text)).toMatch(
      /when: node.memory.pressure.full.avg10 > 60% & memory.pressure.full.avg10 > 60%\n(?: {4}(?:for|cooldown): .*\n)* {4}then:\n {6}- notify$/,
    );
    expect(commentsOf(text)).toContain(
      'a detector judges /a.slice/*, which is not the scope, and a condition cannot name a pattern. Nearest: the same of the node',
    );
    expect(commentsOf(text)).toContain('so it has only the step `notify`');
  });

  test.each<[rule: string, other: unknown, when: string]>([
    ['pressure', pressure('b.slice'), 'cgroup(/b.slice).memory.pressure.full.avg10 > 60%'],
    [
      "a share of the cgroup's own limit",
      detector('swap_above_memory_max', { cgroup: 'b.slice', threshold_pct: 50 }),
      'cgroup(/b.slice).memory.swap > 50% of cgroup(/b.slice).memory.max',
    ],
    ['a cgroup that must exist', detector('exists', { cgroup: 'b.slice,c.slice' }), '(cgroup(/b.slice) exists | cgroup(/c.slice) exists)'],
    ['a cgroup that must not exist', detector('exists', { cgroup: 'b.slice', negate: true }), '!(cgroup(/b.slice) exists)'],
    [
      'the highest pressure of several',
      pressure('b.slice,c.slice'),
      '(cgroup(/b.slice).memory.pressure.full.avg10 > 60% | cgroup(/c.slice).memory.pressure.full.avg10 > 60%)',
    ],
    [
      'the highest pressure of several cgroups, which must not fall',
      detector('pressure_rising_beyond', { cgroup: 'b,c', resource: 'io', threshold: 9, duration: 1 }),
      `(${['/b', '/c']
        .map((of) => `cgroup(${of}).io.pressure.full`)
        .map((of) => `${of}.avg60 > 9% & ${of}.avg10 > 9% & !${of}.avg10 falling`)
        .join(' | ')})`,
    ],
  ])('names cgroups outside of the scope: %s', (_rule, other, when) => {
    const settings = settingsOf(convertedText('oomd', ruleset([pressure('a.slice'), other], [kill('kill_by_swap_usage', 'a.slice/*')])));
    expect(settings).toContain(`when: memory.pressure.full.avg10 > 60% & ${when}\n`);
    expect(settings).toContain('- kill: ');
  });

  test('converts kills one after the other to policies, each later than the one before, with sources of their own', () => {
    const kills = ['a.slice/*', 'b.slice/*', 'c.slice/*'].map((cgroup) => kill('kill_by_swap_usage', cgroup));
    const text = convertedText('oomd', ruleset([detector('swap_free', { threshold_pct: 15 })], kills, { post_action_delay: 20 }));
    expect(settingsOf(text).split('\n').filter((line) => !/when|cooldown|then/.test(line)).map((line) => line.trim())).toEqual([
      ...['workloads:', ...['a', 'b', 'c'].map((name) => `- systemd: {slices: [${name}.slice]}`), 'policies:'],
      ...['- name: little-memory', 'scope: {cgroup: /a.slice}', '- kill: {by: [swap]}'],
      ...['- name: little-memory-2', 'scope: {cgroup: /b.slice}', 'for: 20s', '- kill: {by: [swap]}'],
      ...['- name: little-memory-3', 'scope: {cgroup: /c.slice}', 'for: 40s', '- kill: {by: [swap]}'],
    ]); // oxfmt-ignore
    expect(commentsOf(text).match(/a policy of its own, which acts later/g)).toHaveLength(2);
  });

  const lowSwap = detector('swap_free', { threshold_pct: 15 });
  /** Scope, `for`, `cooldown` and last step of each policy. */
  const policiesOf = (text: string): readonly string[] =>
    settingsOf(text)
      .split('  - name: ')
      .slice(1)
      .map((policy) =>
        [/(?<=cgroup: )\/[^}]*/, /(?<=^ {4})for: \S+/m, /cooldown: \S+/, /- (?:kill|run|freeze|notify)/]
          .map((part) => part.exec(policy)?.[0] ?? '-')
          .join(' '),
      );

  test('excludes cgroups that another ruleset may kill, with one policy for each parent', () => {
    const other = { name: 'other', detectors: [['group', lowSwap]], actions: [kill('kill_by_swap_usage', 'c.slice/*')] };
    const both = kill('kill_by_swap_usage', 'a.slice/*,b.slice/*');
    const first = JSON.parse(ruleset([lowSwap], [both])) as { rulesets: readonly unknown[] };
    const text = convertedText('oomd', JSON.stringify({ rulesets: [...first.rulesets, other] }));
    expect(policiesOf(text)).toEqual(['/a.slice', '/b.slice', '/c.slice'].map((scope) => `${scope} - cooldown: 15s - kill`));
    expect(commentsOf(text)).toContain('oomd compares what it may kill in several cgroups; evictd has a policy for each');
    expect(policiesOf(convertedText('oomd', ruleset([lowSwap], [both])))).toEqual(['- - cooldown: 15s - kill']);
    expect(policiesOf(convertedText('oomd', ruleset([lowSwap], [kill('kill_by_swap_usage', 'a.slice/x-*,b.slice/*')])))).toHaveLength(2);
  });

  test('gives targets outside the judged cgroups a policy that names these cgroups', () => {
    const settings = settingsOf(convertedText('oomd', ruleset([pressure('a.slice')], [kill('kill_by_swap_usage', 'a.slice/*,b.slice/*')])));
    expect(settings).toContain('scope: {cgroup: /a.slice}\n    when: memory.pressure.full.avg10 > 60%\n');
    expect(settings).toContain('scope: {cgroup: /b.slice}\n    when: cgroup(/a.slice).memory.pressure.full.avg10 > 60%\n');
  });

  test('gives a restart one policy that names all judged cgroups', () => {
    const text = ruleset([pressure('a.slice'), pressure('b.slice')], [detector('systemd_restart', { service: 'x.service' })]);
    const [a, b] = ['a', 'b'].map((name) => `cgroup(/${name}.slice).memory.pressure.full.avg10 > 60%`);
    expect(settingsOf(convertedText('oomd', text)).match(/(?:when|scope): .*/g)).toEqual([`when: ${a ?? ''} & ${b ?? ''}`]);
  });

  test.each<[rule: string, actions: readonly unknown[], more: object, policies: readonly string[]]>([
    [
      'a restart where nothing could be killed',
      [kill('kill_by_swap_usage', 'a.slice/*'), detector('systemd_restart', { service: 'x.service' })],
      {},
      ['/a.slice - cooldown: 15s - kill', '- for: 15s cooldown: 15s - run'],
    ],
    [
      'a frozen cgroup is not killed',
      [detector('freeze', { cgroup: 'b.slice/*' }), kill('kill_by_swap_usage', 'a.slice/*')],
      {},
      ['/b.slice - - - freeze', '/a.slice - cooldown: 15s - kill'],
    ],
    [
      'a kill in some of the frozen cgroups is of these only',
      [detector('freeze', { cgroup: 'a.slice/*,b.slice/*' }), kill('kill_by_swap_usage', 'a.slice/*')],
      {},
      ['- - - - freeze', '/a.slice - cooldown: 15s - kill'],
    ],
    [
      'a freeze is of the kill behind it',
      [kill('kill_by_swap_usage', 'a.slice/*'), detector('freeze', { cgroup: 'b.slice/*' }), kill('kill_by_swap_usage', 'b.slice/*')],
      {},
      ['/a.slice - cooldown: 15s - kill', '/b.slice for: 15s cooldown: 15s - freeze'],
    ],
    [
      'a kill that always continues',
      [kill('kill_by_swap_usage', 'a.slice/*', { always_continue: 'true' }), kill('kill_by_swap_usage', 'b.slice/*')],
      {},
      ['/a.slice - cooldown: 15s - kill', '/b.slice - cooldown: 15s - kill'],
    ],
    [
      'the same actions on one cgroup run a second apart',
      [kill('kill_by_swap_usage', 'a.slice/*', { always_continue: 'true' }), kill('kill_by_pg_scan', 'a.slice/*')],
      {},
      ['/a.slice - cooldown: 15s - kill', '/a.slice for: 1s cooldown: 15s - kill'],
    ],
    [
      'the delay of an action overrides that of the ruleset',
      [kill('kill_by_swap_usage', 'a.slice/*', { post_action_delay: 40 }), kill('kill_by_swap_usage', 'b.slice/*')],
      { post_action_delay: 30 },
      ['/a.slice - cooldown: 40s - kill', '/b.slice for: 40s cooldown: 30s - kill'],
    ],
    ['a delay of zero', [kill('kill_by_swap_usage', 'a.slice/*', { post_action_delay: 0 })], {}, ['/a.slice - cooldown: 0s - kill']],
    [
      'actions after stop are dropped',
      [detector('freeze', { cgroup: 'a.slice/*' }), detector('stop', {}), kill('kill_by_swap_usage', 'a.slice/*')],
      {},
      ['/a.slice - - - freeze'],
    ],
  ])('converts the chain of actions: %s', (_rule, actions, more, policies) => {
    expect(policiesOf(convertedText('oomd', ruleset([lowSwap], actions, more)))).toEqual(policies);
  });

  test.each<[cgroup: string, more: object, scope: string, isWhole: boolean]>([
    ['a.slice/b.slice', {}, '/a.slice/b.slice', true],
    ['a.slice/b.slice', { recursive: true }, '/a.slice/b.slice', false],
    ['a.slice/b.service', {}, '/a.slice/b.service', false],
    ['a.slice/*', {}, '/a.slice', false],
  ])('gives a kill of %s %j its scope, and says if oomd kills the cgroup as a whole', (cgroup, more, scope, isWhole) => {
    const text = convertedText('oomd', ruleset([detector('swap_free', { threshold_pct: 9 })], [kill('kill_by_swap_usage', cgroup, more)]));
    expect(settingsOf(text)).toContain(`scope: {cgroup: ${scope}}`);
    expect(commentsOf(text).includes('oomd kills a cgroup without /* as a whole')).toBe(isWhole);
  });

  test.each<[rule: string, detector: unknown, remark: string]>([
    [
      'dying cgroups of the machine',
      detector('nr_dying_descendants', { cgroup: '/', count: 30_000, lte: true }),
      'a detector judges /: node.descendants.dying <= 30000 is not a condition of the node',
    ],
    [
      'a limit of the machine',
      detector('swap_above_memory_max', { cgroup: '/', threshold_pct: 50 }),
      'a detector judges /: node.memory.swap > 50% of node.memory.max is not a condition of the node',
    ],
    [
      'page scans of other cgroups',
      detector('memory_reclaim', { cgroup: 'b.slice/*', duration: 10 }),
      'a detector judges /b.slice/*, which is not the scope, and a condition cannot name a pattern. Nearest: the same of the node',
    ],
  ])('does not replace the condition of another cgroup by one of the scope: %s', (_rule, lost, remark) => {
    const actions = [kill('kill_by_swap_usage', 'a.slice/*')];
    const text = convertedText('oomd', ruleset([pressure('a.slice'), lost], actions));
    expect(settingsOf(text)).toMatch(/then:\n {6}- notify$/);
    expect(settingsOf(text)).not.toMatch(/ (?:descendants|memory\.swap|pgscan)/);
    expect(commentsOf(text)).toContain(remark);
    expect(settingsOf(convertedText('oomd', ruleset([lost], actions)))).not.toContain('kill');
  });

  test.each<[rule: string, lost: unknown]>([
    ['a cgroup that exists', detector('exists', { cgroup: 'b.slice,c-*.slice', negate: true })],
    ['memory of other cgroups', detector('memory_above', { cgroup: 'b.slice,c-*.slice', threshold: '1G', duration: '1' })],
    ['a path that no condition can name', detector('memory_above', { cgroup: 'b(1).slice', threshold: '1G', duration: '1' })],
    ['a detector of a fork', detector('moon_phase', { full: true })],
  ])('makes a policy without a condition that only notifies: %s', (_rule, lost) => {
    const settings = settingsOf(convertedText('oomd', ruleset([pressure('a.slice'), lost], [kill('kill_by_swap_usage', 'a.slice/*')])));
    expect(settings).toContain('then:\n      - notify');
    expect(settings).not.toContain('kill');
  });

  test('a ruleset for cgroups with an extended attribute only notifies, in each of its groups', () => {
    const groups = [
      ['first', pressure('a.slice')],
      ['second', detector('swap_free', { threshold_pct: 15 })],
    ];
    const more = { cgroup: 'a.slice/*', xattr_filter: 'user.oomd_kill', detectors: groups };
    const text = convertedText('oomd', ruleset([], [kill('kill_by_swap_usage', 'a.slice/*')], more));
    expect(settingsOf(text).match(/then:\n {6}- notify(\n|$)/g)).toHaveLength(2);
    expect(settingsOf(text)).not.toContain('kill');
    expect(commentsOf(text)).toContain(
      'xattr_filter=user.oomd_kill: no counterpart: a scope is a pattern of paths. Its policies only notify',
    );
    expect(commentsOf(text)).toContain('a condition has no exact counterpart. The policy would act more often than oomd');
  });

  test.each<[rule: string, detectors: readonly unknown[], actions: readonly unknown[]]>([
    ['the condition is never met', [detector('stop', {}), pressure('a.slice')], [kill('kill_by_swap_usage', 'a.slice/*')]],
    ['pressure above 100', [pressure('a.slice', { threshold: 100 })], [kill('kill_by_swap_usage', 'a.slice/*')]],
    ['swap below 0', [detector('swap_free', { threshold_pct: 0 })], [kill('kill_by_swap_usage', 'a.slice/*')]],
    ['a condition about the machine', [detector('exists', { cgroup: '/', negate: true })], [kill('kill_by_swap_usage', 'a.slice/*')]],
    ['a ruleset without an action', [pressure('a.slice')], [detector('continue', {})]],
    ['always met', [detector('continue', {})], [kill('kill_by_swap_usage', 'a.slice/*')]],
  ])('makes no policy: %s', (_rule, detectors, actions) => {
    expect(settingsOf(convertedText('oomd', ruleset(detectors, actions)))).toBe('');
  });

  test('converts a ruleset with a delay and a cgroup of its own', () => {
    const text = ruleset(
      [detector('continue', {}), detector('memory_above', { threshold: '1G', duration: 1 })],
      [kill('kill_by_swap_usage', 'a/b/*')],
      {
        cgroup: 'a/*',
        post_action_delay: '40',
      },
    );
    expect(settingsOf(convertedText('oomd', text))).toContain(
      'scope: {cgroup: /a/b}\n    when: memory.current > 1Gi\n    for: 1s\n    cooldown: 40s\n',
    );
  });

  test.each<[cgroup: string, source: string | undefined]>([
    ['a.slice/*', 'systemd: {slices: [a.slice]}'],
    ['a.slice/a-b.slice/*', 'systemd: {slices: [a-b.slice]}'],
    ['a.slice/', 'systemd: {slices: [a.slice]}'],
    ['a.slice/x@*.service', 'systemd: {units: [x@*.service]}'],
    ['a.slice/*.service', 'systemd: {slices: [a.slice]}'],
    ['pods/pod-*/*', 'cgroup: /pods'],
    ['/', undefined],
    ['*/b', undefined],
    ['a.slice/[ab]/*', undefined],
  ])('has the workloads of %s', (cgroup, source) => {
    const [, found] =
      /workloads:\n {2}- (.*)/.exec(
        settingsOf(convertedText('oomd', ruleset([detector('swap_free', { threshold_pct: 9 })], [kill('kill_by_swap_usage', cgroup)]))),
      ) ?? [];
    expect(found).toBe(source);
  });
});

describe('an import from systemd-oomd', () => {
  const files = (all: Readonly<Record<string, string>>): string =>
    converted(
      'systemd-oomd',
      Object.entries(all).map(([file, text]) => ({ file, text })),
    );
  const kill = '[Slice]\nManagedOOMMemoryPressure=kill\n';

  const actsOf = (text: string): readonly string[] =>
    [...settingsOf(text).matchAll(/scope: {cgroup: '?([^'}]*)'?}\n {4}when: [\w.]* > (\w+%)[^]*?then:\n {6}- (\w+)/g)].map(
      ([, scope, limit, step]) => `${scope ?? ''} ${limit ?? ''} ${step ?? ''}`,
    );

  test.each<[file: string, scope: string | undefined, source: string]>([
    ['/etc/systemd/system/app-db.slice.d/x.conf', '/app.slice/app-db.slice', 'slices: [app-db.slice]'],
    ['/etc/systemd/system/user-.slice.d/x.conf', '/user.slice/user-*.slice', 'slices: [user.slice]'],
    ['/etc/systemd/system/-.slice.d/x.conf', undefined, 'slices: [-.slice]'],
    ['/etc/systemd/system/user@.service.d/x.conf', '/user.slice/user-*.slice/user@*.service', 'slices: [user.slice]'],
    ['/etc/systemd/system/web@.service', '/**/web@*.service', 'units: [web@*.service]'],
    ['/etc/systemd/user/app.slice.d/x.conf', '/user.slice/user-*.slice/user@*.service/app.slice', 'slices: [user.slice]'],
    ['/etc/systemd/user/x.service', '/user.slice/user-*.slice/user@*.service/**/x.service', 'slices: [user.slice]'],
    ['/etc/systemd/system/slice.d/x.conf', '/**/*.slice', 'slices: [-.slice]'],
  ])('converts the unit of %s', (file, scope, source) => {
    const settings = settingsOf(files({ [file]: kill }));
    expect(/scope: {cgroup: '?([^'}]*)'?}/.exec(settings)?.[1]).toBe(scope);
    expect(settings).toContain(source);
  });

  test.each<[rule: string, unit: string, oomd: string, line: string]>([
    ['defaults', '', '', 'when: memory.pressure.full.avg10 > 60% & pgscan > 0 over 30s\n    for: 30s'],
    [
      'the defaults of oomd.conf',
      '',
      'DefaultMemoryPressureLimit=555‰\nDefaultMemoryPressureDurationSec=1min 5s',
      '> 55.5% & pgscan > 0 over 30s\n    for: 65s',
    ],
    [
      'the unit wins',
      'ManagedOOMMemoryPressureLimit=7050‱\nManagedOOMMemoryPressureDurationSec=2',
      'DefaultMemoryPressureLimit=5%',
      '> 70.5% & pgscan > 0 over 30s\n    for: 2s',
    ],
    [
      '0 is the default',
      'ManagedOOMMemoryPressureLimit=0%',
      'DefaultMemoryPressureDurationSec=0',
      '> 60% & pgscan > 0 over 30s\n    for: 30s',
    ],
  ])('converts pressure: %s', (_rule, unit, oomd, line) => {
    expect(settingsOf(files({ 'oomd.conf': `[OOM]\n${oomd}`, 'a.slice': `${kill}${unit}` }))).toContain(line);
  });

  test.each<[oomd: string, unit: string, acts: readonly string[]]>([
    ['DefaultMemoryPressureLimit=40%\nDefaultMemoryPressureLimit=', '', ['/a.slice 60% kill']],
    ['DefaultMemoryPressureLimit=40%\nDefaultMemoryPressureDurationSec=', 'ManagedOOMMemoryPressureLimit=', ['/a.slice 40% kill']],
    ['', 'ManagedOOMMemoryPressureLimit=50%\nManagedOOMMemoryPressureLimit=', ['/a.slice 60% kill']],
    ['', 'ManagedOOMMemoryPressureLimit=\nManagedOOMMemoryPressureLimit=50%', ['/a.slice 50% kill']],
    ['', 'ManagedOOMMemoryPressureDurationSec=\nManagedOOMMemoryPressureLimit=5%', ['/a.slice 5% kill']],
    ['', 'ManagedOOMMemoryPressure=', []],
    ['PrekillHookTimeoutSec=', '', ['/a.slice 60% kill']],
  ])('a setting without a value is not set: %j, %j', (oomd, unit, acts) => {
    const text = files({ 'oomd.conf': `[OOM]\n${oomd}`, 'a.slice': `${kill}${unit}` });
    expect(actsOf(text)).toEqual(acts);
    expect(settingsOf(text)).not.toContain('hooks');
  });

  test.each([
    ['5s', 'hooks: {prekill: true}'],
    ['0', ''],
  ])('converts hooks before a kill: %s', (timeout, settings) => {
    expect(settingsOf(files({ 'oomd.conf': `[OOM]\nPrekillHookTimeoutSec=${timeout}` }))).toBe(settings);
  });

  test('lets a later file change an earlier one', () => {
    const text = files({ 'a.slice': kill, 'a.slice.d/1.conf': '[Slice]\nManagedOOMMemoryPressure=auto\nManagedOOMSwap=kill' });
    expect(settingsOf(text)).toContain(
      'name: a-slice-swap\n    scope: {cgroup: /a.slice}\n    when: memory.available < 10% & swap.available < 10%\n',
    );
    expect(settingsOf(text)).not.toContain('pressure');
    expect(commentsOf(text)).toContain('systemd-oomd ends only what uses more than 5 % of all swap, and this policy also what uses less');
  });

  const general = { 'user-.slice.d/10-oomd.conf': `${kill}ManagedOOMMemoryPressureLimit=50%` };

  test.each<[rule: string, all: Readonly<Record<string, string>>, acts: readonly string[]]>([
    ['alone it kills', {}, ['/user.slice/user-*.slice 50% kill']],
    [
      'a unit that exempts itself',
      { 'user-1000.slice.d/50-exempt.conf': '[Slice]\nManagedOOMMemoryPressure=auto' },
      ['/user.slice/user-*.slice 50% notify'],
    ],
    [
      'a unit with another limit takes the rest from the general drop-in',
      { 'user-1000.slice.d/50-limit.conf': '[Slice]\nManagedOOMMemoryPressureLimit=80%' },
      ['/user.slice/user-*.slice 50% notify', '/user.slice/user-1000.slice 80% kill'],
    ],
    [
      'a unit with the same settings has no policy of its own',
      { 'user-1000.slice.d/50-same.conf': '[Slice]\nManagedOOMMemoryPressureLimit=50%\nMemoryHigh=5G' },
      ['/user.slice/user-*.slice 50% kill'],
    ],
    [
      'a unit with the same settings has a policy of its own if the general one only notifies',
      {
        'user-1000.slice.d/50-same.conf': '[Slice]\nMemoryHigh=5G',
        'user-1001.slice.d/50-exempt.conf': '[Slice]\nManagedOOMMemoryPressure=auto',
      },
      ['/user.slice/user-*.slice 50% notify', '/user.slice/user-1000.slice 50% kill'],
    ],
    [
      'drop-ins count in the order of their names, whichever unit they name',
      { 'user-1000.slice.d/05-early.conf': '[Slice]\nManagedOOMMemoryPressure=auto' },
      ['/user.slice/user-*.slice 50% kill'],
    ],
    [
      'an empty drop-in masks the general one of the same name',
      { 'user-1000.slice.d/10-oomd.conf': '' },
      ['/user.slice/user-*.slice 50% notify'],
    ],
    [
      'a unit of another name',
      { 'a.slice.d/50-exempt.conf': '[Slice]\nManagedOOMMemoryPressure=auto' },
      ['/user.slice/user-*.slice 50% kill'],
    ],
    [
      "a unit of the same name of users' managers",
      { '/etc/systemd/user/user-1.slice.d/50-exempt.conf': '[Slice]\nManagedOOMMemoryPressure=auto' },
      ['/user.slice/user-*.slice 50% kill'],
    ],
  ])('merges drop-ins of a prefix with those of a unit as systemd does: %s', (_rule, all, acts) => {
    expect(actsOf(files({ ...general, ...all }))).toEqual(acts);
    expect(actsOf(files({ ...all, ...general })).toSorted()).toEqual([...acts].toSorted());
  });

  const limited = (percent: number): string => `${kill}ManagedOOMMemoryPressureLimit=${String(percent)}%`;
  const users = '/user.slice/user-*.slice/user@*.service';
  test.each<[rule: string, first: string, second: string, text: string, acts: readonly string[]]>([
    ['an empty file in /etc', '/etc/systemd/system', '/usr/lib/systemd/system', '', []],
    ['/run and /usr/local/lib', '/run/systemd/system', '/usr/local/lib/systemd/system', limited(40), [`${users} 40% kill`]],
    ['/usr/lib and /lib', '/usr/lib/systemd/system', '/lib/systemd/system', limited(40), [`${users} 40% kill`]],
    ["an image's directories", '/srv/run/systemd/a/etc/systemd/system', '/srv/run/systemd/a/lib/systemd/system', '', []],
    ['what systemctl set-property wrote', '/run/systemd/system.control', '/etc/systemd/system', limited(40), [`${users} 40% kill`]],
  ])('of files with one name that in the first directory counts: %s', (_rule, first, second, text, acts) => {
    const name = 'user@.service.d/10-oomd.conf';
    const both = [[`${first}/${name}`, text] as const, [`${second}/${name}`, limited(50)] as const];
    for (const order of [both, both.toReversed()]) {
      const all = files(Object.fromEntries(order));
      expect(actsOf(all)).toEqual(acts);
      expect(commentsOf(all)).toContain(`does not count: ${first}/${name} has the same name`);
    }
  });

  test.each<[rule: string, all: Readonly<Record<string, string>>, limit: number]>([
    ['oomd.conf is read before its drop-ins', { '/etc/systemd/oomd.conf': '10', '/usr/lib/systemd/oomd.conf.d/1.conf': '20' }, 80],
    ['a drop-in with a later name wins', { '/usr/lib/systemd/oomd.conf.d/2.conf': '10', '/etc/systemd/oomd.conf.d/1.conf': '20' }, 90],
    ['a masked drop-in does not count', { '/usr/lib/systemd/oomd.conf.d/1.conf': '10', '/etc/systemd/oomd.conf.d/1.conf': '' }, 10],
    ['a masked oomd.conf does not count', { '/usr/lib/systemd/oomd.conf': '10', '/etc/systemd/oomd.conf': '20' }, 80],
  ])('the order of arguments does not matter: %s', (_rule, all, limit) => {
    const named = Object.entries(all).map(([file, used]) => [file, used === '' ? '' : `[OOM]\nSwapUsedLimit=${used}%`] as const);
    for (const order of [named, named.toReversed()]) {
      const text = files({ ...Object.fromEntries(order), 'a.slice': '[Slice]\nManagedOOMSwap=kill' });
      expect(settingsOf(text)).toContain(`when: memory.available < ${String(limit)}% &`);
    }
  });

  test.each<[general: string, unit: string]>([
    ['web@.service', 'web@1.service'],
    ['web@.service.d/a.conf', 'web@1.service.d/b.conf'],
    ['service.d/a.conf', 'web.service.d/b.conf'],
    ['web-.service.d/a.conf', 'web-api-.service.d/b.conf'],
  ])('the policy of %s only notifies and says so if %s exempts itself', (file, unit) => {
    const text = files({ [file]: kill.replace('Slice', 'Service'), [unit]: '[Service]\nManagedOOMMemoryPressure=auto' });
    expect(settingsOf(text)).toMatch(/then:\n {6}- notify$/);
    const [name = ''] = unit.split('.d/');
    expect(commentsOf(text)).toContain(`${name}: these units have other settings, and a scope cannot exclude them`);
  });

  test.each<[rule: string, text: string, policy: string | undefined]>([
    [
      'both conditions',
      'MemoryPressureAbove=50%\nSwapUsageMax=80%\nAction=kill-by-swap',
      'when: memory.pressure.full.avg10 > 50% & swap.available < 20%\n    then:\n      - kill: {by: [swap]}',
    ],
    [
      'lasting',
      'SwapUsageMax=80%\nAction=kill-all\nLastingSec=1500ms',
      'when: swap.available < 20%\n    for: 1500ms\n    then:\n      - kill: {}',
    ],
    ['a rule without an action', 'SwapUsageMax=80%', undefined],
    ['a condition without a value', 'MemoryPressureAbove=\nSwapUsageMax=80%\nAction=kill-all', 'when: swap.available < 20%\n    then:'],
    ['an action without a value', 'SwapUsageMax=80%\nAction=kill-all\nAction=', undefined],
    ['a rule without a condition', 'Action=kill-all', undefined],
    ['a condition that is never met', 'SwapUsageMax=100%\nAction=kill-all', undefined],
  ])('converts a rule: %s', (_rule, text, policy) => {
    const settings = settingsOf(files({ 'r.oomrule': `[Rule]\n${text}`, 'a.slice': '[Slice]\nOOMRules=r' }));
    if (policy === undefined) expect(settings).toBe('');
    else expect(settings).toContain(policy);
  });

  test('makes one policy of a rule that is named twice; of two rules with one condition the second acts later', () => {
    const rule = (action: string): string => `[Rule]\nSwapUsageMax=80%\nLastingSec=5s\nAction=${action}`;
    const rules = { 'r.oomrule': rule('kill-by-swap'), 'q.oomrule': rule('kill-all') };
    const text = files({ ...rules, 'a.slice': '[Slice]\nMemoryHigh=5G\nOOMRules=r q\nOOMRules=r' });
    expect([...settingsOf(text).matchAll(/(?:for|kill): .*/g)].map(([line]) => line)).toEqual([
      'for: 5s',
      'kill: {by: [swap]}',
      'for: 6s',
      'kill: {}',
    ]);
    expect(load({ 'config.yaml': text }).config.policies).toHaveLength(2);
    expect(commentsOf(text)).toContain('a.slice:3: OOMRules=r q: its workloads');
  });

  test('removes earlier rules at an empty OOMRules=, and names a rule that no file has', () => {
    const text = files({
      'r.oomrule': '[Rule]\nSwapUsageMax=80%\nAction=kill-all',
      'a.slice': '[Slice]\nOOMRules=r\nOOMRules=\nOOMRules=other',
    });
    expect(settingsOf(text)).toBe('');
    expect(commentsOf(text)).toContain('no policy for other: add other.oomrule to the files that are converted');
    expect(commentsOf(text)).toContain('no unit among the files has OOMRules= with this rule');
  });
});

describe('an import from earlyoom', () => {
  const policies = (args: string): readonly string[] =>
    [...settingsOf(convertedText('earlyoom', args)).matchAll(/when: '?(.*?)'?\n(?: {4}cooldown: .*\n)? {4}then:\n((?: {6}.*\n?)+)/g)].map(
      ([, when = '', then = '']) => `${when} → ${then.trim().replace(/\n\s*/g, ' ')}`,
    );
  const swap = (text: string): string => `(swap.available <= ${text} | !swap.available exists)`;

  test.each<[args: string, policies: readonly string[]]>([
    [
      '',
      [
        `memory.available <= 10% & ${swap('10%')} → - stop: {grace: 10s, by: [oom_score], unit: process}`,
        `memory.available <= 5% & ${swap('5%')} → - kill: {by: [oom_score], unit: process}`,
      ],
    ],
    [
      '-m 20,18 -s100,100',
      [
        'memory.available <= 20% → - stop: {grace: 10s, by: [oom_score], unit: process}',
        'memory.available <= 18% → - kill: {by: [oom_score], unit: process}',
      ],
    ],
    ['-m 8,8 -s 9,9 --sort-by-rss', [`memory.available <= 8% & ${swap('9%')} → - kill: {by: [size], unit: process}`]],
    [
      '-m 10 -M 1048576 -S 1000,500 -w 2.5 -n',
      [
        `memory.available <= 10% & memory.available <= 1Gi & ${swap('1000Ki')} → - stop: {grace: 2500ms, by: [oom_score], unit: process}`,
        `memory.available <= 5% & memory.available <= 512Mi & ${swap('500Ki')} → - kill: {by: [oom_score], unit: process}`,
      ],
    ],
    ['-gnd --dryrun -s 100', ['memory.available <= 10% → - notify', `memory.available <= 5% & ${swap('50%')} → - notify`]],
    ['-m 5,7 -s 100,100', ['memory.available <= 7% → - kill: {by: [oom_score], unit: process}']],
    ['-m 5,0 -s 100', ['memory.available <= 5% → - stop: {grace: 10s, by: [oom_score], unit: process}']],
  ])('%s', (args, expected) => {
    expect(policies(args)).toEqual(expected);
  });

  test('earlyoom does not rest between victims; what is only reported rests', () => {
    const cooldowns = (args: string): readonly string[] => settingsOf(convertedText('earlyoom', args)).match(/cooldown: \S+/g) ?? [];
    expect(cooldowns('-m 10,5')).toEqual(['cooldown: 0s', 'cooldown: 0s']);
    expect(cooldowns('-m 10,5 --dryrun')).toEqual([]);
    expect(commentsOf(convertedText('earlyoom', ''))).toContain('does not shorten the grace period of a process that already has SIGTERM');
  });

  test.each<[args: string, settings: string]>([
    ['-d', 'log: {level: debug}'],
    ['-n', 'notifications: {desktop: true}'],
    ['-N /a -P /b', 'hooks: {preEvict: [/b], postEvict: [/a]}'],
  ])('converts a setting: %s', (args, settings) => {
    expect(settingsOf(convertedText('earlyoom', args))).toContain(`${settings}\npolicies:\n`);
  });

  test('reads a file as a shell does: the last assignment, quotes and continued lines', () => {
    const file = '# EARLYOOM_ARGS="-m 1"\nEARLYOOM_ARGS="-m 2"\nEARLYOOM_ARGS="-s 100 \\\n -m 7,7 --avoid \'^(a b)$\'"\n';
    expect(policies(file)).toEqual([
      'memory.available <= 7% → - stop: {grace: 10s, by: [oom_score], unit: process}',
      `memory.available <= 7% & ${swap('50%')} → - kill: {by: [oom_score], unit: process}`,
    ]);
    expect(commentsOf(convertedText('earlyoom', file))).toContain(
      'earlyoom:4: --avoid ^(a b)$: no counterpart: evictd never chooses by the name',
    );
  });
});

describe('an import from nohang', () => {
  const memory = 'soft_threshold_min_mem = 5 %\nsoft_threshold_min_swap = 300.5 M\n';

  test.each<[rule: string, text: string, lines: readonly string[]]>([
    [
      'percent and MiB',
      memory,
      [
        'when: memory.available <= 5% & (swap.available <= 307712Ki | !swap.available exists)',
        '- stop: {grace: 10s, by: [oom_score], unit: process}',
      ],
    ],
    [
      'the time to exit',
      `${memory}max_soft_exit_time = 0.5\npost_soft_action_delay = 3`,
      ['cooldown: 3s', '- stop: {grace: 500ms, by: [oom_score], unit: process}'],
    ],
    ['no rest after SIGKILL', 'hard_threshold_min_mem = 4 %\npost_soft_action_delay = 3', ['cooldown: 0s\n    then:\n      - kill: ']],
    ['notifications', `${memory}post_action_gui_notifications = True`, ['notifications: {desktop: true}\n']],
    [
      'a program afterwards',
      'post_kill_exe = /bin/a "b c"\nexe_timeout = 0.5',
      ['hooks: {postEvict: {command: [/bin/a, b c], timeout: 1s}}'],
    ],
    [
      'pressure of a cgroup',
      'psi_checking_enabled = True\npsi_path = /sys/fs/cgroup/a.slice/memory.pressure\npsi_metrics = full_avg60\nhard_threshold_min_mem = 4 %\nhard_threshold_max_psi = 90\npsi_excess_duration = 7\npsi_post_action_delay = 11',
      [
        'scope: {cgroup: /a.slice}',
        'when: memory.pressure.full.avg60 >= 90% & memory.available <= 4% & swap.available exists',
        'for: 7s',
        'cooldown: 11s',
        '- kill: {by: [oom_score], unit: process}',
      ],
    ],
    [
      'pressure of the machine, whose memory threshold is always met',
      'psi_checking_enabled = True\npsi_path = /sys/fs/cgroup/memory.pressure\nsoft_threshold_min_mem = 100 %\nsoft_threshold_max_psi = 60',
      ['when: memory.pressure.some.avg10 >= 60% & swap.available exists', '- stop: {grace: 10s, by: [oom_score], unit: process}'],
    ],
    [
      'a program that warns',
      'low_memory_warnings_enabled = True\nwarning_threshold_min_mem = 20 %\nwarning_exe = /bin/warn "a b"',
      ['- run: [/bin/warn, a b]'],
    ],
    ['a program without a path', 'low_memory_warnings_enabled = True\nwarning_threshold_min_mem = 20 %\nwarning_exe = warn', ['- notify']],
    [
      'a cgroup',
      `${memory}@BADNESS_ADJ_RE_CGROUP_V2 30 /// ^/a-b\\.slice/`,
      ['- match: {path: /a-b.slice/**}\n    priority: -30', 'by: [priority, oom_score]'],
    ],
  ])('%s', (_rule, text, lines) => {
    const settings = settingsOf(convertedText('nohang', text));
    expect(lines.filter((line) => !settings.includes(line))).toEqual([]);
  });

  test('pressure rests as it did in nohang, or as evictd does', () => {
    const psi = 'psi_checking_enabled = True\nhard_threshold_max_psi = 90\nhard_threshold_min_mem = 4 %\n';
    const cooldowns = (text: string): readonly string[] => settingsOf(convertedText('nohang', text)).match(/cooldown: \S+/g) ?? [];
    expect(cooldowns(psi)).toEqual(['cooldown: 0s']);
    expect(cooldowns(`${psi}psi_post_action_delay = 11`)).toEqual(['cooldown: 0s', 'cooldown: 11s']);
    expect(commentsOf(convertedText('nohang', psi))).toContain('does not shorten the grace period of a process that already has SIGTERM');
  });

  test('makes no policy and no comment of warnings that are switched off', () => {
    const off = 'warning_threshold_min_mem = 20 %\nmin_post_warning_delay = 60\nhard_threshold_min_mem = 5 %\n';
    const [without, withThem] = ['False', 'True'].map((value) => convertedText('nohang', `low_memory_warnings_enabled = ${value}\n${off}`));
    expect(commentsOf(without ?? '').match(/nothing: `low_memory_warnings_enabled` is not True/g)).toHaveLength(3);
    expect(commentsOf(without ?? '')).not.toContain('a policy with the step `notify`');
    expect(commentsOf(withThem ?? '')).toContain('a policy with the step `notify`');
  });

  test('the comment of a pressure threshold says that its level has no memory threshold', () => {
    const text = convertedText('nohang', 'psi_checking_enabled = True\nhard_threshold_max_psi = 90');
    expect(commentsOf(text)).toContain(
      'hard_threshold_max_psi = 90: no policy: nohang acts on pressure only at or below hard_threshold_min_mem, which is not above 0',
    );
  });

  test.each(['/proc/pressure/io', '/sys/fs/cgroup/a.slice/io.pressure', '/proc/pressure/cpu'])(
    'pressure of %s only notifies: it is not memory pressure',
    (file) => {
      const psi = `psi_checking_enabled = True\npsi_path = ${file}\nhard_threshold_max_psi = 90\nhard_threshold_min_mem = 4 %\n`;
      const text = convertedText('nohang', psi);
      const [, pressure = ''] = settingsOf(text).split('name: nohang-hard-pressure');
      expect(pressure).toContain('then:\n      - notify');
      expect(pressure).not.toContain('kill');
      expect(commentsOf(text)).toContain(`psi_path = ${file}: no counterpart: this is not the memory.pressure of a cgroup`);
    },
  );

  test.each<[rule: string, text: string]>([
    ['pressure that is not checked', 'psi_checking_enabled = False\nhard_threshold_max_psi = 90\nhard_threshold_min_mem = 100 %'],
    ['pressure that is never reached', 'psi_checking_enabled = True\nhard_threshold_max_psi = 100\nhard_threshold_min_mem = 100 %'],
    ['pressure without a memory threshold', 'psi_checking_enabled = True\nhard_threshold_max_psi = 90\nsoft_threshold_min_mem = 0 %'],
    ['pressure with a memory threshold of 0', 'psi_checking_enabled = True\nhard_threshold_max_psi = 90\nhard_threshold_min_mem = 0 M'],
    ['warnings that are switched off', 'low_memory_warnings_enabled = False\nwarning_threshold_min_mem = 20 %'],
    ['a missing memory threshold', 'hard_threshold_min_mem = 0 %'],
    ['a regular expression with more than a path', '@BADNESS_ADJ_RE_CGROUP_V2 30 /// ^/(a|b)/'],
  ])('makes no setting: %s', (_rule, text) => {
    expect(settingsOf(convertedText('nohang', text))).toBe('');
  });
});

test.each<[plugin: string, args: object, comment: string]>([
  ['kill_by_swap_usage', { kernelkill: true }, 'kernelkill=true: no counterpart: evictd always uses cgroup.kill'],
  ['kill_by_swap_usage', { moon: 'full' }, 'moon=full: no counterpart: evictd does not know this setting'],
  ['kill_by_swap_usage', { cgroup: 'pods/pod-*/*' }, 'cgroup /pods/pod-*/*: evictd takes every workload below /pods'],
  ['kill_by_swap_usage', { cgroup: '/' }, 'cgroup /: no counterpart: no source of workloads says this'],
])("the comment says why oomd's %s %j has no counterpart", (name, args, comment) => {
  const actions = [{ name, args: { cgroup: 'a.slice/*', ...args } }];
  const detectors = [['g', { name: 'swap_free', args: { threshold_pct: 5 } }]];
  expect(commentsOf(convertedText('oomd', JSON.stringify({ rulesets: [{ name: 'x', detectors, actions }] })))).toContain(comment);
});

test.each<[rule: string, args: string, comment: string]>([
  ['an escaped quote in quotes', '--avoid "a\\"b c"', '--avoid a"b c:'],
  ['a backslash in single quotes', "--avoid 'a\\.b'", '--avoid a\\.b:'],
  ['an escaped space', '--avoid a\\ b', '--avoid a b:'],
  ['a continued line', '--avoid a\\\nb', '--avoid ab:'],
  ['an empty value', "--avoid '' -n", '--avoid: no counterpart'],
])('the comment about an earlyoom option: %s', (_rule, args, comment) => {
  expect(commentsOf(convertedText('earlyoom', args))).toContain(comment);
});

test('names of policies are unique and not too long', () => {
  const group = (name: string) => ({
    name,
    detectors: [['group', { name: 'swap_free', args: { threshold_pct: 5 } }]],
    actions: [{ name: 'kill_by_swap_usage', args: { cgroup: 'a.slice/*' } }],
  });
  const long = 'x'.repeat(80);
  const names = [...convertedText('oomd', JSON.stringify({ rulesets: ['-', 'a', 'A', long, long].map(group) })).matchAll(/name: (.*)/g)];
  expect(names.map(([, name]) => name)).toEqual(['policy', 'a', 'a-2', 'x'.repeat(63), `${'x'.repeat(61)}-2`]);
});

test('a value cannot end the comment it is in', () => {
  const name = 'a\npolicies: []\r# \u0085\u2028';
  const text = convertedText('oomd', JSON.stringify({ rulesets: [{ name, detectors: [], actions: [{ name, args: { cgroup: name } }] }] }));
  expect(settingsOf(text)).toBe('');
  expect(commentsOf(text)).toContain('a\\x0apolicies: []\\x0d# \\u0085\\u2028');
});
