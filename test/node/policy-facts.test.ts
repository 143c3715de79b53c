import { describe, expect, test } from 'vitest';
import type { ConfiguredPolicy } from '../../src/core/policy/configured-policy.js';
import { policyNeeds } from '../../src/core/policy/condition-needs.js';
import type { RawValue } from '../../src/core/policy/raw-value.js';
import type { ScopeKind } from '../../src/core/policy/condition.js';
import { readPolicyFacts, type PolicyMachine } from '../../src/node/policy-facts.js';
import { conditionOf } from '../core/condition/conditions.js';

const V2 = { version: 2, controller: '', mountPoint: '/sys/fs/cgroup', root: '/' } as const;
const V1 = { version: 1, controller: 'memory', mountPoint: '/sys/fs/cgroup/memory', root: '/' } as const;

/** Linux 6.12, three cgroups, swap. */
const FILES: Readonly<Record<string, string>> = {
  '/proc/meminfo': 'MemTotal:        1000 kB\nSwapTotal:         10 kB\nAnonPages: 5 kB\n',
  '/proc/vmstat': 'pgscan_kswapd 0\npgscan_direct 0\npswpout 0\noom_kill 0\n',
  '/proc/pressure/memory': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
  '/proc/pressure/cpu': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
  '/sys/fs/cgroup/a/memory.stat': 'anon 5\nfile 5\npgscan 0\n',
  '/sys/fs/cgroup/a/memory.swap.current': '0\n',
  '/sys/fs/cgroup/a/memory.pressure': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
  '/sys/fs/cgroup/a/io.stat': '8:0 rbytes=1 wbytes=1 rios=1 wios=1 dbytes=0 dios=0\n',
  '/sys/fs/cgroup/a/b/pids.current': '5\n',
  '/sys/fs/cgroup/a/b/memory.stat': 'anon 5\n',
  '/sys/fs/cgroup/c/memory.stat': 'anon 5\n',
};

function machine(
  files: Readonly<Record<string, string | undefined>> = {},
  hierarchies: PolicyMachine['hierarchies'] = { memory: V2, unified: V2, pids: V2 },
): PolicyMachine {
  const all: Record<string, string | undefined> = { ...FILES, ...files };
  const within = (path: string): readonly string[] => {
    const below = Object.keys(all).flatMap((file) => (file.startsWith(`${path}/`) ? [file.slice(path.length + 1).split('/')] : []));
    return [...new Set(below.flatMap(([name = '', ...rest]) => (rest.length > 0 ? [name] : [])))];
  };
  return {
    hierarchies,
    node: undefined,
    missing: new Map([['allocatableMemory.available', 'allocatable is not configured']]),
    files: { text: (path) => all[path], directories: within },
  };
}

function policy(when: string, cgroup = '/a/**'): ConfiguredPolicy {
  return { name: 'x', scope: { cgroup }, when: conditionOf(when, 'cgroup'), forNs: 0n, cooldownNs: 0n, then: [{ kind: 'notify' }] };
}

/** `missing: why` or `zero: why` of this value. */
function fixed(of: ScopeKind, value: RawValue, when: string, at = machine()): string | undefined {
  const found = readPolicyFacts([policy(when)], at).fixed[of].get(value);
  return found && `${found.is}: ${found.why}`;
}

describe('values that the node does not have', () => {
  const noSwap = { '/proc/meminfo': 'SwapTotal:             0 kB\n' };
  test.each<[value: RawValue, when: string, files: Record<string, string | undefined>, fact: string | undefined]>([
    ['swap.available', 'swap.available < 10%', {}, undefined],
    ['swap.available', 'swap.available < 10%', noSwap, 'missing: there is no swap'],
    ['swap.available.capacity', 'swap.available < 10%', noSwap, 'missing: there is no swap'],
    ['pswpout', 'node.pswpout > 5 over 1m', noSwap, 'zero: there is no swap'],
    ['pswpout', 'node.pswpout > 5 over 1m', {}, undefined],
    ['pgscan', 'node.pgscan > 5 over 1m', {}, undefined],
    [
      'workingset_refault',
      'node.workingset_refault > 5 over 1m',
      {},
      "missing: this kernel's /proc/vmstat has no workingset_refault_anon, workingset_refault_file",
    ],
    ['memory.anon', 'node.memory.anon > 1Gi', {}, undefined],
    ['memory.shmem', 'node.memory.shmem > 1Gi', {}, "missing: this kernel's /proc/meminfo has no Shmem"],
    ['memory.pressure.full.avg10', 'node.memory.pressure.full.avg10 > 5%', {}, undefined],
    [
      'memory.pressure.full.total',
      'node.memory.pressure.full > 5%',
      { '/proc/pressure/memory': undefined },
      'missing: this kernel measures no pressure (boot with psi=1)',
    ],
    ['cpu.pressure.full.total', 'node.cpu.pressure.full > 5%', {}, 'zero: that of a machine is always 0'],
    ['cpu.pressure.some.total', 'node.cpu.pressure.some > 5%', {}, undefined],
    ['memory.available', 'memory.available < 10%', {}, undefined],
    ['allocatableMemory.available', 'allocatableMemory.available < 1Gi', {}, 'missing: allocatable is not configured'],
    ['allocatableMemory.available.capacity', 'allocatableMemory.available < 10%', {}, 'missing: allocatable is not configured'],
  ])('on %s: %s with %j', (value, when, files, fact) => {
    expect(fixed('node', value, when, machine(files))).toBe(fact);
  });

  const noPsi = { '/proc/pressure/memory': undefined };
  const noCgroupPsi = { '/sys/fs/cgroup/a/memory.pressure': undefined };
  const none = 'missing: this kernel measures no pressure (boot with psi=1)';
  const v1 = { memory: V1, unified: undefined, pids: undefined };
  test.each<
    [rule: string, when: string, files: Record<string, string | undefined>, hierarchies: typeof v1 | undefined, fact: string | undefined]
  >([
    ['swap of the machine', 'swap.available < 10%', noSwap, undefined, 'missing: there is no swap'],
    ['a signal that it lacks', 'allocatableMemory.available < 1Gi', {}, undefined, 'missing: allocatable is not configured'],
    ['pressure of its own', 'node.memory.pressure.full > 5%', noPsi, undefined, undefined],
    ['pressure of the machine in its place', 'node.memory.pressure.full > 5%', noCgroupPsi, undefined, undefined],
    ['no pressure at all', 'node.memory.pressure.full > 5%', { ...noPsi, ...noCgroupPsi }, undefined, none],
    ['on v1 the pressure is that of the machine', 'node.memory.pressure.full > 5%', {}, v1, undefined],
    ['on v1 without pressure of the machine', 'node.memory.pressure.full > 5%', noPsi, v1, none],
    ['a key of its file', 'node.pgscan > 5 over 1m', {}, undefined, undefined],
    ['a key that its file lacks', 'node.pswpout > 5 over 1m', {}, undefined, 'missing: /a has no memory.stat pswpout'],
    ['on v1 no page scans', 'node.pgscan > 5 over 1m', {}, v1, 'missing: cgroup v1 does not have it'],
    ['on v1 no reclaimed pages', 'node.pgsteal > 5 over 1m', {}, v1, 'missing: cgroup v1 does not have it'],
  ])('of a cgroup as the node: %s', (_rule, when, files, hierarchies, fact) => {
    const at = { ...machine({ ...files, '/sys/fs/cgroup/memory/a/memory.stat': 'total_rss 5\n' }, hierarchies), node: '/a' };
    const [value] = policyNeeds([policy(when)]).node;
    expect(value && fixed('node', value, when, at)).toBe(fact);
  });
});

describe('values that cgroups do not have', () => {
  const hybrid = { memory: V1, unified: V2, pids: undefined };
  const v1 = { memory: V1, unified: undefined, pids: undefined };
  test.each<[value: RawValue, when: string, hierarchies: PolicyMachine['hierarchies'], fact: string | undefined]>([
    ['memory.anon', 'memory.anon > 1Gi', { memory: V2, unified: V2, pids: V2 }, undefined],
    ['pswpout', 'pswpout > 5 over 1m', { memory: V2, unified: V2, pids: V2 }, 'missing: /a has no memory.stat pswpout'],
    ['pgscan', 'pgscan > 5 over 1m', { memory: V2, unified: V2, pids: V2 }, undefined],
    ['processes', 'processes > 5', { memory: V2, unified: V2, pids: V2 }, undefined],
    ['memory.high', 'memory.high > 5Mi', { memory: V2, unified: V2, pids: V2 }, 'missing: /a has no memory.high'],
    ['io.bytes', 'io.bytes > 5Mi over 1m', { memory: V2, unified: V2, pids: V2 }, undefined],
    ['memory.pressure.full.total', 'memory.pressure.full > 5%', { memory: V2, unified: V2, pids: V2 }, undefined],
    [
      'cpu.pressure.full.total',
      'cpu.pressure.full > 5%',
      { memory: V2, unified: V2, pids: V2 },
      'missing: /a has no cpu.pressure full total',
    ],
    ['age', 'age > 5m', { memory: V2, unified: V2, pids: V2 }, undefined],
    ['memory.high', 'memory.high > 5Mi', v1, 'missing: cgroup v1 does not have it'],
    ['memory.max', 'memory.max > 5Mi', v1, undefined],
    ['memory.pressure.full.total', 'memory.pressure.full > 5%', v1, 'missing: cgroup v1 does not have it'],
    ['memory.pressure.full.total', 'memory.pressure.full > 5%', hybrid, undefined],
    ['memory.high', 'memory.high > 5Mi', hybrid, 'missing: cgroup v1 does not have it'],
    ['memory.request', 'memory.current > 5% of request', v1, undefined],
    [
      'memory.current',
      'memory.current > 5Mi',
      { memory: undefined, unified: undefined, pids: undefined },
      'missing: no memory controller is mounted',
    ],
  ])('on %s: %s on %j', (value, when, hierarchies, fact) => {
    expect(fixed('cgroup', value, when, machine({}, hierarchies))).toBe(fact);
  });

  test.each<[value: RawValue, when: string, files: Record<string, string>, fact: string | undefined]>([
    ['processes', 'processes > 5', {}, 'missing: /a has no pids.current below /sys/fs/cgroup/pids'],
    ['processes', 'processes > 5', { '/sys/fs/cgroup/pids/a/pids.current': '5\n' }, undefined],
    ['io.bytes', 'io.bytes > 5Mi over 1m', {}, 'missing: the blkio controller is not mounted'],
    ['io.cost', 'io.cost > 5/s over 1m', {}, 'missing: the blkio controller is not mounted'],
    ['memory.shmem', 'memory.shmem > 5Mi', {}, 'missing: /a has no memory.stat total_shmem'],
    ['memory.anon', 'memory.anon > 5Mi', {}, undefined],
    [
      'memory.pressure.full.total',
      'memory.pressure.full > 5%',
      {},
      'missing: /a has no memory.pressure full total below /sys/fs/cgroup/unified',
    ],
  ])('on v1, where each hierarchy has its own cgroups: %s with %j', (value, when, files, fact) => {
    const [pids, unified] = [
      { ...V1, controller: 'pids', mountPoint: '/sys/fs/cgroup/pids' },
      { ...V2, mountPoint: '/sys/fs/cgroup/unified' },
    ];
    const at = machine({ '/sys/fs/cgroup/memory/a/memory.stat': 'total_rss 5\n', ...files }, { memory: V1, unified, pids });
    expect(fixed('cgroup', value, when, at)).toBe(fact);
  });

  test.each<[nodes: string | undefined, fact: string | undefined]>([
    ['0\n', 'missing: this machine has one memory node'],
    [undefined, 'missing: this machine has one memory node'],
    ['0-1\n', undefined],
  ])('are those of bound memory nodes, with the nodes %j', (nodes, fact) => {
    const at = machine({ '/sys/devices/system/node/has_memory': nodes });
    expect(fixed('cgroup', 'memory.boundNodes.available', 'memory.boundNodes.used > 90%', at)).toBe(fact);
  });

  test('are pressure on a kernel that measures none, also without a matching cgroup', () => {
    const when = 'memory.pressure.full > 5%';
    const factsAt = (files: Record<string, string | undefined>) =>
      readPolicyFacts([policy(when, '/none')], machine(files)).fixed.cgroup.get('memory.pressure.full.total')?.is;
    expect([factsAt({}), factsAt({ '/proc/pressure/memory': undefined })]).toEqual([undefined, 'missing']);
  });

  test('are unknown without a matching cgroup', () => {
    const { fixed: found } = readPolicyFacts([policy('pswpout > 5 over 1m', '/none')], machine());
    expect(found.cgroup).toEqual(new Map());
  });

  test('in the exception of a policy are checked, too', () => {
    const one = { ...policy('age > 5m'), unless: conditionOf('pswpout > 5 over 1m', 'cgroup') };
    expect([...readPolicyFacts([one], machine()).fixed.cgroup.keys()]).toEqual(['pswpout']);
  });
});

test('the cgroups that match a policy are counted', () => {
  const policies = ['/a', '/a/*', '/a/**', '/**', '/c', '/nope/*', '/*/b'].map((cgroup) => policy('age > 5m', cgroup));
  expect(readPolicyFacts(policies, machine()).matches).toEqual(
    new Map([
      ['/a', 1],
      ['/a/*', 1],
      ['/a/**', 2],
      ['/**', 3],
      ['/c', 1],
      ['/nope/*', 0],
      ['/*/b', 1],
    ]),
  );
});

test('a named cgroup is judged by itself, and may not exist', () => {
  const when = 'cgroup(/a/b).pgscan > 5 over 1m & cgroup(/a).pgscan > 5 over 1m & cgroup(/nope).pgscan > 5 over 1m';
  const { fixed: found, fixedIn, matches } = readPolicyFacts([policy(when, '/c')], machine());
  expect(found.cgroup).toEqual(new Map());
  expect(fixedIn).toEqual(
    new Map([
      ['/a/b', new Map([['pgscan', { is: 'missing', why: '/a/b has no memory.stat pgscan' }]])],
      ['/a', new Map()],
      ['/nope', new Map()],
    ]),
  );
  expect(matches).toEqual(new Map([['/c', 1], ['/a/b', 1], ['/a', 1], ['/nope', 0]])); // oxfmt-ignore
});

test('the memory and swap of the machine are facts', () => {
  expect(readPolicyFacts([policy('age > 5m')], machine()).total).toEqual({ memory: 1000n * 1024n, swap: 10n * 1024n });
});

test('the version of cgroups is a fact', () => {
  expect(readPolicyFacts([policy('age > 5m')], machine({}, { memory: V1, unified: undefined, pids: undefined })).cgroupVersion).toBe(1);
});

test.each<[rule: string, files: Record<string, string | undefined>, is: string | undefined]>([
  ['exists', {}, undefined],
  ['does not exist', { '/sys/fs/cgroup/a/memory.pressure': undefined }, 'missing'],
])('the pressure that a throttle needs %s', (_rule, files, is) => {
  const then = [{ kind: 'throttle', memoryHigh: { kind: 'usage' }, forNs: 1n }] as const;
  const { cgroup } = readPolicyFacts([{ ...policy('age > 1h'), then }], machine(files)).fixed;
  expect(cgroup.get('memory.pressure.full.total')?.is).toBe(is);
});

test('a value that only a step compares is judged, too', () => {
  const then = [{ kind: 'kill', by: ['pgscan', 'priority', 'size'], unit: 'workload', recursive: false }] as const;
  const { cgroup } = readPolicyFacts(
    [{ ...policy('age > 1h'), then }],
    machine({}, { memory: V1, unified: undefined, pids: undefined }),
  ).fixed;
  expect([...cgroup.keys()]).toEqual(['pgscan']);
});
