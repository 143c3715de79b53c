import { AMOUNT_SIGNALS, STALL_KINDS, STALL_RESOURCES, type AmountSignal, type StallKind, type StallResource } from '../signal/signal.js';

/** The kernel's averages of PSI. */
export const PRESSURE_AVERAGES = ['avg10', 'avg60', 'avg300'] as const;
export type PressureAverage = (typeof PRESSURE_AVERAGES)[number];

/** Where a number lies. `keys` left out: it is the only number of the file. Several keys are added up. */
export interface KernelSource {
  /** The file below the cgroup's directory, or an absolute path. */
  readonly file: string;
  readonly keys?: readonly string[];
  /** The hierarchy on v1. Left out: memory. */
  readonly controller?: 'blkio' | 'pids';
  /** The file counts in this unit. Left out: in the unit of the value. */
  readonly unit?: 'KiB' | 'page';
  /** Lines of devices, weighed by kind of device (io-cost.ts). Left out: numbers that are added up. */
  readonly weighed?: true;
}

/** The sources of a raw value by what is read. Left out: it does not exist there. */
export interface RawSources {
  /** A cgroup of v2. */
  readonly v2?: KernelSource;
  /** A cgroup of v1. */
  readonly v1?: KernelSource;
  /** The machine. */
  readonly node?: KernelSource;
  /** `counter`: it only rises, and starts anew with its cgroup. Left out: a level. */
  readonly counter?: true;
}

const stat = (...keys: string[]): KernelSource => ({ file: 'memory.stat', keys });
const vmstat = (...keys: string[]): KernelSource => ({ file: '/proc/vmstat', keys });
const meminfo = (...keys: string[]): KernelSource => ({ file: '/proc/meminfo', keys, unit: 'KiB' });
const event = (key: string): RawSources => ({ v2: { file: 'memory.events', keys: [key] }, counter: true });

/** Levels in bytes. A limit of `max` is a missing value: there is no limit. */
const MEMORY = {
  'memory.current': { v2: { file: 'memory.current' }, v1: { file: 'memory.usage_in_bytes' } },
  'memory.anon': { v2: stat('anon'), v1: stat('total_rss'), node: meminfo('AnonPages') },
  'memory.file': { v2: stat('file'), v1: stat('total_cache'), node: meminfo('Cached', 'Buffers') },
  'memory.shmem': { v2: stat('shmem'), v1: stat('total_shmem'), node: meminfo('Shmem') },
  'memory.swap': { v2: { file: 'memory.swap.current' }, v1: stat('total_swap') },
  'memory.max': { v2: { file: 'memory.max' }, v1: { file: 'memory.limit_in_bytes' } },
  'memory.high': { v2: { file: 'memory.high' } },
  'memory.low': { v2: { file: 'memory.low' } },
  'memory.min': { v2: { file: 'memory.min' } },
  'memory.swap.max': { v2: { file: 'memory.swap.max' } },
  /** The request of the workload that the cgroup is: by a rule, else the larger of memory.low and memory.min. Missing: 0. No file. */
  'memory.request': {},
  /** What the memory nodes to which a cpuset binds the cgroup have. Missing: it is not bound. No file of the cgroup. */
  'memory.boundNodes.available': {},
  'memory.boundNodes.capacity': {},
} as const satisfies Record<string, RawSources>;

/** Pages since the cgroup was made, or since boot. Kernels that lack a key lack the value. */
const RECLAIM = {
  pgscan: {
    v2: stat('pgscan'),
    node: vmstat('pgscan_kswapd', 'pgscan_direct', 'pgscan_khugepaged', 'pgscan_proactive'),
    counter: true,
  },
  pgsteal: {
    v2: stat('pgsteal'),
    node: vmstat('pgsteal_kswapd', 'pgsteal_direct', 'pgsteal_khugepaged', 'pgsteal_proactive'),
    counter: true,
  },
  workingset_refault: {
    v2: stat('workingset_refault_anon', 'workingset_refault_file'),
    v1: stat('total_workingset_refault_anon', 'total_workingset_refault_file'),
    node: vmstat('workingset_refault_anon', 'workingset_refault_file'),
    counter: true,
  },
  /** memory.stat has it since Linux 6.13. */
  pswpout: { v2: stat('pswpout'), node: vmstat('pswpout'), counter: true },
} as const satisfies Record<string, RawSources>;

/** Times that it happened in the cgroup and below it (memory.events). */
const EVENTS = {
  'memory.events.low': event('low'),
  'memory.events.high': event('high'),
  'memory.events.max': { ...event('max'), v1: { file: 'memory.failcnt' } },
  'memory.events.oom': event('oom'),
  'memory.events.oom_kill': { ...event('oom_kill'), v1: { file: 'memory.oom_control', keys: ['oom_kill'] }, node: vmstat('oom_kill') },
} as const satisfies Record<string, RawSources>;

/** Values for the choice of a victim. */
const VICTIMS = {
  /** 1: the kernel kills the cgroup as a whole. */
  'memory.oom.group': { v2: { file: 'memory.oom.group' } },
  /** Bytes that reclaim spares: memory.low and memory.min as the cgroups above bound them (memory-protection.ts). No file. */
  'memory.protected': {},
  /** The largest oom_score of its processes. No file of the cgroup. */
  oom_score: {},
} as const satisfies Record<string, RawSources>;

const OTHERS = {
  /** Read and written. */
  'io.bytes': {
    v2: { file: 'io.stat', keys: ['rbytes', 'wbytes'] },
    v1: { file: 'blkio.throttle.io_service_bytes_recursive', keys: ['Total'], controller: 'blkio' },
    counter: true,
  },
  'io.operations': {
    v2: { file: 'io.stat', keys: ['rios', 'wios'] },
    v1: { file: 'blkio.throttle.io_serviced_recursive', keys: ['Total'], controller: 'blkio' },
    counter: true,
  },
  /** Hundredths of a second of a device. */
  'io.cost': {
    v2: { file: 'io.stat', weighed: true },
    v1: { file: 'blkio.throttle.io_service_bytes_recursive', controller: 'blkio', weighed: true },
    counter: true,
  },
  /** Threads, as pids.current counts. */
  processes: { v2: { file: 'pids.current' }, v1: { file: 'pids.current', controller: 'pids' } },
  'descendants.dying': { v2: { file: 'cgroup.stat', keys: ['nr_dying_descendants'] } },
  /** Seconds since the cgroup was made, by the birth or change time of its directory. No file. */
  age: {},
} as const satisfies Record<string, RawSources>;

type PressureNumber = PressureAverage | 'total';
type PressureValue = `${StallResource}.pressure.${StallKind}.${PressureNumber}`;
/** Values of the node only: what the step observes, and its capacity. */
export type NodeValue = AmountSignal | `${AmountSignal}.capacity`;

/** What can be read of a scope. Bytes, counts, pages, percent (averages of pressure), µs (`.total`), seconds (age). */
export type RawValue =
  | keyof typeof MEMORY
  | keyof typeof RECLAIM
  | keyof typeof EVENTS
  | keyof typeof VICTIMS
  | keyof typeof OTHERS
  | PressureValue
  | NodeValue;

/** Percent of the wall time; `total` in µs. A cgroup has it on v2 only. */
const PRESSURE = Object.fromEntries(
  STALL_RESOURCES.flatMap((resource) =>
    STALL_KINDS.flatMap((kind) =>
      [...PRESSURE_AVERAGES, 'total' as const].map((number): [string, RawSources] => {
        const keys = [`${kind} ${number}`];
        const node = { file: `/proc/pressure/${resource}`, keys };
        return [
          `${resource}.pressure.${kind}.${number}`,
          { v2: { file: `${resource}.pressure`, keys }, node, ...(number === 'total' && { counter: true as const }) },
        ];
      }),
    ),
  ),
) as Readonly<Record<PressureValue, RawSources>>;

/** They come from the step's observations, not from a file of their own. */
const OBSERVED = Object.fromEntries(
  AMOUNT_SIGNALS.flatMap((signal) => [signal, `${signal}.capacity`].map((name) => [name, {}])),
) as Readonly<Record<NodeValue, RawSources>>;

/** The closed list of raw values with the kernel file of each. */
export const RAW_VALUES: Readonly<Record<RawValue, RawSources>> = {
  ...MEMORY,
  ...RECLAIM,
  ...EVENTS,
  ...VICTIMS,
  ...OTHERS,
  ...PRESSURE,
  ...OBSERVED,
};
