/** systemd's units: their names, and the cgroups that it makes for them (man 5 systemd.unit; systemd v252, src/basic/unit-name.c and cgroup-util.c). */

const KINDS = ['service', 'scope', 'slice', 'socket', 'mount', 'automount', 'swap', 'target', 'path', 'timer', 'device'] as const;
export type UnitKind = (typeof KINDS)[number];

/** UNIT_NAME_MAX without its end. */
const LONGEST = 255;

/** What the name says that it is; undefined: it is no unit's name. A template (`web@.service`) is a name, too, of no unit that could run. */
export function unitKind(name: string): UnitKind | undefined {
  const [, prefix, suffix] = /^([A-Za-z0-9:_.\\@-]+)\.([a-z]+)$/.exec(name) ?? [];
  if (prefix === undefined || prefix.startsWith('@') || name.length > LONGEST) return undefined;
  return KINDS.find((kind) => kind === suffix);
}

/** `web@.service`: what instances are made of. */
export function isTemplate(name: string): boolean {
  return /^[^@]+@\.[a-z]+$/.test(name);
}

/** A slice's name is its place: no dash at the beginning, at the end, or beside another, but for the root, `-.slice`. */
export function isSliceName(name: string): boolean {
  if (name === ROOT_SLICE) return true;
  return unitKind(name) === 'slice' && !name.includes('@') && !/^-|--|-\.slice$/.test(name);
}

const ROOT_SLICE = '-.slice';

/** Where the cgroup of a slice is: `batch-night.slice` → `/batch.slice/batch-night.slice`, `-.slice` → `/`. */
export function slicePath(slice: string): string {
  if (slice === ROOT_SLICE) return '/';
  const parts = slice.slice(0, -'.slice'.length).split('-');
  return parts.map((_, index) => `/${cgroupNameOf(`${parts.slice(0, index + 1).join('-')}.slice`)}`).join('');
}

/** systemd's own words for what it manages by cgroups; the last are no controllers of the kernel. */
const CONTROLLERS = ['cpu', 'cpuacct', 'cpuset', 'io', 'blkio', 'memory', 'devices', 'pids'].concat(
  ['firewall', 'devices', 'foreign', 'socket-bind', 'restrict-network-interfaces'].map((name) => `bpf-${name}`),
);

/** The directory's name: with `_` before what would look like a file of the kernel (`memory.service`), or like such a name. */
export function cgroupNameOf(unit: string): string {
  const looksLikeFile = /^[_.]|^cgroup\./.test(unit) || CONTROLLERS.includes(unit.slice(0, unit.lastIndexOf('.')));
  return looksLikeFile ? `_${unit}` : unit;
}

/** The unit that a cgroup's directory is named for. */
export function unitNameOf(directory: string): string {
  return directory.startsWith('_') ? directory.slice(1) : directory;
}

/** A service or a scope, as its cgroup. */
export interface UnitCgroup {
  /** 'web.service'. */
  readonly name: string;
  readonly path: string;
  /** Whose it is: `user` for a unit of a user's own manager (below user@UID.service), whose names users choose. */
  readonly manager: 'system' | 'user';
}

/**
 * What a cgroup is to systemd. `slice`: units may be in it. `manager`: a user's manager, a unit that others may be in. `inside`: a part of a unit, made by itself.
 * `elsewhere`: of no service and no scope.
 */
export type UnitPlace =
  | { readonly kind: 'slice' | 'elsewhere'; readonly unit?: undefined }
  | { readonly kind: 'unit' | 'manager' | 'inside'; readonly unit: UnitCgroup };

/** By its path below the mount. What has the shape of units within a unit (a container with a systemd of its own) is a part of that. */
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

const USER_MANAGER = /^user@.+\.service$/;
