import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isAvoidedSession, PROTECTED_UNITS, protectedName, protectedUnit } from '../../../src/core/systemd/protected-units.js';

/** User 1000 administers the machine; /delegated is a user's. */
const facts = {
  isOperator: (uid: number) => uid === 0 || uid === 1000,
  isNamedByRoot: (path: string) => !path.startsWith('/delegated/'),
};

describe('units that are protected by name', () => {
  test.each<[path: string, why: RegExp | undefined]>([
    ['/init.scope', /process 1/],
    ['/user.slice/user-1000.slice/user@1000.service', /all that a user runs/],
    ['/system.slice/systemd-journald.service', /part of systemd/],
    ['/system.slice/system-systemd\\x2dfsck.slice/systemd-fsck@dev-sda1.service', /part of systemd/],
    ['/system.slice/dbus.service', /bus/],
    ['/system.slice/dbus-broker.service', /bus/],
    ['/system.slice/ssh.service', /way into/],
    ['/system.slice/system-sshd.slice/sshd@1-10.0.0.1:22-10.0.0.2:5000.service', /way into/],
    ['/system.slice/system-getty.slice/getty@tty1.service', /console/],
    ['/system.slice/system-serial\\x2dgetty.slice/serial-getty@ttyS0.service', /console/],
    ['/system.slice/containerd.service', /container runtime/],
    ['/system.slice/docker.service', /container runtime/],
    ['/system.slice/crio.service', /container runtime/],
    ['/system.slice/podman.service', /container runtime/],
    ['/machine.slice/libpod-conmon-4f1.scope', /container runtime/],
    ['/system.slice/kubelet.service', /node of a cluster/],
    ['/system.slice/NetworkManager.service', /network/],
    ['/system.slice/systemd-networkd.service', /part of systemd/],
    ['/system.slice/wpa_supplicant@wlan0.service', /network/],
    ['/system.slice/system-ifup.slice/ifup@eth0.service', /network/],
    ['/system.slice/multipathd.service', /storage/],
    ['/system.slice/lvm2-lvmpolld.service', /storage/],
    ['/system.slice/zfs-zed.service', /storage/],
    ['/system.slice/rpc-statd.service', /storage/],
    ['/system.slice/libvirtd.service', /virtual machines/],
    ['/system.slice/polkit.service', /authenticates/],
    ['/system.slice/corosync.service', /fenced/],
    ['/system.slice/watchdog-mux.service', /fenced/],
    ['/system.slice/pve-cluster.service', /fenced/],
    ['/system.slice/pve-ha-lrm.service', /fenced/],
    ['/system.slice/pve-ha-crm.service', /fenced/],
    ['/system.slice/wdmd.service', /fenced/],
    ['/system.slice/sanlock.service', /fenced/],
    ['/system.slice/pacemaker_remote.service', /fenced/],
    ['/system.slice/dlm.service', /fenced/],
    ['/system.slice/patroni.service', /restarted/],
    ['/system.slice/system-patroni.slice/patroni@16-main.service', /restarted/],
    ['/system.slice/oracle-ohasd.service', /restarted/],
    ['/system.slice/ohasd.service', /restarted/],
    ['/system.slice/vcs.service', /restarted/],
    ['/system.slice/lifekeeper.service', /restarted/],
    ['/system.slice/system-tinc.slice/tinc@home.service', /way into/],
    ['/system.slice/ocserv.service', /way into/],
    ['/system.slice/netclient.service', /way into/],
    ['/system.slice/softether-vpnserver.service', /way into/],
    ['/system.slice/softethervpn-server.service', /way into/],
    ['/system.slice/etcd.service', /state of a cluster/],
    ['/system.slice/open-vm-tools.service', /hypervisor/],
    ['/system.slice/vmtoolsd.service', /hypervisor/],
    ['/system.slice/qemu-guest-agent.service', /hypervisor/],
    ['/system.slice/sssd-kcm.service', /authenticates/],
    ['/system.slice/systemd-resolved.service', /part of systemd/],
    ['/system.slice/unbound.service', /resolves names/],
    ['/system.slice/system-dnsmasq.slice/dnsmasq@lan.service', /resolves names/],
    ['/system.slice/named.service', /resolves names/],
    ['/system.slice/nscd.service', /resolves names/],
    ['/system.slice/nut-monitor.service', /power/],
    ['/system.slice/thermald.service', /cooling/],
    ['/system.slice/teleport.service', /way into/],
    ['/system.slice/tailscaled.service', /way into/],
    ['/system.slice/cloudflared.service', /way into/],
    ['/system.slice/zerotier-one.service', /way into/],
    ['/system.slice/google-guest-agent.service', /way into/],
    ['/system.slice/amazon-ssm-agent.service', /way into/],
    ['/system.slice/walinuxagent.service', /way into/],
    ['/system.slice/gdm.service', /graphical sessions/],
    ['/system.slice/sddm.service', /graphical sessions/],
    ['/user.slice/user-0.slice/session-1.scope', /login session of an operator/],
    ['/user.slice/user-1000.slice/session-c2.scope', /login session of an operator/],
    ['/user.slice/user-1000.slice/user@1000.service/session.slice', /desktop/],
    ['/user.slice/user-1001.slice/user@1001.service/session.slice/org.gnome.Shell@wayland.service', /desktop/],
    ['/evictd.slice/evictd.service', /evictd itself/],
    ['/evictd.slice', /evictd itself/],
    ['/apps/sshd.service', /way into/], // the child of any cgroup
    // Boundary: names that only look alike.
    ['/user.slice/user-1001.slice/session-3.scope', undefined],
    ['/user.slice/user-1000.slice/session-3.scope/part', undefined],
    ['/system.slice/session-3.scope', undefined],
    ['/session.slice', undefined],
    ['/user.slice/user-1001.slice/user@1001.service/app.slice/session.slice', undefined],
    ['/delegated/sshd.service', undefined], // a user named it
    ['/system.slice/session.slice/web.service', undefined],
    ['/system.slice/sshd', undefined],
    ['/system.slice/sshd.socket', undefined],
    ['/system.slice/my-sshd.service', undefined],
    ['/system.slice/sshd.service.service', undefined],
    ['/system.slice/ssh-agent.service', undefined],
    ['/system.slice/users@1.service', undefined],
    ['/system.slice/docker-1f.scope', undefined],
    ['/system.slice/dbus-:1.2-org.example@0.service', undefined],
    ['/system.slice/evictd-exporter.service', undefined],
    ['/system.slice/system.slice', undefined],
    ['/system.slice/SSHD.service', undefined],
    ['/system.slice/mysystemd-x.service', undefined],
    ['/machine.slice/libpod-4f1.scope', undefined],
    ['/machine.slice/systemd-nspawn@web.service', undefined], // a container
    ['/system.slice/sshd.service/worker', undefined], // a part of it has a name of its own
  ])('%s', (path, why) => {
    const found = protectedUnit(path, facts)?.why;
    if (why === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(why);
  });

  // A user who names units could otherwise use a name that the list protects.
  test.each<[unit: string, isProtected: boolean]>([
    ['init.scope', true],
    ['app.slice/dbus.service', true],
    ['app.slice/sshd.service', false],
    ['app.slice/systemd-hog.service', false],
    ['app.slice/evictd.service', false],
  ])("a user's own unit %s", (unit, isProtected) => {
    expect(protectedUnit(`/user.slice/user-1000.slice/user@1000.service/${unit}`, facts) !== undefined).toBe(isProtected);
  });
});

test.each<[path: string, isAvoided: boolean]>([
  ['/user.slice/user-1001.slice/session-3.scope', true],
  ['/user.slice/user-1000.slice/session-3.scope', false],
  ['/user.slice/user-1001.slice', false],
  ['/user.slice/user-1001.slice/user@1001.service/session-3.scope', false],
  ['/system.slice/session-3.scope', false],
])('%s is evicted last: %s', (path, isAvoided) => {
  expect(isAvoidedSession(path, facts)).toBe(isAvoided);
});

test('the rule of the list that protects a unit is its name or a pattern', () => {
  expect(protectedUnit('/system.slice/sssd-kcm.service', facts)).toMatchObject({ rule: 'sssd-*.service', why: 'it authenticates users' });
  expect(protectedUnit('/system.slice/sssd.service', facts)).toMatchObject({ rule: 'sssd.service' });
});

test.each<[why: RegExp, rule: string, units: readonly string[]]>([
  [/fenced/, 'pve-ha-*.service', ['pve-ha-lrm.service', 'pve-ha-crm.service', 'pve-ha-simulator.service']],
  [/fenced/, 'booth@*.service', ['booth@site.service']],
  [/way into/, 'tinysshd@*.service', ['tinysshd@1.service']],
  [/way into/, 'chrome-remote-desktop@*.service', ['chrome-remote-desktop@bob.service']],
  [/way into/, 'connectwisecontrol-*.service', ['connectwisecontrol-1a2b.service']],
  [/state of a cluster/, 'etcd-*.service', ['etcd-member.service', 'etcd-events.service']],
  ...['pcsd', 'clvmd', 'fence_virtd'].map((name) => one(/fenced/, name)),
  ...['vncserver-x11-serviced', 'vncserver-virtuald', 'wayvnc', 'dwagent', 'ttyd', 'shellinabox', 'guacd', 'rport'].map((name) =>
    one(/way into/, name),
  ),
  ...['named-pkcs11', 'blocky', 'nextdns', 'ctrld', 'dns', 'pdns-recursor'].map((name) => one(/resolves names/, name)),
])('%s: %s', (why, rule, units) => {
  for (const unit of units) {
    const { rule: found, why: reason } = protectedUnit(`/system.slice/${unit}`, facts) ?? {};
    expect([found, reason], unit).toEqual([rule, expect.stringMatching(why)]);
  }
});

function one(why: RegExp, name: string): [RegExp, string, string[]] {
  return [why, `${name}.service`, [`${name}.service`]];
}

test('protections that no rule can lift', () => {
  expect(PROTECTED_UNITS.flatMap(({ names, always }) => (always ? names : []))).toEqual([
    'init.scope',
    'evictd.service',
    'evictd@*.service',
    'evictd.slice',
  ]);
  expect(protectedName('sshd.service')?.always).toBeUndefined();
});

test('docs/systemd.md has the whole list of protected units', () => {
  const entries = readFileSync('docs/systemd.md', 'utf8')
    .split(/^- /m)
    .map((entry) => entry.replace(/\s+/g, ' '));
  for (const { names, why } of PROTECTED_UNITS) {
    const entry = entries.find((text) => text.startsWith(why));
    expect(entry, why).toBeDefined();
    for (const name of names) expect(entry).toContain(`\`${name}\``);
  }
});
