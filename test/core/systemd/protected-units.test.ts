import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PROTECTED_UNITS, protectedName, protectedUnit } from '../../../src/core/systemd/protected-units.js';

describe('protected by what it is called', () => {
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
    ['/evictd.slice/evictd.service', /evictd itself/],
    ['/evictd.slice', /evictd itself/],
    ['/apps/sshd.service', /way into/], // the child of any cgroup
    // Boundary: names that only look alike.
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
    const found = protectedUnit(path)?.why;
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
    expect(protectedUnit(`/user.slice/user-1000.slice/user@1000.service/${unit}`) !== undefined).toBe(isProtected);
  });
});

test('what no rule can lift', () => {
  expect(PROTECTED_UNITS.flatMap(({ names, always }) => (always ? names : []))).toEqual([
    'init.scope',
    'evictd.service',
    'evictd@*.service',
    'evictd.slice',
  ]);
  expect(protectedName('sshd.service')?.always).toBeUndefined();
});

test('docs/systemd.md has the whole list', () => {
  const entries = readFileSync('docs/systemd.md', 'utf8')
    .split(/^- /m)
    .map((entry) => entry.replace(/\s+/g, ' '));
  for (const { names, why } of PROTECTED_UNITS) {
    const entry = entries.find((text) => text.startsWith(why));
    expect(entry, why).toBeDefined();
    for (const name of names) expect(entry).toContain(`\`${name}\``);
  }
});
