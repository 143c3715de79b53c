import type { LoadedUnit, UnitRestart } from '../../../../core/systemd/loaded-unit.js';
import { type BusCall, type BusReply, PROPERTIES, SYSTEMD } from '../bus-connection.js';
import { emergencyActionOf } from './emergency-action.js';

/** 'infinity' in systemd's 64-bit numbers. */
const INFINITY = 0xffff_ffff_ffff_ffffn;
/** A guarantee of all memory. */
const ALL_BYTES = 2n ** 63n - 1n;
/**
 * Properties of the interface of its type. They are read one by one: a service has four times as many properties, and
 * systemd reads some of them from its cgroup.
 */
const OWN = ['ControlGroup', 'MemoryMin', 'MemoryLow', 'ManagedOOMPreference', 'TimeoutStopUSec', 'Restart'] as const;
/** The properties that `systemctl set-property` changes. systemd signals no such change. */
const SETTABLE: readonly string[] = ['MemoryMin', 'MemoryLow', 'ManagedOOMPreference'] satisfies (typeof OWN)[number][];
const STOPS_WITH = ['RequiredBy', 'RequisiteOf', 'BoundBy', 'ConsistsOf', 'PropagatesStopTo'];
const ENDS_WITH = ['BoundBy', 'PropagatesStopTo'];
const NEEDS = ['Requires', 'Requisite', 'BindsTo', 'Wants', 'Upholds'];
const NEEDED_BY = ['RequiredBy', 'RequisiteOf', 'BoundBy', 'WantedBy', 'UpheldBy'];
/** These units exist as long as they are in use or the machine runs. */
const NEVER_UNNEEDED = /\.(slice|mount|automount|device|swap)$/;
const RESTARTS: readonly string[] = [
  'no',
  'on-success',
  'on-failure',
  'on-abnormal',
  'on-watchdog',
  'on-abort',
  'always',
] satisfies UnitRestart[];

type Properties = Readonly<Record<string, unknown>>;

/**
 * The object path of a unit: other than letters and digits are written as _ and their code (bus_label_escape), and so
 * is a leading digit.
 */
export function unitPath(name: string): string {
  const bytes = [...Buffer.from(name)];
  const label = bytes.map((byte, index) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z]/.test(char) || (index > 0 && /\d/.test(char)) ? char : `_${byte.toString(16).padStart(2, '0')}`;
  });
  return `/org/freedesktop/systemd1/unit/${label.join('') || '_'}`;
}

export interface UnitCall {
  readonly call: BusCall;
  /** undefined: all of the interface Unit. */
  readonly property: string | undefined;
}

/** The calls that describe a unit; all are sent together. */
export function unitCalls(name: string): readonly UnitCall[] {
  const to = { path: unitPath(name), interface: PROPERTIES, destination: SYSTEMD };
  const all = { ...to, member: 'GetAll', signature: 's', body: [`${SYSTEMD}.Unit`] };
  if (name.endsWith('.socket')) {
    const accept = { ...to, member: 'Get', signature: 'ss', body: [`${SYSTEMD}.Socket`, 'Accept'] };
    return [
      { call: all, property: undefined },
      { call: accept, property: 'Accept' },
    ];
  }
  const kind = name.endsWith('.service') ? 'Service' : name.endsWith('.scope') ? 'Scope' : undefined;
  if (kind === undefined) return [{ call: all, property: undefined }];
  const own = OWN.map((property) => ({
    property,
    call: { ...to, member: 'Get', signature: 'ss', body: [`${SYSTEMD}.${kind}`, property] },
  }));
  return [{ call: all, property: undefined }, ...own];
}

/** The calls for properties that may change without a signal. */
export function settingCalls(name: string): readonly UnitCall[] {
  return unitCalls(name).filter(({ property = '' }) => SETTABLE.includes(property));
}

/** The unit with these answers, in the order of `settingCalls`. */
export function withSettings(unit: LoadedUnit, replies: readonly BusReply[]): LoadedUnit {
  const values = new Map(SETTABLE.map((property, index) => [property, valueOf(replies[index])]));
  return { ...unit, ...settings((property) => values.get(property)) };
}

/**
 * The unit of these answers, in the order of `unitCalls`. undefined: no such unit. A property that this systemd does
 * not know (ManagedOOMPreference) counts as unset.
 */
export function readUnit(name: string, replies: readonly BusReply[], readAtNs: bigint): LoadedUnit | undefined {
  const [general, ...own] = replies.map(valueOf);
  if (typeof general !== 'object' || general === null) return undefined;
  const unit = general as Properties;
  if (unit.LoadState === 'not-found') return undefined;
  const isSocket = name.endsWith('.socket');
  const value = (property: (typeof OWN)[number]): unknown => (isSocket ? undefined : own[OWN.indexOf(property)]);
  const restart = textOf(value('Restart'));
  const timeoutUs = value('TimeoutStopUSec');
  return {
    name: textOf(unit.Id) || name,
    activeState: textOf(unit.ActiveState),
    sinceNs: sinceOf(unit),
    controlGroup: textOf(value('ControlGroup')),
    ...settings(value),
    timeoutStopNs: typeof timeoutUs === 'bigint' && timeoutUs !== INFINITY ? timeoutUs * 1000n : undefined,
    restart: RESTARTS.includes(restart) ? (restart as UnitRestart) : 'no',
    stopsWith: namesOf(unit, STOPS_WITH),
    endsWith: namesOf(unit, ENDS_WITH),
    needs: namesOf(unit, NEEDS).filter((other) => !NEVER_UNNEEDED.test(other)),
    stopWhenUnneeded: unit.StopWhenUnneeded === true,
    neededBy: unit.StopWhenUnneeded === true ? namesOf(unit, NEEDED_BY) : [],
    triggeredBy: namesOf(unit, ['TriggeredBy']),
    conflicts: namesOf(unit, ['Conflicts', 'ConflictedBy']).filter((other) => other !== 'shutdown.target'),
    acceptsEach: isSocket && own[0] === true,
    transient: unit.Transient === true,
    emergencyAction: emergencyActionOf(unit, restart),
    readAtNs,
    stale: false,
    unsure: false,
  };
}

/** A oneshot service becomes active only at its end, and RestartMode=direct restarts one without leaving it inactive. */
function sinceOf({ ActiveEnterTimestampMonotonic: active, InactiveExitTimestampMonotonic: started }: Properties): bigint | undefined {
  const times = [active, started].filter((us): us is bigint => typeof us === 'bigint' && us > 0n);
  return times.length === 0 ? undefined : times.reduce((a, b) => (a > b ? a : b)) * 1000n;
}

function settings(
  value: (property: (typeof OWN)[number]) => unknown,
): Pick<LoadedUnit, 'memoryMinBytes' | 'memoryLowBytes' | 'managedOomPreference'> {
  const preference = textOf(value('ManagedOOMPreference'));
  return {
    memoryMinBytes: bytesOf(value('MemoryMin')),
    memoryLowBytes: bytesOf(value('MemoryLow')),
    managedOomPreference: preference === 'avoid' || preference === 'omit' ? preference : 'none',
  };
}

/** undefined: an error. */
const valueOf = (reply: BusReply | undefined): unknown => (reply?.ok ? reply.body[0] : undefined);

function namesOf(unit: Properties, properties: readonly string[]): string[] {
  const names = properties.flatMap((property) => {
    const value = unit[property];
    return Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];
  });
  return [...new Set(names)].sort();
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function bytesOf(value: unknown): bigint | undefined {
  if (typeof value !== 'bigint') return undefined;
  return value === INFINITY ? ALL_BYTES : value;
}
