import { basename } from 'node:path';
import type { DaemonName } from '../../facts.js';

export interface SeenProcess {
  /** The base name of its executable; undefined: not visible without root. */
  readonly executable: string | undefined;
  /** Its name, which a process may choose. */
  readonly comm: string;
  readonly unit: string | undefined;
}

const BY_EXECUTABLE: Readonly<Record<string, DaemonName>> = {
  'systemd-oomd': 'systemd-oomd',
  earlyoom: 'earlyoom',
  oomd: 'oomd',
  oomd_bin: 'oomd',
  lmkd: 'lmkd',
  kubelet: 'kubelet',
  kubelite: 'kubelet', // MicroK8s
};

const BY_UNIT: Readonly<Record<string, DaemonName>> = {
  'systemd-oomd.service': 'systemd-oomd',
  'earlyoom.service': 'earlyoom',
  'oomd.service': 'oomd',
  'nohang.service': 'nohang',
  'nohang-desktop.service': 'nohang',
  'kubelet.service': 'kubelet',
};

/** The base name of the target of /proc/PID/exe, also where the program was replaced since. */
export function executableName(link: string): string {
  return basename(link.replace(/ \(deleted\)$/, ''));
}

/**
 * Which eviction daemon a process is; undefined: none. Decided by its executable; where that is not visible, by unit
 * and name together.
 */
export function daemonName({ executable, comm, unit }: SeenProcess): DaemonName | undefined {
  if (executable === undefined) {
    const name = unit === undefined ? undefined : BY_UNIT[unit];
    return name === comm ? name : undefined;
  }
  // A script's name is its process's; its executable is the interpreter.
  if (executable.startsWith('python')) return comm === 'nohang' ? 'nohang' : undefined;
  // k3s contains the kubelet and sets its process name to the mode.
  if (executable === 'k3s') return /^k3s-(server|agent)$/.test(comm) ? 'kubelet' : undefined;
  return Object.hasOwn(BY_EXECUTABLE, executable) ? BY_EXECUTABLE[executable] : undefined;
}

/** The innermost unit of /proc/PID/cgroup: from name=systemd on v1, from the only hierarchy on v2. */
export function unitOf(procCgroup: string): string | undefined {
  const [, v1] = /(?:^|\n)\d+:name=systemd:([^\n]*)/.exec(procCgroup) ?? [];
  const [, v2] = /(?:^|\n)0::([^\n]*)/.exec(procCgroup) ?? [];
  const units = (v1 ?? v2 ?? '').split('/').filter((name) => /\.(service|scope)$/.test(name));
  return units.at(-1);
}
