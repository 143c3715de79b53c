/**
 * systemd's unit names and cgroup names (man 5 systemd.unit; systemd v252, src/basic/unit-name.c and cgroup-util.c).
 */

const KINDS = ['service', 'scope', 'slice', 'socket', 'mount', 'automount', 'swap', 'target', 'path', 'timer', 'device'] as const;
export type UnitKind = (typeof KINDS)[number];

/** UNIT_NAME_MAX without the terminating NUL. */
const LONGEST = 255;

/** undefined: not a unit name. A template (`web@.service`) is a name, though not of a unit that can run. */
export function unitKind(name: string): UnitKind | undefined {
  const [, prefix, suffix] = /^([A-Za-z0-9:_.\\@-]+)\.([a-z]+)$/.exec(name) ?? [];
  if (prefix === undefined || prefix.startsWith('@') || name.length > LONGEST) return undefined;
  return KINDS.find((kind) => kind === suffix);
}

/** `web@.service`. */
export function isTemplate(name: string): boolean {
  return /^[^@]+@\.[a-z]+$/.test(name);
}

/** A slice's name encodes its place: no dash at either end or next to another, except for the root, `-.slice`. */
export function isSliceName(name: string): boolean {
  if (name === ROOT_SLICE) return true;
  return unitKind(name) === 'slice' && !name.includes('@') && !/^-|--|-\.slice$/.test(name);
}

const ROOT_SLICE = '-.slice';

/** The slice's cgroup: `batch-night.slice` → `/batch.slice/batch-night.slice`, `-.slice` → `/`. */
export function slicePath(slice: string): string {
  if (slice === ROOT_SLICE) return '/';
  const parts = slice.slice(0, -'.slice'.length).split('-');
  return parts.map((_, index) => `/${cgroupNameOf(`${parts.slice(0, index + 1).join('-')}.slice`)}`).join('');
}

/** systemd's names of controllers, which include some that are not the kernel's. */
const CONTROLLERS = ['cpu', 'cpuacct', 'cpuset', 'io', 'blkio', 'memory', 'devices', 'pids'].concat(
  ['firewall', 'devices', 'foreign', 'socket-bind', 'restrict-network-interfaces'].map((name) => `bpf-${name}`),
);

/** The cgroup's name: prefixed with `_` if it would look like a kernel file (`memory.service`). */
export function cgroupNameOf(unit: string): string {
  const looksLikeFile = /^[_.]|^cgroup\./.test(unit) || CONTROLLERS.includes(unit.slice(0, unit.lastIndexOf('.')));
  return looksLikeFile ? `_${unit}` : unit;
}

/** The unit that a cgroup's directory is named for. */
export function unitNameOf(directory: string): string {
  return directory.startsWith('_') ? directory.slice(1) : directory;
}

/** The cgroup of a service or a scope. */
export interface UnitCgroup {
  /** 'web.service'. */
  readonly name: string;
  readonly path: string;
  /** `user`: under a user's manager (user@UID.service), where users choose the names. */
  readonly manager: 'system' | 'user';
}

/**
 * The role of a cgroup for systemd. `slice`: may contain units. `manager`: a user's manager, a unit that contains
 * units. `inside`: a part of a unit. `elsewhere`: of no service and no scope.
 */
export type UnitPlace =
  | { readonly kind: 'slice' | 'elsewhere'; readonly unit?: undefined }
  | { readonly kind: 'unit' | 'manager' | 'inside'; readonly unit: UnitCgroup };

/** The unit of a path below the mount. Units within a unit (a container that runs systemd) are a part of it. */
export function unitPlace(path: string): UnitPlace {
  const names = path.split('/').filter((name) => name !== '');
  let holder: UnitCgroup | undefined;
  for (const [index, directory] of names.entries()) {
    const name = unitNameOf(directory);
    const kind = unitKind(name);
    if (kind === 'slice') continue;
    if (kind !== 'service' && kind !== 'scope') return holder ? { kind: 'inside', unit: holder } : { kind: 'elsewhere' };
    const unit: UnitCgroup = { name, path: `/${names.slice(0, index + 1).join('/')}`, manager: holder ? 'user' : 'system' };
    const last = index === names.length - 1;
    if (holder === undefined && USER_MANAGER.test(name)) {
      if (last) return { kind: 'manager', unit };
      holder = unit;
    } else {
      return { kind: last ? 'unit' : 'inside', unit };
    }
  }
  return { kind: 'slice' };
}

/** The user's manager that a cgroup is below; undefined: none. */
export function managerAbove(path: string): string | undefined {
  for (let end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', end + 1)) {
    const above = path.slice(0, end);
    const { kind } = unitPlace(above);
    if (kind !== 'slice') return kind === 'manager' ? above : undefined;
  }
  return undefined;
}

const USER_MANAGER = /^user@.+\.service$/;

/** The path below the user manager that a cgroup belongs to; undefined: it belongs to none. */
export function belowUserManager(path: string): string | undefined {
  return /^(?:\/[^/]+\.slice)*\/user@[^/]+\.service\/(.+)$/s.exec(path)?.[1];
}

/** The uid of the user whose login session a cgroup is; undefined: it is none. */
export function loginSessionUser(path: string): number | undefined {
  const [, uid] = /^\/user\.slice\/user-(\d+)\.slice\/session-[^/]+\.scope$/.exec(path) ?? [];
  return uid === undefined ? undefined : Number(uid);
}

/** What only a workload that is a unit has. */
export interface UnitPart {
  /** systemd's name: 'batch@1.service'. The cgroup's name may be escaped. */
  readonly name: string;
  /** A user manager's units are ended by signals only: evictd cannot reach that manager. */
  readonly manager: 'system' | 'user';
  /** systemd's ActiveState of a unit that is not up: 'activating', 'deactivating', 'failed'. Left out: it is up, or not known. */
  readonly state?: string;
}
