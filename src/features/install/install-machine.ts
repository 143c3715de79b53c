import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EvictdError } from '../../errors.js';
import type { Places } from './systemd/places.js';
import type { EvictdDirectories, Restoration } from './restoration.js';
import type { Systemctl } from './systemd/systemctl.js';
import { SERVICE } from './systemd/units.js';

export interface Machine {
  readonly places: Places;
  readonly uid: number | undefined;
  readonly systemctl: Systemctl;
  /** evictd processes that use a runtime directory. */
  readonly running: (runtimeDirectory: string) => readonly number[];
  /** Whether a path exists; undefined: its filesystem does not answer. */
  readonly isThere: (path: string) => Promise<boolean | undefined>;
  /** Restores what evictd processes that ended have changed. Units in `forget` stay stopped. */
  readonly restore: (directories: EvictdDirectories, forget: ReadonlySet<string>) => Promise<Restoration>;
}

/**
 * @param what  'install', 'uninstall'
 * @param touches  false: a dry run, which needs no privileges
 * @throws EvictdError  no systemd, or not root
 */
export function requireMachine({ places, uid }: Machine, what: 'install' | 'uninstall', touches: boolean): void {
  if (!existsSync(places.systemd)) {
    throw new EvictdError('EVICTD_INSTALL_SYSTEMD', 'systemd is not the init of this machine', {
      hint:
        what === 'install'
          ? 'start `evictd run` as root with your service manager; if this is a container, install evictd on the host'
          : 'evictd is not installed as a systemd service here: stop `evictd run` with your service manager',
    });
  }
  if (touches) requireRoot({ uid }, `${what} a service`, `sudo evictd ${what}, or use --dry-run`);
}

/** @throws EvictdError  not root */
export function requireRoot({ uid }: Pick<Machine, 'uid'>, what: string, hint: string): void {
  if (uid !== 0) throw new EvictdError('EVICTD_INSTALL_ROOT', `only root may ${what}`, { hint });
}

/**
 * @param hint  what to do instead
 * @throws EvictdError  a package has installed the unit
 */
export function requireNoPackage({ places }: Machine, hint: string): void {
  const unit = places.packagedUnits.map((directory) => join(directory, SERVICE)).find((path) => existsSync(path));
  if (unit === undefined) return;
  throw new EvictdError('EVICTD_INSTALL_PACKAGED', `a package has installed evictd, with the unit ${unit}`, { hint });
}
