/** The kubelet's eviction signals (pkg/kubelet/eviction/api/types.go, v1.36.2), in the order in which they are shown and, where nothing else decides, acted on. */
export const KUBELET_SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;
export type KubeletSignal = (typeof KUBELET_SIGNALS)[number];

/** What tasks can wait for: the kernel measures how long they do (PSI, Documentation/accounting/psi.rst). */
export const STALL_RESOURCES = ['memory', 'io', 'cpu'] as const;
export type StallResource = (typeof STALL_RESOURCES)[number];
/** `some`: of the time in which at least one task waited; `full`: in which all that were not idle did. */
export const STALL_KINDS = ['some', 'full'] as const;
export type StallKind = (typeof STALL_KINDS)[number];
/** '': the last `pressureWindow`; else the kernel's own moving average. */
export const STALL_AVERAGES = ['', '.avg10', '.avg60', '.avg300'] as const;
export type StallAverage = (typeof STALL_AVERAGES)[number];

export type PressureSignal<R extends StallResource = StallResource> = `${R}.pressure.${StallKind}${StallAverage}`;

const pressureOf = <R extends StallResource>(resource: R): readonly PressureSignal<R>[] =>
  STALL_KINDS.flatMap((kind) => STALL_AVERAGES.map((average) => `${resource}.pressure.${kind}${average}` as const));

/** What the kubelet calls an amount that is left, and two that only evictd has: in the maps by signal these can be thresholds. */
export type AmountSignal = KubeletSignal | 'memory.kernelAvailable' | 'swap.available';
export type Signal = AmountSignal | PressureSignal;

/** The kubelet's, then evictd's own: nothing of the kubelet's order changes. */
export const SIGNALS: readonly Signal[] = [
  ...KUBELET_SIGNALS,
  'memory.kernelAvailable',
  ...pressureOf('memory'),
  'swap.available',
  ...pressureOf('io'),
  ...pressureOf('cpu'),
];

/** Those that a map by signal takes. */
export const AMOUNT_SIGNALS: readonly AmountSignal[] = [...KUBELET_SIGNALS, 'memory.kernelAvailable', 'swap.available'];

/** They say that something is wrong and not what is short: nobody is evicted for them. */
export type AlertSignal = 'swap.available' | PressureSignal<'io' | 'cpu'>;
/** They name what runs out. */
export type ResourceSignal = Exclude<Signal, AlertSignal>;

/** What runs out, in the kubelet's words. Evictions of one resource exclude each other. */
export type Resource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

/** What evicting a machine workload (a cgroup) may give back. Of a disk, only what it holds in deleted files: a removed cgroup frees no other. */
export const MACHINE_RESOURCES: ReadonlySet<Resource> = new Set<Resource>(['memory', 'ephemeral-storage', 'inodes', 'pids']);

export const CONDITION_TYPES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];

/** `share`: billionths of the wall time. */
export type SignalUnit = 'bytes' | 'inodes' | 'processes' | 'share';

export interface ResourceFacts {
  readonly resource: Resource;
  readonly condition: ConditionType;
  readonly unit: SignalUnit;
}
export interface AlertFacts {
  readonly resource: undefined;
  readonly condition: undefined;
  readonly unit: SignalUnit;
}

/** All of the wall time, in the unit of a pressure signal: nanoseconds per second. */
export const WHOLE_SHARE = 1_000_000_000n;

const bytesOf = (resource: Resource, condition: ConditionType): ResourceFacts => ({ resource, condition, unit: 'bytes' });
const inodes: ResourceFacts = { resource: 'inodes', condition: 'DiskPressure', unit: 'inodes' };
const MEMORY_PRESSURE: ResourceFacts = { resource: 'memory', condition: 'MemoryPressure', unit: 'share' };
const OTHER_PRESSURE: AlertFacts = { resource: undefined, condition: undefined, unit: 'share' };

function each<S extends Signal, F>(signals: readonly S[], facts: F): Readonly<Record<S, F>> {
  return Object.fromEntries(signals.map((signal) => [signal, facts])) as Record<S, F>;
}

export const SIGNAL_FACTS: Readonly<Record<ResourceSignal, ResourceFacts> & Record<AlertSignal, AlertFacts>> = {
  'memory.available': bytesOf('memory', 'MemoryPressure'),
  'allocatableMemory.available': bytesOf('memory', 'MemoryPressure'),
  'nodefs.available': bytesOf('ephemeral-storage', 'DiskPressure'),
  'nodefs.inodesFree': inodes,
  'imagefs.available': bytesOf('ephemeral-storage', 'DiskPressure'),
  'imagefs.inodesFree': inodes,
  'containerfs.available': bytesOf('ephemeral-storage', 'DiskPressure'),
  'containerfs.inodesFree': inodes,
  'pid.available': { resource: 'pids', condition: 'PIDPressure', unit: 'processes' },
  'memory.kernelAvailable': bytesOf('memory', 'MemoryPressure'),
  ...each(pressureOf('memory'), MEMORY_PRESSURE),
  'swap.available': { resource: undefined, condition: undefined, unit: 'bytes' },
  ...each(pressureOf('io'), OTHER_PRESSURE),
  ...each(pressureOf('cpu'), OTHER_PRESSURE),
};

export function isSignal(text: string): text is Signal {
  return (SIGNALS as readonly string[]).includes(text);
}

export function isKubeletSignal(text: string): text is KubeletSignal {
  return (KUBELET_SIGNALS as readonly string[]).includes(text);
}

/** In the order of all signals. */
export const RESOURCE_SIGNALS: readonly ResourceSignal[] = SIGNALS.filter(isResourceSignal);

/** Whether it names what runs out. */
export function isResourceSignal(signal: Signal): signal is ResourceSignal {
  return SIGNAL_FACTS[signal].resource !== undefined;
}

/** Of a filesystem. */
export type DiskSignal = Extract<KubeletSignal, `${string}fs.${string}`>;

export function isDiskSignal(signal: Signal): signal is DiskSignal {
  return SIGNAL_FACTS[signal].condition === 'DiskPressure';
}

export const DISK_SIGNALS: readonly DiskSignal[] = SIGNALS.filter(isDiskSignal);

export function isPressure(signal: Signal): signal is PressureSignal {
  return SIGNAL_FACTS[signal].unit === 'share';
}

/** What a pressure signal is read from: 'memory.pressure.full.avg10' → memory, full, '.avg10'. */
export function pressureParts(signal: PressureSignal): {
  readonly resource: StallResource;
  readonly kind: StallKind;
  readonly average: StallAverage;
} {
  const [resource, , kind, average] = signal.split('.') as [StallResource, string, StallKind, string | undefined];
  return { resource, kind, average: average === undefined ? '' : (`.${average}` as StallAverage) };
}

/** On which side of its value a threshold is met: too little is left, or too much time is lost. */
export function operatorOf(signal: Signal): '<' | '>' {
  return isPressure(signal) ? '>' : '<';
}
