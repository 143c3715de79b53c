/** A machine, and the tests that run in it. */
export interface Suite {
  readonly name: string;
  readonly machine: Machine;
  /** Names of files begin so. */
  readonly files: readonly string[];
  /** Of the names of the tests in them: the others are tried elsewhere. */
  readonly only?: RegExp;
  /** Taken from root. */
  readonly without?: 'cap_sys_resource';
  /** For an emulated machine. */
  readonly limitMinutes: number;
}

/** What a machine has; test/vm/machine.test.ts holds what the tests find out by themselves against it. */
export interface Machine {
  readonly cgroup: 'v2' | 'v1' | 'hybrid';
  readonly swap: boolean;
}

/** Everything that asks a real kernel: what is new in these directories runs without being named here. */
const kernel = ['test/actions/', 'test/cli/config-machine', 'test/host/', 'test/monitor/safety-net', 'test/native/', 'test/workloads/'];
const killing = ['cgroup-kill', 'fork-bomb', 'frozen-victim', 'kill-cgroup', 'shared-cgroup', 'standstill']
  .map((name) => `test/actions/${name}`)
  .concat('test/native/held-still');
/** Killing, and what only cgroup v1 has. */
const v1Only = [
  ...killing,
  'test/native/cgroup-',
  'test/native/file-reader',
  'test/native/kill-hazards',
  'test/native/memcg-threshold',
  'test/native/memory-reaper',
  'test/native/oom-control',
  'test/native/sampler',
  'test/workloads/source-root',
];
/** Evictions from beginning to end. */
const evictions = ['test/e2e/eviction', 'test/e2e/demo', 'test/e2e/fork-bomb'];
const withSwap = ['test/e2e/swap', 'test/e2e/demo'];
/** Who is chosen, and how the demo ends when it is interrupted, is the same everywhere. */
const notTwice =
  /^(?!.*(evictd demo|over its request|over their request|of equal priority|first is critical|nobody over|only protected))|shows one eviction/;

/** Two run at a time: the long ones first. */
export const suites: readonly Suite[] = [
  { name: 'v2', machine: { cgroup: 'v2', swap: false }, files: ['test/e2e/'], limitMinutes: 30 },
  { name: 'v2-kernel', machine: { cgroup: 'v2', swap: false }, files: kernel, limitMinutes: 30 },
  { name: 'v1', machine: { cgroup: 'v1', swap: false }, files: [...v1Only, ...evictions], only: notTwice, limitMinutes: 30 },
  { name: 'hybrid', machine: { cgroup: 'hybrid', swap: false }, files: [...killing, ...evictions], only: notTwice, limitMinutes: 20 },
  { name: 'v2-swap', machine: { cgroup: 'v2', swap: true }, files: withSwap, only: notTwice, limitMinutes: 15 },
  { name: 'v1-swap', machine: { cgroup: 'v1', swap: true }, files: withSwap, only: notTwice, limitMinutes: 15 },
  { name: 'hybrid-swap', machine: { cgroup: 'hybrid', swap: true }, files: withSwap, only: notTwice, limitMinutes: 15 },
  {
    name: 'v2-plain-root',
    machine: { cgroup: 'v2', swap: false },
    files: [
      'test/actions/oom-score-adj',
      'test/e2e/oom-score-adj',
      'test/host/linux/own-signals',
      'test/host/linux/psi-window',
      'test/native/psi-trigger',
    ],
    only: /^(?!who is never written to|processes that come and go|what somebody else changes|what is kept|while evictd has no descriptor)/,
    without: 'cap_sys_resource',
    limitMinutes: 15,
  },
];
