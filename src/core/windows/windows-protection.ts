import type { Protection } from '../workload/workload.js';

/** Never ended, without any rule. docs/windows.md lists all. */
export interface ProtectedNames {
  readonly names: readonly string[];
  /** For people. */
  readonly why: string;
}

/**
 * Protected processes by program file. The first rows: "Critical System Services" (learn.microsoft.com, Win32 apps, Rstmgr) and the system
 * processes of "Windows Internals", 7th edition, chapter 2. For most of them IsProcessCritical, which evictd also asks,
 * is true.
 */
export const PROTECTED_PROGRAMS: readonly ProtectedNames[] = [
  {
    names: ['system', 'registry', 'secure system', 'memory compression', 'vmmem', 'system idle process', 'interrupts'],
    why: 'a part of the kernel',
  },
  { names: ['smss.exe', 'csrss.exe', 'wininit.exe', 'services.exe'], why: 'the machine stops without it' },
  { names: ['lsass.exe', 'lsaiso.exe', 'winlogon.exe', 'logonui.exe', 'userinit.exe'], why: 'logins need it' },
  { names: ['svchost.exe'], why: 'services of Windows live in it' },
  { names: ['dwm.exe', 'fontdrvhost.exe', 'sihost.exe', 'explorer.exe'], why: 'the session of the logged-in user' },
  { names: ['wudfhost.exe'], why: 'a driver' },
  { names: ['trustedinstaller.exe', 'tiworker.exe'], why: 'it changes Windows itself, and must not end in the middle' },
  { names: ['msmpeng.exe', 'mssense.exe'], why: 'the protection against malware' },
  {
    names: ['sshd.exe', 'amazon-ssm-agent.exe', 'windowsazureguestagent.exe', 'waappagent.exe', 'qemu-ga.exe'],
    why: 'a way into the machine',
  },
  { names: ['containerd.exe', 'dockerd.exe', 'vmcompute.exe', 'vmms.exe', 'vmwp.exe'], why: 'containers or virtual machines live by it' },
  { names: ['kubelet.exe', 'kube-proxy.exe', 'csi-proxy.exe', 'k3s.exe', 'rke2.exe', 'nomad.exe'], why: 'the node of a cluster' },
];

/** Services with a process of their own. Those in svchost.exe are protected by that. */
export const PROTECTED_SERVICES: readonly ProtectedNames[] = [
  { names: ['evictd'], why: 'evictd itself' },
  { names: ['sshd', 'amazonssmagent', 'windowsazureguestagent', 'rdagent', 'qemu-ga', 'vmtools'], why: 'a way into the machine' },
  { names: ['samss', 'netlogon', 'kdc', 'ntds', 'vaultsvc', 'keyiso'], why: 'it authenticates users' },
  { names: ['trustedinstaller', 'wuauserv', 'msiserver'], why: 'it changes Windows itself, and must not end in the middle' },
  { names: ['windefend', 'wdnissvc', 'sense'], why: 'the protection against malware' },
  { names: ['docker', 'containerd', 'vmcompute', 'vmms', 'hns'], why: 'containers or virtual machines live by it' },
  { names: ['kubelet', 'kube-proxy', 'csi-proxy', 'rke2', 'k3s', 'nomad'], why: 'the node of a cluster' },
];

const programs = byName(PROTECTED_PROGRAMS);
const services = byName(PROTECTED_SERVICES);

function byName(rows: readonly ProtectedNames[]): ReadonlyMap<string, string> {
  return new Map(rows.flatMap(({ names, why }) => names.map((name) => [name, why] as const)));
}

export interface EndableProcess {
  readonly pid: number;
  /** The file name of its program. */
  readonly name: string;
  /** Windows crashes when it ends. */
  readonly critical: boolean;
  /** The error if Windows refused access to it; 0: it did not. */
  readonly errno: number;
}

/**
 * Why these processes must not be ended; undefined: they may.
 *
 * @param own  evictd and its ancestors
 */
export function systemProtection(processes: readonly EndableProcess[], own: ReadonlySet<number>): Protection | undefined {
  if (processes.some(({ pid }) => own.has(pid))) return { kind: 'self' };
  for (const { pid, name, critical } of processes) {
    const why = pid <= SYSTEM_PID ? 'the kernel' : critical ? 'the machine stops without it' : programs.get(name.toLowerCase());
    if (why !== undefined) return { kind: 'system', why: `${name}: ${why}` };
  }
  // It may be one of the processes that Windows guards, critical ones among them.
  return processes.some(({ errno }) => errno !== 0) ? { kind: 'unlisted' } : undefined;
}

const SYSTEM_PID = 4;

/** The protection by the name of the service, and by whether it shares its process. */
export function serviceProtection({ name, ownProcess }: { readonly name: string; readonly ownProcess: boolean }): Protection | undefined {
  const why = services.get(name.toLowerCase());
  if (why !== undefined) return { kind: 'system', why: `${name}: ${why}` };
  return ownProcess ? undefined : { kind: 'system', why: 'it shares its process with other services' };
}
