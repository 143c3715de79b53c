import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EvictdError } from '../errors.js';
import type { Places } from './place.js';
import type { EvictdDirectories, Restoration } from './restoration.js';
import type { Systemctl } from './systemctl.js';
import { SERVICE } from './units.js';

/** What an installation needs of the machine. */
export interface Machine {
  readonly places: Places;
  /** Of this process. */
  readonly uid: number | undefined;
  readonly systemctl: Systemctl;
  /** Processes of evictds that use a runtime directory. */
  readonly running: (runtimeDirectory: string) => readonly number[];
  /** Whether a path is there that may lie in any filesystem; undefined: that does not answer. */
  readonly isThere: (path: string) => Promise<boolean | undefined>;
  /** Gives back what evictds that are not there any more have left; of the units that they keep stopped those that are to be forgotten stay so. */
  readonly restore: (directories: EvictdDirectories, forget: ReadonlySet<string>) => Promise<Restoration>;
}

/**
 * @param what  'install', 'uninstall'
 * @param touches  false: a dry run, which needs no right
 * @throws EvictdError  no systemd, or not root
 */
export function requireMachine({ places, uid }: Machine, what: 'install' | 'uninstall', touches: boolean): void {
  if (!existsSync(places.systemd)) {
    throw new EvictdError('EVICTD_INSTALL_SYSTEMD', 'systemd does not run this machine', {
      hint: 'without it start `evictd run` as root by what starts services here; in a container, evictd belongs on the host',
    });
  }
  if (touches) requireRoot({ uid }, `${what} a service`, `sudo evictd ${what}, or --dry-run to see what it would do`);
}

/** @throws EvictdError  not root */
export function requireRoot({ uid }: Pick<Machine, 'uid'>, what: string, hint: string): void {
  if (uid !== 0) throw new EvictdError('EVICTD_INSTALL_ROOT', `only root may ${what}`, { hint });
}

/**
 * @param hint  what to do instead
 * @throws EvictdError  a package has brought the unit
 */
export function requireNoPackage({ places }: Machine, hint: string): void {
  const unit = places.packagedUnits.map((directory) => join(directory, SERVICE)).find((path) => existsSync(path));
  if (unit === undefined) return;
  throw new EvictdError('EVICTD_INSTALL_PACKAGED', `evictd came with a package, which has its unit: ${unit}`, { hint });
}
