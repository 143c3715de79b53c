import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LOGIND_DROP_IN } from '../../core/systemd/inhibit-delay.js';
import { EvictdError } from '../../errors.js';
import { SERVICE } from './systemd/units.js';

export interface EvictdDirectories {
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  readonly journal: { readonly maxBytes: number; readonly maxFiles: number };
}

/** The result of restoring what ended evictd processes have changed, a phrase each. */
export interface Restoration {
  /** 'oom_score_adj of 3 processes' */
  readonly restored: readonly string[];
  /** What could not be restored, with the reason and what to do. */
  readonly unrestored: readonly string[];
  /** A directory does not answer and blocks a thread. */
  readonly hangs: boolean;
}

export interface Places {
  /** The directory of unit files of the administrator. */
  readonly units: string;
  readonly packagedUnits: readonly string[];
  /** Exists if systemd is the init (sd_booted(3)). */
  readonly systemd: string;
  readonly logindDropIn: string;
  readonly configFile: string;
  /** The directories of StateDirectory= and RuntimeDirectory=. */
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  /** The root of RuntimeDirectory=, by each of its names. */
  readonly runtimes: readonly string[];
}

export const PLACES: Places = {
  units: '/etc/systemd/system',
  packagedUnits: ['/usr/lib/systemd/system', '/lib/systemd/system'],
  systemd: '/run/systemd/system',
  // The last name wins, whatever its directory (unattended-upgrades brings a drop-in, too).
  logindDropIn: `/etc/systemd/logind.conf.d/${LOGIND_DROP_IN}`,
  configFile: '/etc/evictd/config.yaml',
  stateDirectory: '/var/lib/evictd',
  runtimeDirectory: '/run/evictd',
  runtimes: ['/run', '/var/run'],
};

export interface CommandResult {
  /** undefined: not started, or ended by a signal. */
  readonly status: number | undefined;
  /** Standard output and standard error. */
  readonly output: string;
}

/** Runs a program without a shell. For installation only: the monitor starts no processes. */
export type RunProgram = (command: readonly string[]) => CommandResult;

export type Systemctl = RunProgram;

export const runProgram: RunProgram = ([program = '', ...args]) => {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (error) return { status: undefined, output: error.message };
  return { status: status ?? undefined, output: `${stdout}${stderr}`.trim() };
};

export interface Machine {
  readonly places: Places;
  readonly uid: number | undefined;
  readonly systemctl: Systemctl;
  /** evictd processes that use a runtime directory. */
  readonly running: (runtimeDirectory: string) => readonly number[];
  /** Whether a path exists; undefined: its filesystem does not answer. */
  readonly isThere: (path: string) => Promise<boolean | undefined>;
  /** Restores what evictd processes that ended have changed. Units in `forget` stay stopped. */
  readonly restore: (directories: EvictdDirectories, forget: ReadonlySet<string>, only?: 'restraints') => Promise<Restoration>;
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
