/** A machine, and the tests that run in it. */
export interface Suite {
  readonly name: string;
  /** One line for `make proof`. */
  readonly proves: string;
  readonly machine: Machine;
  /** Names of files begin so. */
  readonly files: readonly string[];
  /** Of those files: names that begin so are tried elsewhere, unless they are asked for by name. */
  readonly except?: readonly string[];
  /** Of the names of the tests in them: the others are tried elsewhere. */
  readonly only?: RegExp;
  /** Taken from root. */
  readonly without?: 'cap_sys_resource';
  /** They read docs/: what packages hold, and recipes. */
  readonly documents?: true;
  /** The tests run where the machines are started, and boot some that go down. */
  readonly outside?: true;
  /** For an emulated machine. */
  readonly limitMinutes: number;
}

/** What a machine has; test/vm/machine.test.ts holds what the tests find out by themselves against it. */
export interface Machine {
  readonly cgroup: 'v2' | 'v1' | 'hybrid';
  readonly swap: boolean;
  /** In GiB; 2 by default. */
  readonly memoryGib?: number;
  /** Into which its memory is divided; 1 by default. */
  readonly memoryNodes?: number;
}

/** It wants packages, which are built where the machines are started. */
export const PACKAGE_TEST = 'test/systemd/package';

const RECIPES = 'test/systemd/policy-recipes';
const METRICS = 'test/systemd/policy-metrics';
const MEMORY_NODES = 'test/systemd/memory-nodes';

/** Everything that asks a real kernel: what is new in these directories runs without being named here. */
const kernel = [
  'test/evict/',
  'test/features/oom-score-adj/oom-score-adj-file',
  'test/features/oom-score-adj/process-adjuster',
  'test/features/config/config-machine',
  'test/features/policy/',
  'test/host/',
  'test/native/',
  'test/features/disk/',
  'test/workloads/',
];
/** Of those directories what asks files, sockets and peers, which are the same on every machine: `make test` has it. */
const anyKernel = [
  'test/evict/cri/pod-evictor',
  'test/evict/systemd/unit-evictor',
  'test/evict/windows/windows-evictor',
  'test/host/linux/cri/',
  'test/host/linux/managed-oom/managed-',
  'test/host/linux/process/lock-files',
  'test/host/linux/process/kubelet',
  'test/host/linux/process/lock-holder',
  'test/host/linux/systemd/bus-connection',
  'test/host/linux/systemd/shutdown-delay',
  'test/host/linux/systemd/unit-manager',
  'test/host/windows/',
  'test/features/oom-score-adj/oom-score-adjuster',
  'test/native/cut-text',
  'test/native/descriptors',
  'test/native/notify-socket',
  'test/workloads/cri/container-names',
  'test/workloads/disk/container-measurement',
  'test/workloads/disk/directory-measurement',
  'test/features/disk/disk-watch',
  'test/workloads/disk/disk-measurement',
  'test/workloads/disk/filesystem-trees',
  'test/workloads/disk/found-filesystems',
  'test/workloads/disk/images-in-use',
  'test/workloads/cri/runtime',
  'test/features/disk/space-watch',
  'test/workloads/systemd/unit-stops',
  'test/workloads/cgroup/vacant',
  'test/workloads/windows/windows-workloads',
];
/** Killing with the unified hierarchy beside v1's. */
const killing = [
  'test/evict/cgroup/fork-bomb',
  'test/evict/cgroup/frozen-victim',
  'test/evict/cgroup/shared-cgroup',
  'test/evict/cgroup/freezer',
].concat('test/native/held-still');
/** What only cgroup v1 has. */
const v1Only = [
  'test/native/cgroup-',
  'test/native/file-reader',
  'test/native/kill-hazards',
  'test/native/memcg-threshold',
  'test/native/memory-reaper',
  'test/native/oom-control',
  'test/native/sampler',
  'test/workloads/cgroup/source-root',
];
/** Evictions from beginning to end. */
const evictions = ['test/e2e/eviction', 'test/systemd/leaking-unit'];
const withSwap = ['test/e2e/swap', 'test/systemd/leaking-unit'];
/** The choice of the victim, the cost of many workloads, and how systemd treats a service are the same everywhere. */
const notTwice = notNamed(
  'over its request',
  'over their request',
  'of equal priority',
  'first is critical',
  'no workload over its request',
  'only protected',
  'a workload that forks all the time',
  'reports changes since its own watch',
  'is removed, made again and found again',
  'more processes than find room',
  'ten thousand are created and removed',
  'change while JavaScript stalls',
  'refused where others could replace',
  'with --dry-run prints what it would do',
  'the second time writes nothing',
  'what systemd-analyze says',
  'reload: returns when',
  'reload of a file',
  'what it reclaims lies outside',
  'another file and a runtime directory of its own',
  'killed, it is started again',
  'uninstalled after it was killed',
  'sends WATCHDOG=1 with any',
  'a configuration that cannot be used: the service',
);

function notNamed(...parts: readonly string[]): RegExp {
  return new RegExp(`^(?!.*(${parts.join('|')}))`);
}

/**
 * What evictd does with files, sockets, clients, API servers and containerd's answers, and what it remembers, whatever
 * the cgroup version: `make test` and the part `system` of `make proof` have it.
 */
const sameEverywhere = [
  'admit',
  'api-server',
  'budgets',
  'client-node',
  'completion',
  'container-disruptions',
  'containers-at-shutdown',
  'containers-in-trouble',
  'control-socket',
  'controller',
  'history',
  'journal',
  'kept-evictions',
  'kubelet-profile',
  'kubernetes',
  'kubernetes-orders',
  'locked-text',
  'manual',
  'notifications',
  'preemption',
  'prometheus',
  'reload',
  'replay',
  'restart-disruptions',
  'restart-signals',
  'safe-mode',
  'service',
  'service-manager',
  'simulate',
  'soft',
  'status-page',
  'taints',
  'top',
].map((name) => `test/e2e/${name}.`);

/** But for how the demo ends where something interrupts it. */
const demoOnce = notNamed(
  'two at once do not meet',
  'during the leak',
  'while evictd guards',
  'standard output cannot be written',
  'evictd itself ends in the middle',
);

/** Evictd starts again and again. */
const restarts = ['test/e2e/restart'];
/** Those of a real containerd. */
const containers = ['test/e2e/container', 'test/e2e/kubernetes-containers'];

/** Minutes of cgroups that come and go. */
const storms = ['test/native/churn', 'test/native/storm'];

/** test/e2e by the first letters of the names: each machine takes half an hour or less, and a failure repeats only that. */
const endToEnd = ['abcde', 'fghijklmno', 'p', 'rst'].map((letters) => ({
  name: `v2-${letters.slice(0, 1)}`,
  proves: `evictd from beginning to end on cgroup v2: tests whose names begin with one of ${letters}`,
  machine: { cgroup: 'v2', swap: false } as const,
  files: letters.split('').map((letter) => `test/e2e/${letter}`),
  except: [...sameEverywhere, ...restarts, ...containers],
  only: demoOnce,
  limitMinutes: 90,
}));

/** Two run at a time: the long ones first. */
export const suites: readonly Suite[] = [
  {
    name: 'smoke',
    proves: 'installed, a leaking unit is evicted, history names it, uninstalled without a trace: the suite of CI',
    machine: { cgroup: 'v2', swap: false },
    files: ['test/systemd/smoke'],
    limitMinutes: 20,
  },
  {
    name: 'v2-endurance',
    proves: '300 units, a hundred evictions in a row, a kill at every point of an eviction',
    machine: { cgroup: 'v2', swap: false },
    files: ['test/endurance/', ...storms],
    limitMinutes: 150,
  },
  {
    name: 'v2-restarts',
    proves: 'evictd ends and starts again at every point',
    machine: { cgroup: 'v2', swap: false },
    files: restarts,
    except: sameEverywhere,
    limitMinutes: 90,
  },
  ...endToEnd,
  {
    name: 'v2-containers',
    proves: 'evictions of containers and pods of containerd',
    machine: { cgroup: 'v2', swap: false },
    files: containers,
    except: sameEverywhere,
    limitMinutes: 90,
  },
  // What needs systemd and its units. New files are found.
  {
    name: 'v2-systemd',
    proves: 'evictd as a service, units as workloads, the Debian package',
    machine: { cgroup: 'v2', swap: false },
    files: ['test/systemd/'],
    documents: true,
    except: [RECIPES, METRICS, MEMORY_NODES],
    limitMinutes: 150,
  },
  {
    name: 'v2-numa',
    proves: 'a slice that is bound to a full memory node',
    machine: { cgroup: 'v2', swap: false, memoryNodes: 2 },
    files: [MEMORY_NODES],
    limitMinutes: 30,
  },
  // A tenth of its memory has room for the programs of the machine: it waits for memory, and still runs.
  {
    name: 'v2-recipes',
    proves: 'the recipes of docs/policy-recipes.md in the situations that they are for; metrics and comparators of policies',
    machine: { cgroup: 'v2', swap: false, memoryGib: 4 },
    files: [RECIPES, METRICS],
    documents: true,
    limitMinutes: 90,
  },
  {
    name: 'v2-power',
    proves: 'graceful node shutdown: machines that power off and reboot',
    machine: { cgroup: 'v2', swap: false },
    files: ['test/power/'],
    outside: true,
    limitMinutes: 90,
  },
  {
    name: 'v2-kernel',
    proves: 'native code, readers, killing and workload sources on cgroup v2',
    machine: { cgroup: 'v2', swap: false },
    files: kernel,
    // A kind that the test adds to the list: compiled tests cannot replace a module.
    except: [...anyKernel, ...storms, 'test/workloads/kinds/'],
    limitMinutes: 90,
  },
  {
    name: 'v1',
    proves: 'what only cgroup v1 has, evictions and units on v1',
    machine: { cgroup: 'v1', swap: false },
    files: [...v1Only, ...evictions, 'test/systemd/units', 'test/systemd/install'],
    only: notTwice,
    limitMinutes: 90,
  },
  {
    name: 'hybrid',
    proves: 'killing and evictions with memory on v1 beside a cgroup2 mount',
    machine: { cgroup: 'hybrid', swap: false },
    files: [...killing, ...evictions],
    only: notTwice,
    limitMinutes: 90,
  },
  {
    name: 'v2-swap',
    proves: 'evictions with swap, cgroup v2',
    machine: { cgroup: 'v2', swap: true },
    files: [...withSwap, 'test/systemd/managed-oom.'],
    limitMinutes: 90,
  },
  { name: 'v1-swap', proves: 'evictions with swap, cgroup v1', machine: { cgroup: 'v1', swap: true }, files: withSwap, limitMinutes: 60 },
  {
    name: 'hybrid-swap',
    proves: 'evictions with swap, hybrid',
    machine: { cgroup: 'hybrid', swap: true },
    files: withSwap,
    limitMinutes: 90,
  },
  {
    name: 'v2-plain-root',
    proves: 'root without CAP_SYS_RESOURCE',
    machine: { cgroup: 'v2', swap: false },
    files: [
      'test/features/oom-score-adj/oom-score-adj-file',
      'test/features/oom-score-adj/process-adjuster',
      'test/e2e/oom-score-adj',
      'test/host/linux/pressure/pressure-and-swap',
      'test/host/linux/pressure/psi-window',
      'test/native/psi-trigger',
    ],
    only: notNamed(
      'processes that are never written to',
      'processes that come and go',
      'changes by another program',
      'what is kept',
      'while evictd has no descriptor',
      'a dry run writes nothing',
      'a reload switches it on',
      'after SIGKILL the next start',
      'by rank: the first place',
      'out of memory, with oomScoreAdj',
    ),
    without: 'cap_sys_resource',
    limitMinutes: 90,
  },
];
