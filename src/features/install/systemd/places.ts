export interface Places {
  /** The directory of unit files of the administrator. */
  readonly units: string;
  /** The directories of unit files of packages. */
  readonly packagedUnits: readonly string[];
  /** Exists if systemd is the init (sd_booted(3)). */
  readonly systemd: string;
  readonly logindDropIn: string;
  readonly configFile: string;
  /** Those of StateDirectory= and RuntimeDirectory=. */
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  /** The root of RuntimeDirectory=, by each of its names. */
  readonly runtimes: readonly string[];
}

export const PLACES: Places = {
  units: '/etc/systemd/system',
  packagedUnits: ['/usr/lib/systemd/system', '/lib/systemd/system'],
  systemd: '/run/systemd/system',
  logindDropIn: '/etc/systemd/logind.conf.d/50-evictd.conf',
  configFile: '/etc/evictd/config.yaml',
  stateDirectory: '/var/lib/evictd',
  runtimeDirectory: '/run/evictd',
  runtimes: ['/run', '/var/run'],
};
