import { compileGlob, isLiteral } from '../workload/glob.js';
import { belowUserManager, loginSessionUser, unitNameOf } from './unit.js';

/** Units that are never evicted, without any rule. docs/systemd.md lists all. */
export interface ProtectedUnits {
  /** Names and patterns. */
  readonly names: readonly string[];
  /** What would be lost, for people. */
  readonly why: string;
  /** No rule can lift the protection. */
  readonly always?: true;
  /** Where the names count. Left out: among the units of the system's manager only, because users name their own. */
  readonly of?: 'system and users' | 'users' | 'operators';
}

export const PROTECTED_UNITS: readonly ProtectedUnits[] = [
  {
    why: 'process 1 of the machine, or a user manager itself',
    always: true,
    of: 'system and users',
    names: namesIn(`init.scope`),
  },
  {
    why: 'the manager of all that a user runs',
    names: namesIn(`user@*.service user-runtime-dir@*.service`),
  },
  {
    why: 'a part of systemd: journal, devices, logins, network, time',
    names: namesIn(`systemd-*.service seatd.service elogind.service`),
  },
  {
    why: 'the bus that services talk over',
    of: 'system and users',
    names: namesIn(`dbus.service dbus-broker.service messagebus.service`),
  },
  {
    why: 'a login session of an operator: root, or who may become root by sudo',
    of: 'operators',
    names: namesIn(`session-*.scope`),
  },
  {
    why: "a user's desktop: the shell and the compositor",
    of: 'users',
    names: namesIn(`session.slice`),
  },
  {
    why: "the desktop's login: all graphical sessions would end",
    names: namesIn(`
      display-manager.service gdm.service gdm3.service sddm.service lightdm.service lxdm.service xdm.service
      wdm.service slim.service nodm.service greetd.service ly.service ly@*.service plasmalogin.service
      cosmic-greeter.service emptty.service lemurs.service weston.service weston@*.service cage@*.service
      accounts-daemon.service
    `),
  },
  {
    why: 'a way into the machine',
    names: namesIn(`
      ssh.service sshd.service ssh@*.service sshd@*.service dropbear.service dropbear@*.service telnet.service
      cockpit.service cockpit-*.service webmin.service xrdp.service xrdp-sesman.service gnome-remote-desktop.service
      nxserver.service teamviewerd.service anydesk.service rustdesk.service meshagent.service teleport.service
      teleport@*.service teleport-*.service tailscaled.service snap.tailscale.tailscaled.service cloudflared.service
      cloudflared@*.service warp-svc.service zerotier-one.service netbird.service netbird@*.service nebula.service
      nebula@*.service twingate.service twingate-connector.service ziti-edge-tunnel.service frpc.service
      frpc@*.service vncserver@*.service tigervncserver@*.service x11vnc.service x2goserver.service
      autossh.service autossh@*.service tinysshd@*.service chrome-remote-desktop@*.service
      vncserver-x11-serviced.service vncserver-virtuald.service wayvnc.service dwagent.service ttyd.service
      shellinabox.service shellinaboxd.service guacd.service rport.service connectwisecontrol-*.service
      tinc.service tinc@*.service ocserv.service ocserv@*.service netclient.service softether-vpn*.service
      softethervpn-*.service
      amazon-ssm-agent.service
      snap.amazon-ssm-agent.amazon-ssm-agent.service google-guest-agent.service google-guest-agent-manager.service
      google-guest-compat-manager.service google-osconfig-agent.service walinuxagent.service waagent.service
      azuremonitoragent.service oracle-cloud-agent.service snap.oracle-cloud-agent.*.service droplet-agent.service
      aliyun.service cloudmonitor.service
    `),
  },
  {
    why: "the hypervisor's agent: it shuts the guest down, freezes it for backups, and reports its addresses",
    names: namesIn(`
      qemu-guest-agent.service qemu-ga.service open-vm-tools.service vmtoolsd.service vgauth.service vgauthd.service
      xe-daemon.service xe-linux-distribution.service hv-*-daemon.service hypervkvpd.service hypervvssd.service
      hypervfcopyd.service vboxadd-service.service vboxservice.service virtualbox-guest-utils.service
      lxd-agent.service incus-agent.service spice-vdagentd.service
    `),
  },
  {
    why: 'a console to log in at',
    names: namesIn(`
      getty@*.service serial-getty@*.service console-getty.service container-getty@*.service autovt@*.service
      rescue.service emergency.service debug-shell.service
    `),
  },
  {
    why: 'it authenticates users',
    names: namesIn(`
      polkit.service sssd.service sssd-*.service sssd@*.service nslcd.service winbind.service winbindd.service
      oddjobd.service authd.service himmelblaud.service himmelblaud-*.service realmd.service gssproxy.service
      pcscd.service vasd.service centrifydc.service lwsmd.service
    `),
  },
  {
    why: 'it resolves names',
    names: namesIn(`
      unbound.service unbound@*.service dnsmasq.service dnsmasq@*.service named.service named-chroot.service
      named-pkcs11.service bind9.service nscd.service unscd.service nsncd.service pdns-recursor.service pdns-recursor@*.service
      knot-resolver.service kresd@*.service dnscrypt-proxy.service stubby.service smartdns.service
      resolvconf.service avahi-daemon.service coredns.service dnsdist.service dnsdist@*.service pihole-FTL.service
      AdGuardHome.service blocky.service nextdns.service ctrld.service dns.service
    `),
  },
  {
    why: 'a container runtime: containers would end, or run unmanaged',
    names: namesIn(`
      containerd.service docker.service cri-docker.service cri-dockerd.service crio.service cri-o.service
      podman.service balena.service balena-engine.service lxcfs.service lxd.service incus.service
      lxc-monitord.service snap.docker.dockerd.service snap.lxd.daemon.service libpod-conmon-*.scope
      crio-conmon-*.scope
    `),
  },
  {
    why: 'the node of a cluster',
    names: namesIn(`
      kubelet.service kube-*.service k3s.service k3s-agent.service rke2-server.service rke2-agent.service
      k0scontroller.service k0sworker.service microshift.service snap.microk8s.*.service snap.k8s.*.service
      snap.kubelet-eks.daemon.service nomad.service slurmd.service slurmctld.service
    `),
  },
  {
    why: 'the state of a cluster',
    names: namesIn(`
      etcd.service etcd@*.service etcd-*.service etcd2.service snap.etcd.etcd.service consul.service
      consul@*.service
    `),
  },
  {
    why: 'the manager of virtual machines',
    names: namesIn(`
      libvirtd.service virtqemud.service virtlogd.service virtlockd.service virtnetworkd.service
      virtstoraged.service virtlxcd.service virtxend.service virtproxyd.service virtinterfaced.service
      virtnodedevd.service virtnwfilterd.service virtsecretd.service pvedaemon.service pveproxy.service
      pvestatd.service pvescheduler.service pve-firewall.service pve-lxc-syscalld.service proxmox-firewall.service
      qmeventd.service xenstored.service xenconsoled.service xapi.service nova-compute.service
      snap.multipass.multipassd.service
    `),
  },
  {
    why: 'the network',
    names: namesIn(`
      NetworkManager.service networking.service network.service ifup@*.service wicked*.service connman.service
      wpa_supplicant.service wpa_supplicant@*.service netplan-wpa-*.service iwd.service hostapd.service
      hostapd@*.service
      ModemManager.service dhclient.service dhclient@*.service dhcpcd.service dhcpcd@*.service ppp@*.service
      teamd@*.service firewalld.service ovs-vswitchd.service ovsdb-server.service ovn-*.service vpp.service
      wg-quick@*.service openvpn-client@*.service openvpn@*.service openvpn-server@*.service strongswan*.service
      ipsec.service frr.service bird.service bird6.service
    `),
  },
  {
    why: 'storage',
    names: namesIn(`
      multipathd.service iscsid.service iscsi.service open-iscsi.service iscsiuio.service nbd@*.service fcoe.service
      tgt.service lvm2-*.service lvmlockd.service lvmlocks.service dm-event.service mdmonitor.service
      mdmon@*.service stratisd.service zfs-*.service rpcbind.service rpc-*.service nfs-*.service nfsdcld.service
      autofs.service cachefilesd.service glusterd.service ceph-*.service drbd.service drbd-reactor.service
      linstor-satellite.service beegfs-*.service gpfs.service ocfs2.service o2cb.service udisks2.service
    `),
  },
  {
    why: 'without it the machine may be fenced or restarted',
    names: namesIn(`
      corosync.service corosync-qdevice.service pacemaker.service pacemaker_remote.service sbd.service
      sbd_remote.service bmc-watchdog.service watchdog.service watchdog-mux.service watchdogd.service
      wd_keepalive.service wdmd.service
      sanlock.service fence_sanlockd.service dlm.service clvmd.service booth@*.service pcsd.service fence_virtd.service
      pve-cluster.service pve-ha-*.service
      ovirt-ha-agent.service ovirt-ha-broker.service vdsmd.service supervdsmd.service heartbeat.service
      keepalived.service patroni.service patroni@*.service oracle-ohasd.service ohasd.service vcs.service vcsmm.service
      vxfen.service gab.service llt.service lifekeeper.service
    `),
  },
  {
    why: 'the log of the machine',
    names: namesIn(`rsyslog.service syslog-ng.service auditd.service`),
  },
  {
    why: 'the time of the machine',
    names: namesIn(`
      chrony.service chronyd.service chronyd-restricted.service ntp.service ntpd.service ntpsec.service
      openntpd.service ptp4l.service ptp4l@*.service phc2sys.service phc2sys@*.service timemaster.service
    `),
  },
  {
    why: 'power: the machine would not shut down before its battery is empty',
    names: namesIn(`nut-*.service upsd.service upsmon.service apcupsd.service pwrstatd.service acpid.service upower.service`),
  },
  {
    why: 'cooling: the machine would overheat, or switch itself off',
    names: namesIn(`
      thermald.service fancontrol.service thinkfan.service mbpfan.service i8kmon.service nbfc_service.service
      coolercontrold.service
    `),
  },
  {
    why: 'devices that other programs need at work',
    names: namesIn(`nvidia-persistenced.service nvidia-fabricmanager.service opensm.service opensmd.service openibd.service`),
  },
  {
    why: 'evictd itself',
    always: true,
    names: namesIn(`evictd.service evictd@*.service evictd.slice`),
  },
  {
    why: 'another out-of-memory daemon',
    names: namesIn(`earlyoom.service oomd.service nohang.service nohang-desktop.service`),
  },
];

/** Separated by white space. */
function namesIn(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Containers run by systemd are workloads like any other. */
const NOT_PROTECTED = /^systemd-nspawn@.*\.service$/;

interface Listed extends Omit<ProtectedUnits, 'names'> {
  /** The name or pattern of the list. */
  readonly rule: string;
}

const LIST = PROTECTED_UNITS.flatMap(({ names, ...row }) => names.map((rule): Listed => ({ rule, ...row })));
const byName = new Map(LIST.filter(({ rule }) => isLiteral(rule)).map((listed) => [listed.rule, listed]));
const byPattern = LIST.filter(({ rule }) => !isLiteral(rule)).map((listed) => ({ listed, pattern: compileGlob(listed.rule) }));

/** What decides whether the name of a cgroup means something. */
export interface NameFacts {
  /** Whether a user administers the machine, so that protecting the user's login gives away nothing. */
  isOperator(uid: number): boolean;
  /** Whether only root can name a cgroup here. */
  isNamedByRoot(path: string): boolean;
}

/**
 * Why a cgroup is protected by its name; undefined: it is not. Where users choose the names, only those of the list
 * that are `of` users count.
 */
export function protectedUnit(path: string, facts: NameFacts): Listed | undefined {
  const name = unitNameOf(path.slice(path.lastIndexOf('/') + 1));
  if (belowUserManager(path) !== undefined) {
    if (isOfDesktop(path)) return find(SESSION_SLICE);
    const listed = find(name);
    return listed?.of === 'system and users' ? listed : undefined;
  }
  const user = loginSessionUser(path);
  if (user !== undefined) return facts.isOperator(user) ? find(name) : undefined;
  const listed = find(name);
  if (listed === undefined || listed.of === 'users' || listed.of === 'operators') return undefined;
  return facts.isNamedByRoot(path) ? listed : undefined;
}

/** Whether a cgroup is evicted last: the login session of a user who is not an operator. */
export function isAvoidedSession(path: string, facts: Pick<NameFacts, 'isOperator'>): boolean {
  const user = loginSessionUser(path);
  return user !== undefined && !facts.isOperator(user);
}

/** Whether a cgroup is a part of a user's desktop, whatever its name is. */
export function isOfDesktop(path: string): boolean {
  return belowUserManager(path)?.split('/')[0] === SESSION_SLICE;
}

/** The list entry for a unit of the system manager. */
export function protectedName(name: string): Listed | undefined {
  const listed = find(name);
  return listed?.of === 'users' ? undefined : listed;
}

function find(name: string): Listed | undefined {
  if (NOT_PROTECTED.test(name)) return undefined;
  return byName.get(name) ?? byPattern.find(({ pattern }) => pattern.test(name))?.listed;
}

const SESSION_SLICE = 'session.slice';
