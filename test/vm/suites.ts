/** A machine, and the tests that run in it. */
export interface Suite {
  readonly name: string;
  readonly machine: Machine;
  /** Names of files begin so. */
  readonly files: readonly string[];
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
const real = [
  'test/actions/',
  'test/cli/config-machine',
  'test/e2e/',
  'test/host/',
  'test/monitor/safety-net',
  'test/native/',
  'test/workloads/',
];
/** Everything that evicts from beginning to end, and the demo. */
const evictions = ['test/e2e/eviction', 'test/e2e/demo', 'test/e2e/soft', 'test/e2e/swap'];

export const suites: readonly Suite[] = [
  { name: 'v2', machine: { cgroup: 'v2', swap: false }, files: real, limitMinutes: 20 },
  { name: 'v2-swap', machine: { cgroup: 'v2', swap: true }, files: evictions, limitMinutes: 10 },
  {
    name: 'v2-plain-root',
    machine: { cgroup: 'v2', swap: false },
    files: ['test/actions/oom-score-adj', 'test/e2e/oom-score-adj', 'test/native/psi-trigger'],
    without: 'cap_sys_resource',
    limitMinutes: 10,
  },
  { name: 'v1', machine: { cgroup: 'v1', swap: false }, files: ['test/native/', 'test/host/', ...evictions], limitMinutes: 15 },
  {
    name: 'v1-swap',
    machine: { cgroup: 'v1', swap: true },
    files: ['test/e2e/eviction', 'test/e2e/demo', 'test/e2e/swap'],
    limitMinutes: 10,
  },
  {
    name: 'hybrid',
    machine: { cgroup: 'hybrid', swap: false },
    files: ['test/native/', 'test/e2e/eviction', 'test/e2e/demo'],
    limitMinutes: 15,
  },
  { name: 'hybrid-swap', machine: { cgroup: 'hybrid', swap: true }, files: ['test/e2e/demo', 'test/e2e/swap'], limitMinutes: 10 },
];
