/** What ManagedOOMMemoryPressure=kill of a unit goes by. Left out: the default of oomd.conf. */
export interface ManagedPressure {
  /** ManagedOOMMemoryPressureLimit=, 0..1. */
  readonly limit?: number;
  /** ManagedOOMMemoryPressureDurationSec= (systemd 257). */
  readonly durationNs?: bigint;
}

/** An active unit that asks for an out-of-memory daemon (systemd.resource-control(5)). */
export interface ManagedUnit {
  /** 'user@1000.service' */
  readonly name: string;
  /** Its cgroup, below the mount; '/': the root slice. */
  readonly path: string;
  /** ManagedOOMSwap=kill. */
  readonly swap: boolean;
  /** ManagedOOMMemoryPressure=kill. Left out: auto. */
  readonly pressure?: ManagedPressure;
  /** OOMRules=: the names of rule files (systemd 261). */
  readonly rules: readonly string[];
}

/** The values of D-Bus properties, by name. Left out: this systemd does not have it. */
export type ManagedProperties = Readonly<Partial<Record<ManagedProperty, unknown>>>;

/** Whether a unit is managed at all. */
export const MANAGED_MODES = ['ManagedOOMSwap', 'ManagedOOMMemoryPressure', 'OOMRules'] as const;
export const MANAGED_DETAILS = ['ControlGroup', 'ManagedOOMMemoryPressureLimit', 'ManagedOOMMemoryPressureDurationUSec'] as const;
export type ManagedProperty = (typeof MANAGED_MODES)[number] | (typeof MANAGED_DETAILS)[number];

/** systemd scales a limit so that this is 100 % (UINT32_SCALE_TO_PERMYRIAD); 0: not set. */
const WHOLE = 2 ** 32 - 1;
/** 'infinity' in systemd's 64-bit numbers: not set. */
const INFINITY = 2n ** 64n - 1n;

/** Whether these properties ask for an out-of-memory daemon. */
export function isManaged({ ManagedOOMSwap: swap, ManagedOOMMemoryPressure: pressure, OOMRules: rules }: ManagedProperties): boolean {
  return swap === 'kill' || pressure === 'kill' || namesIn(rules).length > 0;
}

/**
 * The unit of these properties; undefined: it is not managed, or has no cgroup.
 *
 * @param uid  of the user whose manager gave them; undefined: the system's did. What a user's manager says counts only
 *             for cgroups below that manager
 */
export function managedUnit(name: string, properties: ManagedProperties, uid: number | undefined): ManagedUnit | undefined {
  const { ControlGroup: path, ManagedOOMSwap: swap, ManagedOOMMemoryPressure: pressure, OOMRules: rules } = properties;
  if (!isManaged(properties) || typeof path !== 'string' || !isCgroupPath(path)) return undefined;
  if (uid !== undefined && !`${path}/`.startsWith(`/user.slice/user-${String(uid)}.slice/user@${String(uid)}.service/`)) return undefined;
  return {
    name,
    path,
    swap: swap === 'kill',
    ...(pressure === 'kill' && { pressure: pressureOf(properties) }),
    rules: namesIn(rules),
  };
}

function pressureOf({
  ManagedOOMMemoryPressureLimit: limit,
  ManagedOOMMemoryPressureDurationUSec: durationUs,
}: ManagedProperties): ManagedPressure {
  return {
    // In hundredths of a percent, as systemd-oomd reads it.
    ...(typeof limit === 'number' && limit > 0 && { limit: Math.round((limit / WHOLE) * 10_000) / 10_000 }),
    ...(typeof durationUs === 'bigint' && durationUs !== INFINITY && { durationNs: durationUs * 1000n }),
  };
}

/** An absolute path that does not lead out of where it begins. */
function isCgroupPath(path: string): boolean {
  return path === '/' || (/^(\/[^/]+)+$/.test(path) && !/\/\.\.?(\/|$)/.test(path));
}

function namesIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((name): name is string => typeof name === 'string') : [];
}
