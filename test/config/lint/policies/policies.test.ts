import { describe, expect, test } from 'vitest';
import { lintPolicy } from '../../../../src/config/lint/lint-rules.js';
import { policyConditionsRule } from '../../../../src/config/lint/policies/policy-conditions.js';
import { policyScopesRule, policyStepsRule } from '../../../../src/config/lint/policies/policy-steps.js';
import type { FixedValue, PolicyFacts } from '../../../../src/config/lint/machine.js';
import type { ConfiguredPolicy, LadderStep } from '../../../../src/core/policy/configured-policy.js';
import type { RawValue } from '../../../../src/core/policy/raw-value.js';
import type { WorkloadSourceSpec } from '../../../../src/workloads/kinds/source-spec.js';
import { conditionOf } from '../../../core/condition/conditions.js';
import { Gi } from '../../../core/support.js';
import { machine, present, subject } from '../support.js';

const RULES = [policyConditionsRule, policyScopesRule, policyStepsRule];

const NO_SWAP: FixedValue = { is: 'missing', why: 'there is no swap' };
const NONE: FixedValue = { is: 'zero', why: 'there is no swap' };
const NO_PSI: FixedValue = { is: 'missing', why: 'this kernel measures no pressure' };

function facts(overrides: Partial<PolicyFacts> = {}): PolicyFacts {
  const node: [RawValue, FixedValue][] = [
    ['swap.available', NO_SWAP],
    ['swap.available.capacity', NO_SWAP],
    ['memory.pressure.full.total', NO_PSI],
  ];
  const cgroup: [RawValue, FixedValue][] = [
    ['memory.swap', NONE],
    ['pswpout', NONE],
    ['memory.pressure.full.total', NO_PSI],
  ];
  return {
    fixed: { node: new Map(node), cgroup: new Map(cgroup) },
    fixedIn: new Map([['/n', new Map([['memory.swap', NONE]])]]),
    matches: new Map([['/a', 1]]),
    total: { memory: 16n * Gi, swap: 2n * Gi },
    cgroupVersion: 2,
    ...overrides,
  };
}

function policy(when: string, overrides: Partial<ConfiguredPolicy> & { readonly exception?: string } = {}): ConfiguredPolicy {
  const { exception, ...others } = overrides;
  const unless = exception === undefined ? {} : { unless: conditionOf(exception, 'cgroup') };
  return {
    name: 'a',
    scope: { cgroup: '/a' },
    when: conditionOf(when, 'cgroup'),
    ...unless,
    forNs: 0n,
    cooldownNs: 0n,
    then: [{ kind: 'notify' }],
    ...others,
  };
}

function findings(
  policies: readonly ConfiguredPolicy[],
  found: PolicyFacts | 'offline' = facts(),
  workloads: readonly WorkloadSourceSpec[] = [{ cgroup: '/' }],
  programs = new Map<string, string>(),
) {
  const capacities = new Map(machine().capacities).set('swap.available', 2n * Gi);
  const here = machine({ policies: found === 'offline' ? facts() : found, programs, capacities });
  return lintPolicy(subject([], { policies, workloads }), found === 'offline' ? undefined : here, RULES);
}

describe('where a condition can never hold', () => {
  test.each<[when: string, never: boolean]>([
    ['swap.available < 10%', true],
    ['!(swap.available < 10%)', true],
    ['swap.available falling', true],
    ['swap.available exists', true],
    ['!swap.available exists', false],
    ['memory.available < 10%', false],
    ['memory.current > 10% of swap.total', true],
    ['memory.available < 10% & swap.available < 10%', true],
    ['memory.available < 10% | swap.available < 10%', false],
    ['swap.total < 10Gi | memory.pressure.full > 5%', true],
    ['!(swap.available < 10% | memory.available < 10%)', true],
    ['!(swap.available < 10% & memory.available < 10%)', false],
    ['memory.pressure.full.avg10 > 40%', false],
    ['memory.swap > 1Mi', true],
    ['memory.swap > 0', true],
    ['memory.swap < 1Mi', false],
    ['memory.swap <= 0', false],
    ['!(memory.swap > 1Mi)', false],
    ['!(memory.swap < 1Mi)', true],
    ['memory.swap > 10% of memory.max', true],
    ['memory.swap rising', true],
    ['!memory.swap rising', false],
    ['memory.swap exists', false],
    ['memory.swap.growth > 5% over 1m', true],
    ['memory.swap.growth < 5% over 1m', true],
    ['memory.swap.growth > 5Mi over 1m', true],
    ['memory.swap.growth < 5Mi over 1m', false],
    ['pswpout > 5/s over 1m', true],
  ])('%s: %s', (when, never) => {
    const found = findings([policy(when)]).filter(({ code }) => !/BRANCH|ALWAYS/.test(code));
    expect(found.map(({ code, key }) => `${code} ${key}`)).toEqual(never ? ['EVICTD_LINT_POLICY_NEVER policies[0].when'] : []);
  });

  test('the finding says why', () => {
    expect(findings([policy('memory.available < 10%'), policy('memory.pressure.full > 5% & swap.available < 10%')])[0]?.message).toBe(
      'policies[1].when: a never acts here: memory.pressure.full: this kernel measures no pressure',
    );
  });

  test('the finding has the reason of each branch where no branch can hold', () => {
    const found = findings([policy('age > 1h & (swap.available < 10% | memory.pressure.full > 5%)')]);
    expect(found.map(({ message, test: place }) => [message, place])).toEqual([
      [
        'policies[0].when: a never acts here: swap.available: there is no swap, and memory.pressure.full: this kernel measures no pressure',
        1,
      ],
    ]);
  });

  test.each<[when: string, dead: readonly [place: number, why: string][]]>([
    ['age > 1h | memory.pressure.full > 5%', [[1, 'memory.pressure.full: this kernel measures no pressure']]],
    [
      'swap.available < 10% | age > 1h | processes > 5 & memory.swap > 1Mi',
      [
        [0, 'swap.available: there is no swap'],
        [3, 'memory.swap: there is no swap'],
      ],
    ],
    ['age > 1h & (processes > 5 | !(age > 2h & memory.swap < 1Mi))', [[3, 'memory.swap: there is no swap']]],
    ['!(age > 2h & memory.swap > 1Mi) & age > 1h', []],
    ['age > 1h | memory.swap < 1Mi & processes > 5', []],
  ])('the finding names a dead branch beside one that can hold: %s', (when, dead) => {
    const expected = dead.map(([place, why]) => ['info EVICTD_LINT_POLICY_BRANCH', `a part never holds here: ${why}`, place]);
    const shown = findings([policy(when)]).map(({ level, code, message, test: place }) => [
      `${level} ${code}`,
      message.replace(/^policies.*: a: /, ''),
      place,
    ]);
    expect(shown).toEqual(expected);
  });

  test('the finding names a dead branch of unless', () => {
    const found = findings([policy('age > 1h', { exception: 'age > 2h | memory.swap > 1Mi' })]);
    expect(found.map(({ code, key, test: place }) => [code, key, place])).toEqual([['EVICTD_LINT_POLICY_BRANCH', 'policies[0].unless', 1]]);
  });

  test.each<[unless: string, never: boolean]>([
    ['swap.available > 10%', true],
    ['swap.available exists', false],
    ['!swap.available exists', true],
    ['memory.swap > 1Mi', false],
    ['memory.swap < 1Mi', true],
  ])('unless %s: %s', (exception, never) => {
    const found = findings([policy('memory.available < 10%', { exception })]);
    expect(found.map(({ code, key }) => `${code} ${key}`)).toEqual(never ? ['EVICTD_LINT_POLICY_NEVER policies[0].unless'] : []);
  });

  test('the finding needs a machine', () => {
    expect(findings([policy('swap.available < 10%')], 'offline')).toEqual([]);
  });
});

// 8 GiB for the node and 16 GiB in the machine, 2 GiB of swap, a disk of 100 GiB, 1000 processes.
describe('where a capacity decides', () => {
  const swap = facts({ fixed: { node: new Map(), cgroup: new Map() }, fixedIn: new Map() });
  const verdicts = (one: ConfiguredPolicy, found = swap): string[] =>
    findings([one], found).map(({ level, code, message, test: place }) => {
      const [, why = ''] = /here: (.*)/.exec(message) ?? [];
      return `${level} ${code.replace('EVICTD_LINT_POLICY_', '')} ${why} at ${String(place)}`;
    });

  test.each<[when: string, found: string[]]>([
    ['memory.available < 64Ti', ['warn ALWAYS memory.available is at most 8GiB at 0']],
    ['memory.available <= 8Gi', ['warn ALWAYS memory.available is at most 8GiB at 0']],
    ['memory.available < 8Gi', []],
    ['memory.available > 8Gi', ['warn NEVER memory.available is at most 8GiB at 0']],
    ['memory.available >= 8Gi', []],
    ['!(memory.available > 8Gi)', ['warn ALWAYS memory.available is at most 8GiB at 0']],
    ['memory.total < 1Ti', ['warn ALWAYS memory.total is 8GiB at 0']],
    ['memory.total > 8Gi', ['warn NEVER memory.total is 8GiB at 0']],
    ['memory.total >= 8Gi', ['warn ALWAYS memory.total is 8GiB at 0']],
    ['pid.available < 1G', ['warn ALWAYS pid.available is at most 1000 processes at 0']],
    ['nodefs.available < 200Gi', ['warn ALWAYS nodefs.available is at most 100GiB at 0']],
    ['imagefs.available < 200Gi', []],
    ['node.memory.current > 9Gi', ['warn NEVER memory.current is at most 8GiB at 0']],
    ['memory.current > 9Gi', []],
    ['memory.current > 17Gi', ['warn NEVER memory.current is at most 16GiB at 0']],
    ['cgroup(/a).memory.anon > 17Gi', ['warn NEVER cgroup(/a).memory.anon is at most 16GiB at 0']],
    ['memory.swap > 3Gi', ['warn NEVER memory.swap is at most 2GiB at 0']],
    ['memory.boundNodes.available < 17Gi', ['warn ALWAYS memory.boundNodes.available is at most 16GiB at 0']],
    ['memory.anon > 200% of memory.total', ['warn NEVER memory.anon is at most 16GiB, memory.total is 8GiB at 0']],
    ['memory.anon > 150% of memory.total', []],
    ['memory.anon > 0% of memory.max', []],
    ['memory.max > 64Ti', []],
    ['memory.growth > 64Ti over 1m', []],
    ['memory.pressure.full.avg10 > 99%', []],
    ['memory.available < 64Ti & memory.current > 1Gi', []],
    ['memory.current > 1Gi | memory.available < 64Ti', ['warn ALWAYS memory.available is at most 8GiB at 1']],
    ['memory.current > 1Gi | memory.available > 64Ti', ['info BRANCH memory.available is at most 8GiB at 1']],
    ['memory.current > 1Gi & memory.available > 64Ti', ['warn NEVER memory.available is at most 8GiB at 1']],
  ])('%s', (when, found) => {
    expect(verdicts(policy(when))).toEqual(found);
  });

  test.each<[when: string, exception: string, found: string[]]>([
    ['age > 1h', 'memory.available < 100Ti', ['warn NEVER memory.available is at most 8GiB at 0']],
    ['memory.available < 64Ti', 'age > 1h', []],
    ['memory.available < 64Ti', 'memory.available > 64Ti', ['warn ALWAYS memory.available is at most 8GiB at 0']],
  ])('%s unless %s', (when, exception, found) => {
    expect(verdicts(policy(when, { exception }))).toEqual(found);
  });

  test.each<[when: string, found: string[]]>([
    ['memory.swap < 1Mi', ['warn ALWAYS memory.swap: there is no swap at 0']],
    ['!swap.available exists', ['warn ALWAYS swap.available: there is no swap at 0']],
    ['memory.swap < 1Mi | swap.available < 10%', ['warn ALWAYS memory.swap: there is no swap at 0']],
    ['memory.available < 10% & (swap.available <= 10% | !swap.available exists)', ['info BRANCH swap.available: there is no swap at 1']],
    ['age > 1h | swap.available < 10%', ['info BRANCH swap.available: there is no swap at 1']],
  ])('a value that does not exist or is always 0 decides only what it decides: %s', (when, found) => {
    expect(verdicts(policy(when), facts())).toEqual(found);
  });

  test('nothing is known of what was not read', () => {
    const unread = { ...facts(), total: {} };
    expect(verdicts(policy('memory.current > 64Ti'), unread)).toEqual([]);
  });
});

test('a pattern that matches nothing', () => {
  const policies = [policy('age > 1h'), policy('age > 2h', { scope: { cgroup: '/b/**' } })];
  const found = findings(policies, facts({ matches: new Map([['/a', 1], ['/b/**', 0]]) })); // oxfmt-ignore
  expect(found.map(({ code, key }) => `${code} ${key}`)).toEqual(['EVICTD_LINT_POLICY_SCOPE policies[1].scope.cgroup']);
});

test('a named cgroup is reported if it does not exist now, or can never have the value', () => {
  const there = 'cgroup(/a).memory.swap > 1Mi';
  const policies = [
    policy('cgroup(/n).memory.swap > 1Mi'),
    policy(there, { scope: { cgroup: '/a' } }),
    policy('age > 1h', { exception: `cgroup(/gone) exists | ${there}` }),
  ];
  const found = findings(policies, facts({ matches: new Map([['/a', 1], ['/n', 1], ['/gone', 0]]) })); // oxfmt-ignore
  expect(found.map(({ code, key, message }) => `${code} ${key}${message.slice(message.lastIndexOf(':'))}`)).toEqual([
    'EVICTD_LINT_POLICY_NEVER policies[0].when: there is no swap',
    'EVICTD_LINT_POLICY_SCOPE policies[2].unless: /gone',
  ]);
});

describe('steps of a policy that will fail', () => {
  const run: LadderStep = { kind: 'run', command: ['/bin/a', 'b'], timeoutNs: 1n };
  const reclaim: LadderStep = { kind: 'reclaim', memoryBytes: 1n, withinNs: 1n };
  const throttle: LadderStep = { kind: 'throttle', memoryHigh: { kind: 'usage' }, forNs: 1n };
  const kill: LadderStep = { kind: 'kill', by: [], unit: 'workload', recursive: false };

  test.each<[rule: string, steps: readonly LadderStep[], overrides: Partial<PolicyFacts>, found: string[]]>([
    [
      'cgroup v1 has neither memory.reclaim nor memory.high',
      [reclaim, throttle, kill],
      { cgroupVersion: 1 },
      ['STEP then[0]', 'STEP then[1]'],
    ],
    ['v2 has both', [reclaim, throttle, kill], { fixed: { node: new Map(), cgroup: new Map() } }, []],
    ['a throttle needs pressure of cgroups', [reclaim, throttle, kill], {}, ['STEP then[1]']],
  ])('%s', (_rule, then, overrides, found) => {
    const codes = findings([policy('age > 1h', { then })], facts(overrides)).map(({ code, message }) => {
      return `${code.replace('EVICTD_LINT_POLICY_', '')} ${/then\[\d\]/.exec(message)?.[0] ?? ''}`;
    });
    expect(codes).toEqual(found);
  });

  test('a comparator that decides nothing is named with the reason', () => {
    const steps: LadderStep[] = [
      { kind: 'stop', graceNs: 1n, by: ['growth', 'swap'], unit: 'workload' },
      { ...kill, by: ['priority', 'size'] },
    ];
    expect(findings([policy('age > 1h', { then: steps })]).map(({ code, message }) => [code, message])).toEqual([
      ['EVICTD_LINT_POLICY_ORDER', 'policies[0].then[0]: a: stop by swap decides nothing here: there is no swap'],
    ]);
  });

  test.each<[rule: string, program: string, codes: string[]]>([
    ['a program that another user can change', '/bin/a', ['EVICTD_LINT_POLICY_PROGRAM']],
    ['a program that only root can change', 'b', []],
  ])('%s', (_rule, program, codes) => {
    const found = findings([policy('age > 1h', { then: [run] })], facts(), [], new Map([[program, 'is writable']]));
    expect(found.map(({ code }) => code)).toEqual(codes);
  });

  test.each<[steps: readonly LadderStep[], codes: string[]]>([
    [[{ kind: 'notify' }, run], []],
    [[{ kind: 'notify' }, kill], ['EVICTD_LINT_POLICY_WORKLOADS']],
    [[{ kind: 'freeze', forNs: 1n }], ['EVICTD_LINT_POLICY_WORKLOADS']],
  ])('steps without a workload source are reported: %#', (then, codes) => {
    expect(findings([policy('age > 1h', { then })], 'offline', []).map(({ code }) => code)).toEqual(codes);
  });

  const below: WorkloadSourceSpec = { cgroup: '/w' };
  const slice: WorkloadSourceSpec = { systemd: { slices: ['user.slice'], units: [] } };
  test.each<[scope: string | undefined, sources: readonly WorkloadSourceSpec[], isReached: boolean]>([
    ['/other', [below], false],
    ['/w', [below], true],
    ['/w/*', [below], true],
    ['/w/x-?', [below], true],
    ['/**', [below], true],
    ['/**/x.service', [below], true],
    ['/w/**/x', [below], true],
    ['/w/x/y', [below], false],
    ['/ww', [below], false],
    ['/other', [below, slice], false],
    ['/user.slice/user-*.slice', [below, slice], true],
    ['/user.slice/user-1.slice/app', [slice], true],
    ['/system.slice', [slice], false],
    ['/system.slice/x.service', [{ systemd: { slices: [], units: ['x.service'] } }], true],
    ['/system.slice/y.service', [{ systemd: { slices: [], units: ['x.service'] } }], true], // there may be one in it
    ['/other', [{ systemd: { slices: [], units: [], managedOOM: true } }], true],
    [undefined, [below], true],
  ])('a scope that no source reaches is reported: %s', (cgroup, sources, isReached) => {
    const one = policy('age > 1h', { then: [{ kind: 'freeze', forNs: 1n }, kill] });
    const { scope: _, ...ofNode } = one;
    const found = findings([cgroup === undefined ? ofNode : { ...one, scope: { cgroup } }], 'offline', sources);
    const message = `policies[0].then: a: freeze has no workload to act on: no source has a workload in ${String(cgroup)}`;
    expect(found.map((finding) => finding.message)).toEqual(isReached ? [] : [message]);
  });

  test.each<[path: string, codes: string[]]>([
    ['/other/x', []],
    ['/w/x', ['EVICTD_LINT_POLICY_WORKLOADS']],
  ])('a scope is reached if the workload %s exists', (path, codes) => {
    const policies = [policy('age > 1h', { then: [kill], scope: { cgroup: '/oth*' } })];
    const workloads = { present: [present('x', { path })], sources: [] };
    const found = lintPolicy(subject([], { policies, workloads: [below] }), machine({ workloads, policies: facts() }), RULES);
    expect(found.map(({ code }) => code)).toEqual(codes);
  });
});
