import type { FilesystemRole } from './layout.js';
import type { Resource } from './resource.js';
import type { AlertDefinition, PressureParts, ResourceDefinition, SignalDefinition } from './signal-definition.js';
import { SIGNAL_LIST } from './signal-list.js';

export { CONDITION_TYPES, RESOURCES, type ConditionType, type Resource } from './resource.js';
export {
  STALL_KINDS,
  STALL_RESOURCES,
  type SignalUnit,
  type StallAverage,
  type StallKind,
  type StallResource,
} from './signal-definition.js';

type Row = (typeof SIGNAL_LIST)[number];

export type Signal = Row['name'];
export type KubeletSignal = Extract<Row, { readonly kubelet: true }>['name'];
/** The signals from PSI. */
export type PressureSignal = Extract<Row, { readonly pressure: PressureParts }>['name'];
/** The signals that count what is left. The maps by signal (`evictionHard`, …) accept only these. */
export type AmountSignal = Exclude<Signal, PressureSignal>;
/** The amounts that the kubelet does not have. */
export type OwnAmountSignal = Exclude<AmountSignal, KubeletSignal>;
/** They name the resource that runs out. The others only alert. */
export type ResourceSignal = Extract<Row, { readonly resource: Resource }>['name'];
export type AlertSignal = Exclude<Signal, ResourceSignal>;
export type DiskSignal = Extract<Row, { readonly filesystem: FilesystemRole }>['name'];
export type WindowsSignal = Exclude<Signal, Extract<Row, { readonly absentOnWindows: string }>['name']>;

const LIST: readonly (SignalDefinition & { readonly name: Signal })[] = SIGNAL_LIST;

export const SIGNAL_FACTS = Object.fromEntries(LIST.map((row) => [row.name, row])) as Readonly<
  Record<ResourceSignal, ResourceDefinition> & Record<AlertSignal, AlertDefinition>
>;

export const SIGNALS: readonly Signal[] = LIST.map(({ name }) => name);
export const KUBELET_SIGNALS: readonly KubeletSignal[] = SIGNALS.filter(isKubeletSignal);
export const AMOUNT_SIGNALS: readonly AmountSignal[] = SIGNALS.filter((signal) => !isPressure(signal));
export const OWN_AMOUNT_SIGNALS: readonly OwnAmountSignal[] = SIGNALS.filter(isOwnAmount);
export const RESOURCE_SIGNALS: readonly ResourceSignal[] = SIGNALS.filter(isResourceSignal);
export const DISK_SIGNALS: readonly DiskSignal[] = SIGNALS.filter(isDiskSignal);

/**
 * What evicting a machine workload (a cgroup) can free. Of a disk that is only its deleted files: its other files stay.
 */
export const MACHINE_RESOURCES: ReadonlySet<Resource> = new Set<Resource>(['memory', 'ephemeral-storage', 'inodes', 'pids']);

/** All of the wall time, in the unit of a pressure signal: nanoseconds per second. */
export const WHOLE_SHARE = 1_000_000_000n;

export function isSignal(text: string): text is Signal {
  return Object.hasOwn(SIGNAL_FACTS, text);
}

export function isKubeletSignal(text: string): text is KubeletSignal {
  return isSignal(text) && SIGNAL_FACTS[text].kubelet;
}

export function isResourceSignal(signal: Signal): signal is ResourceSignal {
  return SIGNAL_FACTS[signal].resource !== undefined;
}

export function isDiskSignal(signal: Signal): signal is DiskSignal {
  return filesystemOf(signal) !== undefined;
}

/** 'nodefs.available' → 'nodefs'; undefined: the signal is not about a filesystem. */
export function filesystemOf(signal: Signal): FilesystemRole | undefined {
  return SIGNAL_FACTS[signal].filesystem;
}

export function isPressure(signal: Signal): signal is PressureSignal {
  return SIGNAL_FACTS[signal].pressure !== undefined;
}

/** 'memory.pressure.full.avg10' → memory, full, '.avg10'. */
export function pressureParts(signal: PressureSignal): PressureParts {
  const { pressure } = SIGNAL_FACTS[signal];
  if (pressure === undefined) throw new Error(`${signal} is not a pressure signal`);
  return pressure;
}

/** The host has a reader for each of these, by name. They are read only where a threshold uses them. */
export function isOwnAmount(signal: Signal): signal is OwnAmountSignal {
  return !isPressure(signal) && !isKubeletSignal(signal);
}

/** The side of the limit on which a threshold is met. */
export function operatorOf(signal: Signal): '<' | '>' {
  return SIGNAL_FACTS[signal].operator;
}
