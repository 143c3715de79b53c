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
const kernel = ['test/actions/', 'test/cli/config-machine', 'test/host/', 'test/monitor/safety-net', 'test/native/', 'test/workloads/'];
/** Evictions from beginning to end. */
const evictions = ['test/e2e/eviction', 'test/e2e/demo'];

/** Two run at a time: the long ones first. */
export const suites: readonly Suite[] = [
  { name: 'v2', machine: { cgroup: 'v2', swap: false }, files: ['test/e2e/'], limitMinutes: 30 },
  { name: 'v2-kernel', machine: { cgroup: 'v2', swap: false }, files: kernel, limitMinutes: 30 },
  {
    name: 'v1',
    machine: { cgroup: 'v1', swap: false },
    files: ['test/native/', 'test/workloads/source-root', 'test/actions/', ...evictions],
    limitMinutes: 20,
  },
  {
    name: 'hybrid',
    machine: { cgroup: 'hybrid', swap: false },
    files: ['test/actions/', 'test/native/held-still', 'test/native/kill-hazards', 'test/native/cgroup-handle', ...evictions],
    limitMinutes: 20,
  },
  { name: 'v2-swap', machine: { cgroup: 'v2', swap: true }, files: [...evictions, 'test/e2e/swap'], limitMinutes: 15 },
  { name: 'v1-swap', machine: { cgroup: 'v1', swap: true }, files: ['test/e2e/demo', 'test/e2e/swap'], limitMinutes: 15 },
  { name: 'hybrid-swap', machine: { cgroup: 'hybrid', swap: true }, files: ['test/e2e/demo', 'test/e2e/swap'], limitMinutes: 15 },
  {
    name: 'v2-plain-root',
    machine: { cgroup: 'v2', swap: false },
    files: ['test/actions/oom-score-adj', 'test/e2e/oom-score-adj', 'test/host/linux/psi-window', 'test/native/psi-trigger'],
    without: 'cap_sys_resource',
    limitMinutes: 10,
  },
];
