import { compileGlob, isLiteral } from '../workload/glob.js';
import { unitNameOf, unitPlace } from './unit.js';

/** Units that are never evicted, without any rule. docs/systemd.md lists all. */
export interface ProtectedUnits {
  readonly names: readonly string[];
  /** What would be lost, for people. */
  readonly why: string;
  /** No rule can lift the protection. */
  readonly always?: true;
  /** Also under a user's manager. Users choose the other names there, so those mean nothing. */
  readonly ofUsersToo?: true;
}

export const PROTECTED_UNITS: readonly ProtectedUnits[] = [
  { names: ['init.scope'], why: 'process 1 of the machine, or a user manager itself', always: true, ofUsersToo: true },
  { names: ['user@*.service', 'user-runtime-dir@*.service'], why: 'the manager of all that a user runs' },
  { names: ['systemd-*.service'], why: 'a part of systemd: journal, devices, logins, network, time' },
  { names: ['dbus.service', 'dbus-broker.service', 'messagebus.service'], why: 'the bus that services talk over', ofUsersToo: true },
  {
    names: [
      ...['ssh.service', 'sshd.service', 'ssh@*.service', 'sshd@*.service', 'dropbear.service', 'dropbear@*.service'],
      ...['amazon-ssm-agent.service', 'google-guest-agent.service', 'qemu-guest-agent.service', 'walinuxagent.service', 'waagent.service'],
    ],
    why: 'a way into the machine',
  },
  {
    names: [
      ...['getty@*.service', 'serial-getty@*.service', 'console-getty.service', 'container-getty@*.service', 'autovt@*.service'],
      ...['rescue.service', 'emergency.service', 'debug-shell.service'],
    ],
    why: 'a console to log in at',
  },
  {
    names: ['polkit.service', 'sssd.service', 'nslcd.service', 'winbind.service'],
    why: 'it authenticates users',
  },
  {
    names: [
      ...['containerd.service', 'docker.service', 'cri-docker.service', 'crio.service', 'cri-o.service', 'podman.service'],
      ...['lxcfs.service', 'lxd.service', 'incus.service', 'snap.docker.dockerd.service', 'snap.lxd.daemon.service'],
      ...['libpod-conmon-*.scope', 'crio-conmon-*.scope'],
    ],
    why: 'a container runtime: containers would end, or run unmanaged',
  },
  {
    names: [
      ...['kubelet.service', 'kube-proxy.service', 'k3s.service', 'k3s-agent.service', 'rke2-server.service', 'rke2-agent.service'],
      ...[
        'k0scontroller.service',
        'k0sworker.service',
        'snap.microk8s.daemon-kubelite.service',
        'snap.kubelet-eks.daemon.service',
        'nomad.service',
      ],
    ],
    why: 'the node of a cluster',
  },
  {
    names: [
      ...['libvirtd.service', 'virtqemud.service', 'virtlogd.service', 'virtlockd.service', 'virtnetworkd.service', 'virtstoraged.service'],
    ],
    why: 'the manager of virtual machines',
  },
  {
    names: [
      ...['NetworkManager.service', 'networking.service', 'network.service', 'ifup@*.service', 'wicked*.service', 'connman.service'],
      ...['wpa_supplicant.service', 'wpa_supplicant@*.service', 'iwd.service', 'ModemManager.service'],
      ...['dhclient.service', 'dhclient@*.service', 'dhcpcd.service', 'dhcpcd@*.service', 'firewalld.service'],
      ...['ovs-vswitchd.service', 'ovsdb-server.service', 'wg-quick@*.service', 'openvpn-client@*.service', 'tailscaled.service'],
      ...['openvpn@*.service', 'openvpn-server@*.service', 'strongswan*.service', 'frr.service', 'bird.service'],
    ],
    why: 'the network',
  },
  {
    names: [
      ...[
        'multipathd.service',
        'iscsid.service',
        'iscsi.service',
        'open-iscsi.service',
        'iscsiuio.service',
        'nbd@*.service',
        'fcoe.service',
      ],
      ...['lvm2-*.service', 'dm-event.service', 'mdmonitor.service', 'mdmon@*.service', 'stratisd.service', 'zfs-*.service'],
      ...['rpcbind.service', 'rpc-*.service', 'nfs-*.service', 'nfsdcld.service', 'autofs.service', 'cachefilesd.service'],
      ...['glusterd.service', 'ceph-*.service', 'drbd.service', 'udisks2.service'],
    ],
    why: 'storage',
  },
  {
    names: ['corosync.service', 'pacemaker.service', 'sbd.service', 'watchdog.service', 'wd_keepalive.service', 'keepalived.service'],
    why: 'without it the machine may be fenced or restarted',
  },
  { names: ['rsyslog.service', 'syslog-ng.service', 'auditd.service'], why: 'the log of the machine' },
  {
    names: ['chrony.service', 'chronyd.service', 'ntp.service', 'ntpd.service', 'ntpsec.service', 'openntpd.service'],
    why: 'the time of the machine',
  },
  { names: ['evictd.service', 'evictd@*.service', 'evictd.slice'], why: 'evictd itself', always: true },
  {
    names: ['earlyoom.service', 'oomd.service', 'nohang.service', 'nohang-desktop.service'],
    why: 'another out-of-memory daemon',
  },
];

/** Containers run by systemd are workloads like any other. */
const NOT_PROTECTED = /^systemd-nspawn@.*\.service$/;

const byName = new Map(PROTECTED_UNITS.flatMap((row) => row.names.filter(isLiteral).map((name) => [name, row] as const)));
const byPattern = PROTECTED_UNITS.flatMap((row) =>
  row.names.flatMap((name) => (isLiteral(name) ? [] : { row, pattern: compileGlob(name) })),
);

/**
 * Why a cgroup is protected by its name; undefined: it is not. Below a user's manager only names with `ofUsersToo`
 * count, because users choose the others.
 */
export function protectedUnit(path: string): ProtectedUnits | undefined {
  const place = unitPlace(path);
  const ofUser = place.unit?.manager === 'user';
  const found = protectedName(unitNameOf(path.slice(path.lastIndexOf('/') + 1)));
  return ofUser && !found?.ofUsersToo ? undefined : found;
}

/** For a unit of the system manager. */
export function protectedName(name: string): ProtectedUnits | undefined {
  if (NOT_PROTECTED.test(name)) return undefined;
  return byName.get(name) ?? byPattern.find(({ pattern }) => pattern.test(name))?.row;
}
