import { isBelow } from './cgroup.js';

export interface WorkloadDirectory {
  /** Absolute and normalised; not a system directory, and not inside another rule's directory. */
  readonly path: string;
}

/** Shared directories; a directory inside may belong to a workload. */
const SHARED: ReadonlySet<string> = new Set([
  '/',
  ...['/home', '/media', '/mnt', '/opt', '/root', '/run', '/srv', '/tmp', '/var'],
  ...['/var/backups', '/var/cache', '/var/lib', '/var/lock', '/var/log', '/var/mail', '/var/opt', '/var/run', '/var/spool', '/var/tmp'],
  ...['/run/lock', '/run/user', '/var/lib/private', '/var/cache/private', '/var/log/private'],
]);

/** Nothing inside belongs to a workload. */
const SYSTEM: readonly string[] = [
  ...['/bin', '/boot', '/dev', '/efi', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/lost+found', '/proc', '/sbin', '/sys', '/usr'],
  ...['/run/dbus', '/run/evictd', '/run/systemd', '/run/udev'],
  ...['apt', 'dbus', 'dpkg', 'evictd', 'pacman', 'rpm', 'systemd', 'ucf'].map((name) => `/var/lib/${name}`),
  ...['/var/cache/apt', '/var/log/journal', '/var/spool/cron'],
];

/** Why a directory cannot belong to one workload; undefined: it can. */
export function systemDirectory(path: string): string | undefined {
  if (SHARED.has(path)) return `${path} is a shared directory`;
  const [system] = SYSTEM.filter((directory) => path === directory || isBelow(path, directory));
  if (system !== undefined) return path === system ? `${path} is a system directory` : `${path} is in the system directory ${system}`;
  return /^\/home\/[^/]+$/.test(path) ? `${path} is a home directory` : undefined;
}

/** They are equal, or one is inside the other. */
export function overlap(path: string, other: string): boolean {
  return path === other || isBelow(path, other) || isBelow(other, path);
}
