/** Where an installation lies on a machine. */
export interface Places {
  /** Of unit files that an administrator makes; a drop-in is NAME.d beside one. */
  readonly units: string;
  /** Of unit files that packages bring. */
  readonly packagedUnits: readonly string[];
  /** sd_booted(3): there while systemd is the init. */
  readonly systemd: string;
  /** A drop-in of logind's. */
  readonly logindDropIn: string;
  readonly configFile: string;
  /** As StateDirectory= and RuntimeDirectory= make them. */
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  /** What RuntimeDirectory= counts from, by each of its names; it is empty after a boot. */
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
