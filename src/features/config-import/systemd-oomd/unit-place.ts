import { basename, dirname } from 'node:path';
import { slicePath } from '../../../core/systemd/unit.js';

/** Where a unit's cgroup is, and what may be ended in it. */
export interface UnitPlace {
  readonly unit: string;
  /** A pattern of the names of its units: `user-*.slice` for `user-.slice`. */
  readonly names: string;
  /** What starts it: systemd, or the users' managers. */
  readonly manager: 'system' | 'user';
  /** Left out: the machine (`-.slice`). */
  readonly scope?: string;
  readonly source: Readonly<Record<string, unknown>>;
}

const USER_MANAGER = '/user.slice/user-*.slice/user@*.service';

/**
 * The unit that a unit file or a drop-in is for, by its path: `user@.service.d/10-oomd.conf`, `app.slice`. Undefined:
 * the path names no unit. Files below `systemd/user` are for units of users' managers.
 */
export function unitPlaceOf(file: string): UnitPlace | undefined {
  const directory = basename(dirname(file));
  const unit = directory.endsWith('.d') ? directory.slice(0, -'.d'.length) : basename(file);
  const [, name = '', type] = /^(.*?)\.?(slice|service|scope)$/.exec(unit) ?? [];
  if (type === undefined || unit.startsWith('.')) return undefined;
  const isUsers = /(^|\/)systemd\/user(\/|$)/.test(dirname(file));
  const glob = unitGlob(unit, name, type);
  const named = { unit, names: glob, manager: isUsers ? ('user' as const) : ('system' as const) };
  if (isUsers)
    return { ...named, scope: `${USER_MANAGER}${type === 'slice' && name !== '' ? slicePath(glob) : `/**/${glob}`}`, source: USERS };
  if (unit === '-.slice') return { ...named, source: { systemd: { slices: ['-.slice'] } } };
  if (unit === 'user@.service') return { ...named, scope: USER_MANAGER, source: USERS };
  if (type !== 'slice') return { ...named, scope: `/**/${glob}`, source: { systemd: { units: [glob] } } };
  if (name === '') return { ...named, scope: `/**/${glob}`, source: { systemd: { slices: ['-.slice'] } } };
  const path = slicePath(glob);
  const fixed = path.split('/').filter((segment) => segment !== '' && !segment.includes('*'));
  return { ...named, scope: path, source: { systemd: { slices: [fixed.at(-1) ?? '-.slice'] } } };
}

const USERS = { systemd: { slices: ['user.slice'] } } as const;

/** `getty@.service` is for each instance, `user-.slice` for each slice of that prefix, `service` for all services. */
function unitGlob(unit: string, name: string, type: string): string {
  if (name === '') return `*.${type}`;
  return name !== '-' && /[@-]$/.test(name) ? `${name}*.${type}` : unit;
}
