import { isBelow } from './cgroup.js';
import type { DiskAmount } from './disk-holding.js';

/** A directory of a workload, as a rule names it. */
export interface WorkloadDirectory {
  /** Absolute and normalised; no system directory, and in no directory of another rule. */
  readonly path: string;
  /** What becomes of what is in it when the workload is evicted for a disk. */
  readonly onEvict: 'keep' | 'empty';
}

/** A directory that is emptied with its workload, which one it is, and what was in it when it was measured. */
export interface DirectoryToEmpty {
  readonly path: string;
  /** st_dev and st_ino. */
  readonly device: bigint;
  readonly inode: bigint;
  readonly holds: DiskAmount;
}

/** What emptying a directory came to: native/acting.d.ts has it in full. */
export interface Emptied {
  readonly end: 'done' | 'refused' | 'replaced' | 'populated' | 'moved' | 'late' | 'cancelled';
  readonly errno: number;
  /** What was removed. */
  readonly bytes: number;
  readonly inodes: number;
  /** Names that could not be removed, and the first of them. */
  readonly failed: number;
  readonly failures: readonly { readonly name: string; readonly errno: number }[];
}

/** Why a directory is not emptied though a rule says so, and what can be done about it. */
export interface EmptyingObjection {
  readonly why: string;
  readonly hint: string;
}

/** The service writes only where its unit lets it. */
export function readOnly(path: string): EmptyingObjection {
  return {
    why: 'it is read-only to evictd',
    hint: `make it, and run evictd install --now once more, or add ReadWritePaths=-${path} below [Service] by systemctl edit evictd, and restart evictd`,
  };
}

/** Others live in these, too; what is in them may be a workload's. */
const SHARED: ReadonlySet<string> = new Set([
  '/',
  ...['/home', '/media', '/mnt', '/opt', '/root', '/run', '/srv', '/tmp', '/var'],
  ...['/var/backups', '/var/cache', '/var/lib', '/var/lock', '/var/log', '/var/mail', '/var/opt', '/var/run', '/var/spool', '/var/tmp'],
  ...['/run/lock', '/run/user', '/var/lib/private', '/var/cache/private', '/var/log/private'],
]);

/** Nothing in these is a workload's. */
const SYSTEM: readonly string[] = [
  ...['/bin', '/boot', '/dev', '/efi', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/lost+found', '/proc', '/sbin', '/sys', '/usr'],
  ...['/run/dbus', '/run/evictd', '/run/systemd', '/run/udev'],
  ...['apt', 'dbus', 'dpkg', 'evictd', 'pacman', 'rpm', 'systemd', 'ucf'].map((name) => `/var/lib/${name}`),
  ...['/var/cache/apt', '/var/log/journal', '/var/spool/cron'],
];

/** What keeps its own books of what is in these would find it gone. */
const KEPT_BY_OTHERS: readonly string[] = [
  ...[
    'cni',
    'containerd',
    'containers',
    'crio',
    'docker',
    'etcd',
    'flatpak',
    'kubelet',
    'libvirt',
    'lxc',
    'lxd',
    'machines',
    'rancher',
    'snapd',
  ].map((name) => `/var/lib/${name}`),
  ...['/run/containerd', '/run/crio', '/run/docker', '/snap', '/var/log/containers', '/var/log/pods', '/var/snap'],
];

/** In these everybody can put a directory in place of another one; and the service has its own (PrivateTmp=). */
const EVERYBODYS: readonly string[] = ['/tmp', '/var/tmp'];

/** Why a path cannot be the directory of one workload; undefined: it can. */
export function systemDirectory(path: string): string | undefined {
  if (SHARED.has(path)) return `${path} is shared by all`;
  const [system] = SYSTEM.filter((directory) => path === directory || isBelow(path, directory));
  if (system !== undefined) return path === system ? `${path} is the system's` : `${path} lies in ${system}, which is the system's`;
  return /^\/home\/[^/]+$/.test(path) ? `${path} is somebody's home` : undefined;
}

/** Why a directory is never emptied, whosever it is; undefined: it may be. */
export function neverEmptied(path: string): string | undefined {
  const refused = systemDirectory(path);
  if (refused !== undefined) return refused;
  if (/[*?[\]{}]/.test(path)) return `${path} looks like a pattern, and is taken as it is written`;
  const everybodys = EVERYBODYS.find((directory) => isBelow(path, directory));
  if (everybodys !== undefined) return `${path} lies in ${everybodys}, where everybody can put another directory in its place`;
  const kept = [...KEPT_BY_OTHERS, ...SYSTEM].find((directory) => overlap(path, directory));
  return kept === undefined ? undefined : `${path} is, or is in or above, ${kept}, which others keep`;
}

/** One is the other, or lies in it. */
export function overlap(path: string, other: string): boolean {
  return path === other || isBelow(path, other) || isBelow(other, path);
}
