import { describe, expect, test } from 'vitest';
import { conditionText } from '../../../src/core/condition/condition-text.js';
import type { ConfiguredPolicy, LadderStep } from '../../../src/core/policy/configured-policy.js';
import { errorOf, issuesOf, load } from '../scratch.js';

const SECOND = 1_000_000_000n;
const MIB = 1n << 20n;

function policiesOf(yaml: string): readonly ConfiguredPolicy[] {
  return load({ 'config.yaml': `policies:\n${yaml}` }).config.policies;
}

/** Issues of one policy with this ladder, written in one line. */
function stepIssues(steps: string): string[] {
  return issuesOf(() => policiesOf(`  - {name: a, when: memory.available < 10%, then: ${steps}}\n`)).map((issue) =>
    issue.replace('config.yaml:2:', ''),
  );
}

test('there are no policies by default, and the lists of files are concatenated', () => {
  expect(load({ 'config.yaml': '' }).config.policies).toEqual([]);
  const { config } = load({
    'config.yaml': 'policies: [{name: a, when: memory.available < 10%, then: [notify]}]\n',
    'config.d/50.yaml': 'policies: [{name: b, when: memory.available < 20%, then: [notify]}]\n',
  });
  expect(config.policies.map(({ name }) => name)).toEqual(['a', 'b']);
});

test('all keys of a policy are read', () => {
  const [policy] = policiesOf(`
  - name: protect-interactive
    scope: {cgroup: /user.slice/**/app.slice/}
    when: memory.pressure.full > 40% & memory.available < 15%
    for: 10s
    unless: memory.pressure.full falling
    cooldown: 1m
    then: [notify, kill]
    hooks: {preEvict: [/bin/save, --all], postEvict: {command: [/bin/note], timeout: 1m}}
`);
  expect({ ...policy, when: undefined, unless: undefined }).toEqual({
    name: 'protect-interactive',
    scope: { cgroup: '/user.slice/**/app.slice' },
    when: undefined,
    forNs: 10n * SECOND,
    unless: undefined,
    cooldownNs: 60n * SECOND,
    then: [{ kind: 'notify' }, { kind: 'kill', by: [], unit: 'workload', recursive: false }],
    hooks: {
      preEvict: { argv: ['/bin/save', '--all'], timeoutNs: 10n * SECOND, deadlineNs: SECOND / 5n },
      postEvict: { argv: ['/bin/note'], timeoutNs: 60n * SECOND },
    },
  });
  expect([policy?.when, policy?.unless].map((one) => one && conditionText(one, 'cgroup'))).toEqual([
    'memory.pressure.full > 40% over 2s & memory.available < 15%',
    'memory.pressure.full falling over 10s',
  ]);
});

test('a name may have 63 characters', () => {
  const name = 'a'.repeat(63);
  expect(policiesOf(`  - {name: ${name}, when: swap.available exists, then: [notify]}\n`)[0]?.name).toBe(name);
});

test('a policy with only required keys is about the node, acts at once, and has a cooldown of 15 s', () => {
  expect(policiesOf('  - {name: a, when: swap.available exists, then: [notify]}\n')).toEqual([
    {
      name: 'a',
      when: { kind: 'exists', metric: { name: 'swap.available', of: 'node' } },
      forNs: 0n,
      cooldownNs: 15n * SECOND,
      then: [{ kind: 'notify' }],
    },
  ]);
});

test('the window of a pressure condition is pressureWindow, wherever that is set', () => {
  const { config } = load({
    'config.yaml': 'policies: [{name: a, when: io.pressure.some > 5%, then: [notify]}]\n',
    'config.d/50.yaml': 'pressureWindow: 5s\n',
  });
  expect(config.policies[0]?.when).toMatchObject({ windowNs: 5n * SECOND });
});

test.each<[step: string, parsed: LadderStep]>([
  ['notify', { kind: 'notify' }],
  ['{run: [/bin/a, --all, 5]}', { kind: 'run', command: ['/bin/a', '--all', '5'], timeoutNs: 10n * SECOND }],
  ['{run: {command: [/bin/a], timeout: 1m}}', { kind: 'run', command: ['/bin/a'], timeoutNs: 60n * SECOND }],
  ['{reclaim: {memory: 200Mi, within: 5s}}', { kind: 'reclaim', memoryBytes: 200n * MIB, withinNs: 5n * SECOND }],
  ['{reclaim: {memory: 200Mi}}', { kind: 'reclaim', memoryBytes: 200n * MIB, withinNs: 10n * SECOND }],
  ['throttle', { kind: 'throttle', memoryHigh: { kind: 'usage' }, forNs: 30n * SECOND }],
  ['{throttle: {memoryHigh: usage, for: 5s}}', { kind: 'throttle', memoryHigh: { kind: 'usage' }, forNs: 5n * SECOND }],
  ['{throttle: {memoryHigh: 500Mi}}', { kind: 'throttle', memoryHigh: { kind: 'quantity', bytes: 500n * MIB }, forNs: 30n * SECOND }],
  ['{throttle: {memoryHigh: 90% of usage}}', { kind: 'throttle', memoryHigh: { kind: 'share', ratio: 0.9 }, forNs: 30n * SECOND }],
  ['freeze', { kind: 'freeze', forNs: 10n * SECOND }],
  ['{freeze: {for: 5s}}', { kind: 'freeze', forNs: 5n * SECOND }],
  ['stop', { kind: 'stop', graceNs: 10n * SECOND, by: [], unit: 'workload' }],
  ['{stop: {grace: 0s, by: growth, unit: process}}', { kind: 'stop', graceNs: 0n, by: ['growth'], unit: 'process' }],
  ['{kill: {by: [pgscan, oom_score], unit: process}}', { kind: 'kill', by: ['pgscan', 'oom_score'], unit: 'process', recursive: false }],
])('%s', (step, parsed) => {
  expect(policiesOf(`  - {name: a, when: memory.available < 10%, then: [${step}]}\n`)[0]?.then).toEqual([parsed]);
});

test.each<[wrong: string, steps: string, issues: string[]]>([
  ['there are no steps', '[]', ['51 EVICTD_CONFIG_POLICY']],
  ['the value is not a list', 'notify', ['51 EVICTD_CONFIG_TYPE']],
  ['an unknown step', '[notfy]', ['52 EVICTD_CONFIG_UNKNOWN_KEY']],
  ['an empty step', '[{}]', ['52 EVICTD_CONFIG_MISSING']],
  ['one entry has two steps', '[{notify: {}, freeze: {for: 5s}}]', ['73 EVICTD_CONFIG_VALUE']],
  ['an unknown key of a step', '[{freeze: {during: 5s}}]', ['62 EVICTD_CONFIG_UNKNOWN_KEY']],
  ['a program that is looked for', '[{run: [docker]}]', ['58 EVICTD_CONFIG_PATH']],
  ['a shell line', '[{run: /bin/a --all}]', ['58 EVICTD_CONFIG_TYPE']],
  ['the program is missing', '[{run: []}]', ['58 EVICTD_CONFIG_MISSING']],
  ['reclaim without an amount', '[reclaim]', ['52 EVICTD_CONFIG_MISSING']],
  ['all of the usage as a percentage', '[{throttle: {memoryHigh: 100% of usage}}]', ['76 EVICTD_CONFIG_VALUE']],
  ['a percentage of nothing', '[{throttle: {memoryHigh: 90%}}]', ['76 EVICTD_CONFIG_VALUE']],
  ['a number alone as the memory to reclaim', '[{reclaim: {memory: 200}}]', ['71 EVICTD_CONFIG_QUANTITY']],
  ['a number alone as memoryHigh', '[{throttle: {memoryHigh: 1}}]', ['76 EVICTD_CONFIG_QUANTITY']],
  ['parts of a byte', '[{reclaim: {memory: 200m}}]', ['71 EVICTD_CONFIG_QUANTITY']],
  ['an exponent without a unit', '[{throttle: {memoryHigh: 2e8}}]', ['76 EVICTD_CONFIG_QUANTITY']],
  ['no memory to reclaim', '[{reclaim: {memory: 0}}]', ['71 EVICTD_CONFIG_RANGE']],
  ['freezing for hours', '[{freeze: {for: 1h}}]', ['67 EVICTD_CONFIG_RANGE']],
  ['an unknown comparator', '[{stop: {by: sise}}]', ['64 EVICTD_CONFIG_VALUE']],
  ['the comparator is missing', '[{kill: {by: []}}]', ['64 EVICTD_CONFIG_MISSING']],
  ['comparators in one text', '[{kill: {by: "size, growth"}}]', ['64 EVICTD_CONFIG_TYPE']],
  ['a comparator twice', '[{kill: {by: [size, size]}}]', ['64 EVICTD_CONFIG_VALUE']],
  ['one process is to be found level by level', '[{kill: {unit: process, recursive: true}}]', ['66 EVICTD_CONFIG_VALUE']],
  ['a step after kill', '[kill, notify]', ['58 EVICTD_CONFIG_POLICY']],
  ['several at once', '[{run: [docker]}, {freeze: {for: 1h}}]', ['58 EVICTD_CONFIG_PATH', '84 EVICTD_CONFIG_RANGE']],
])('steps of a policy are refused: %s', (_wrong, steps, issues) => {
  expect(stepIssues(steps)).toEqual(issues);
});

test.each<[wrong: string, policy: string, issues: string[]]>([
  ['the name is missing', '{when: age > 1h, scope: {cgroup: /a}, then: [notify]}', ['5 EVICTD_CONFIG_MISSING']],
  ['a name with a space', "{name: 'a b', when: swap.available exists, then: [notify]}", ['12 EVICTD_CONFIG_VALUE']],
  ['a name of 64 characters', `{name: ${'a'.repeat(64)}, when: swap.available exists, then: [notify]}`, ['12 EVICTD_CONFIG_VALUE']],
  ['a name that ends in -', '{name: a-, when: swap.available exists, then: [notify]}', ['12 EVICTD_CONFIG_VALUE']],
  ['the condition is missing', '{name: a, then: [notify]}', ['5 EVICTD_CONFIG_MISSING']],
  ['an unknown key', '{name: a, when: swap.available exists, whne: x, then: [notify]}', ['44 EVICTD_CONFIG_UNKNOWN_KEY']],
  ['the root cgroup', '{name: a, when: age > 1h, scope: {cgroup: //}, then: [notify]}', ['47 EVICTD_CONFIG_VALUE']],
  ['a relative cgroup', '{name: a, scope: {cgroup: a.slice}, when: age > 1h, then: [notify]}', ['31 EVICTD_CONFIG_PATH']],
  ['a metric of cgroups without a scope', '{name: a, when: swap.available exists & age > 1h, then: [notify]}', ['45 EVICTD_CONFIG_METRIC']],
  [
    'a metric of cgroups without a scope in unless',
    '{name: a, when: swap.available exists, unless: age > 1h, then: [notify]}',
    ['52 EVICTD_CONFIG_METRIC'],
  ],
  [
    'an unknown metric and a wrong amount',
    '{name: a, when: memory.avail < 1 | memory.available < 5, then: [notify]}',
    ['21 EVICTD_CONFIG_METRIC', '59 EVICTD_CONFIG_AMOUNT'],
  ],
  ['half a condition', '{name: a, when: "memory.available <  ", then: [notify]}', ['40 EVICTD_CONFIG_AMOUNT']],
  ['a negative for', '{name: a, when: swap.available exists, for: -1s, then: [notify]}', ['49 EVICTD_CONFIG_RANGE']],
])('a policy is refused: %s', (_wrong, policy, issues) => {
  expect(issuesOf(() => policiesOf(`  - ${policy}\n`)).map((issue) => issue.replace('config.yaml:2:', ''))).toEqual(issues);
});

test('errors between the keys of an entry are reported with the errors in each key', () => {
  const policies = `
  - name: A B
    when: age > 1h & memory.avail < 1Gi & memory.available < 5
    unless: processes > 5
    cooldown: -1s
    then: [{kill: {by: sise}}, notfy]
  - name: b
    whne: swap.available exists
    then: []
`;
  const { issues } = errorOf(() => policiesOf(policies));
  expect(issues.map(({ code, position, message }) => [`${String(position.line)}:${String(position.column)}`, code, message])).toEqual([
    ['3:11', 'EVICTD_CONFIG_VALUE', 'policies[0].name: not a valid name of a policy: "A B"'],
    ['4:11', 'EVICTD_CONFIG_METRIC', 'policies[0].when: age is a metric of cgroups, and not of the node'],
    ['4:22', 'EVICTD_CONFIG_METRIC', 'policies[0].when: "memory.avail" is not a metric'],
    ['4:62', 'EVICTD_CONFIG_AMOUNT', 'policies[0].when: bytes need a unit: 5'],
    ['5:13', 'EVICTD_CONFIG_METRIC', 'policies[0].unless: processes is a metric of cgroups, and not of the node'],
    ['6:15', 'EVICTD_CONFIG_RANGE', expect.stringMatching(/^policies\[0\].cooldown: /)],
    ['7:24', 'EVICTD_CONFIG_VALUE', expect.stringMatching(/^policies\[0\].then\[0\].kill.by/)],
    ['7:32', 'EVICTD_CONFIG_POLICY', 'policies[0].then[1]: no step can follow kill'],
    ['7:32', 'EVICTD_CONFIG_UNKNOWN_KEY', 'unknown key policies[0].then[1].notfy'],
    ['8:5', 'EVICTD_CONFIG_MISSING', 'policies[1].when: is missing'],
    ['9:5', 'EVICTD_CONFIG_UNKNOWN_KEY', 'unknown key policies[1].whne'],
    ['10:11', 'EVICTD_CONFIG_POLICY', 'policies[1].then: has no step'],
  ]);
});

test('a similar comparator is suggested', () => {
  const hints = ['"size, growth"', 'size growth', '[]'].flatMap((by) => {
    const policy = `  - {name: a, when: memory.available < 10%, then: [{kill: {by: ${by}}}]}\n`;
    return errorOf(() => policiesOf(policy)).issues.map(({ hint }) => hint);
  });
  const list = 'write a list: [size, growth]';
  expect(hints).toEqual([list, list, 'by: [size], or leave by out: the order of evictions decides']);
});

test('a similar key is suggested', () => {
  const { issues } = errorOf(() => policiesOf('  - {name: a, when: memory.avialable < 1% & 1% > swap.total, then: [notfy], whne: 1}\n'));
  const first = 'write the metric first: memory.available < 10%';
  expect(issues.map(({ hint }) => hint)).toEqual(['did you mean memory.available?', first, 'did you mean notify?', 'did you mean when?']);
});

test.each<[policy: string, hint: string]>([
  ['{when: swap.available exists, then: [notify]}', 'name: protect-interactive'],
  ['{name: a, then: [notify]}', 'when: memory.available < 10%'],
  ['{name: a, when: swap.available exists}', 'then: [notify, kill]'],
  ['{name: a, when: swap.available exists, then: [{reclaim: {memory: 200}}]}', 'write 200Mi, 200Ki or 200k'],
  ['{name: a, when: swap.available exists, then: [{reclaim: {memory: 200m}}]}', 'did you mean 200M or 200Mi?'],
  ['{name: a, when: swap.available exists, then: [{}]}', 'write one of notify, run, reclaim, throttle, freeze, stop, kill'],
  ['{name: a, when: swap.available exists, then: [reclaim]}', 'memory: 200Mi'],
  ['{name: a, when: swap.available exists, then: [{run: /bin/a --all}]}', 'write a list: run: [/usr/local/bin/drop-caches, --all]'],
  ['{name: a, when: swap.available exists, then: [[notify]]}', 'write a step: notify, or reclaim: {memory: 200Mi}'],
  ['{name: a, scope: /a, when: swap.available exists, then: [notify]}', 'write {cgroup: /user.slice/**}'],
  ['{name: a, scope: {}, when: swap.available exists, then: [notify]}', 'cgroup: /user.slice/**'],
  ['memory.available < 10%', 'write {name: protect-interactive, when: memory.available < 10%, then: [notify, kill]}'],
])('the hint for %s', (policy, hint) => {
  expect(errorOf(() => policiesOf(`  - ${policy}\n`)).issues.map((issue) => issue.hint)).toEqual([hint]);
});

describe('the column of a problem is right for each way to write a YAML text', () => {
  test.each<[way: string, when: string, position: string]>([
    ['plain', 'when: memory.available < 5', '3:30'],
    ['plain, folded', 'when: memory.available\n       < 5', '4:10'],
    ['single quotes', "when: 'memory.available < 5'", '3:31'],
    ['double quotes', 'when: "memory.available < 5"', '3:31'],
    ['escaped: its start', 'when: "memory.available\\x20< 5"', '3:11'],
    ['a folded block', 'when: >\n      memory.available\n      < 5', '5:9'],
    ['a literal block with a comment', 'when: |- # why\n\n      swap.available exists\n      & memory.available < 5', '6:28'],
    ['a problem at the end of the text', 'when: swap.available exists &', '3:34'],
    ['behind a quote in quotes', "when: 'it''s < 5 & memory.available < 5'", '3:43'],
    ['through an alias', 'unless: &c memory.available < 5\n    when: *c', '3:35'],
  ])('%s', (_way, when, position) => {
    const issues = issuesOf(() => policiesOf(`  - name: a\n    ${when}\n    then: [notify]\n`));
    expect(issues.at(-1)?.replace(/^config.yaml:(\S+) .*/, '$1')).toBe(position);
  });
});

describe('contradictions between policies', () => {
  const two = (a: string, b: string): string => `  - {name: a, then: [notify], ${a}}\n  - {name: b, then: [notify], ${b}}\n`;
  test.each<[wrong: string, yaml: string, issues: string[]]>([
    [
      'two policies of one name',
      '  - {name: a, when: swap.available exists, then: [notify]}\n  - {name: a, when: memory.available < 5%, then: [notify]}\n',
      ['3:12 EVICTD_CONFIG_POLICY'],
    ],
    [
      'two policies of one condition',
      two('when: memory.available < 1Gi & swap.available < 5%', 'when: swap.available<5% & memory.available<1024Mi'),
      ['3:37 EVICTD_CONFIG_POLICY'],
    ],
    [
      'two policies of one condition and exception',
      two('when: memory.available < 1Gi, unless: swap.available exists', 'when: memory.available < 1Gi, unless: swap.available exists'),
      ['3:37 EVICTD_CONFIG_POLICY'],
    ],
    [
      'an amount below and above',
      '  - {name: a, when: memory.available < 5% & memory.available > 10%, then: [notify]}\n',
      ['2:45 EVICTD_CONFIG_POLICY'],
    ],
    [
      'a condition that always holds',
      '  - {name: a, when: memory.available < 10% | memory.available > 5%, then: [notify]}\n',
      ['2:46 EVICTD_CONFIG_POLICY'],
    ],
    [
      'unless follows from when',
      '  - {name: a, when: memory.available < 5%, unless: memory.available < 10%, then: [notify]}\n',
      ['2:52 EVICTD_CONFIG_POLICY'],
    ],
  ])('are refused: %s', (_wrong, yaml, issues) => {
    expect(issuesOf(() => policiesOf(yaml))).toEqual(issues.map((issue) => `config.yaml:${issue}`));
  });

  test.each<[right: string, yaml: string]>([
    ['another scope', two('when: memory.available < 5%, scope: {cgroup: /a}', 'when: memory.available < 5%, scope: {cgroup: /b}')],
    ['another time', two('when: memory.available < 5%, for: 1s', 'when: memory.available < 5%, for: 9s')],
    ['another exception', two('when: memory.available < 5%', 'when: memory.available < 5%, unless: swap.available exists')],
    ['an exception that leaves a part', '  - {name: a, when: memory.available < 10%, unless: memory.available < 5%, then: [notify]}\n'],
  ])('are accepted: %s', (_right, yaml) => {
    expect(policiesOf(yaml)).not.toEqual([]);
  });

  test('include any policy in the profile kubelet', () => {
    const yaml =
      'compatibility: kubelet\nallocatable: {cgroup: /a, capacity: 1Gi}\npolicies: [{name: a, when: memory.available < 5%, then: [notify]}]\n';
    expect(issuesOf(() => load({ 'config.yaml': yaml }))).toEqual(['config.yaml:3:12 EVICTD_CONFIG_PROFILE']);
  });

  test('include any policy on Windows', () => {
    const yaml = 'policies: [{name: a, when: memory.available < 5%, then: [notify]}]\n';
    const read = () => load({ 'config.yaml': yaml }, {}, undefined, { os: 'windows', programData: 'C:\\ProgramData' });
    expect(issuesOf(read)).toEqual(['config.yaml:1:1 EVICTD_CONFIG_PLATFORM']);
  });
});
