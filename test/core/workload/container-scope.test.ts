import { expect, test } from 'vitest';
import { containerScope, machineNames } from '../../../src/core/workload/container-scope.js';

const ID = 'f9d27c33e35fb828d72c158fa87c671c501d8059897f2d972fb9a205b009f51a';

test.each<[rule: string, path: string, engines: string | undefined]>([
  ['Docker by systemd', `/system.slice/docker-${ID}.scope`, 'docker'],
  ['a container of Docker with the systemd driver in a slice of its own', `/batch.slice/docker-${ID}.scope`, 'docker'],
  ['Docker by cgroupfs', `/docker/${ID}`, 'docker'],
  ['Podman by systemd', `/machine.slice/libpod-${ID}.scope`, 'podman'],
  ['Podman by cgroupfs', `/libpod_parent/libpod-${ID}`, 'podman'],
  ['the conmon cgroup of a Podman container', `/machine.slice/libpod-conmon-${ID}.scope`, undefined],
  ['a cgroup within a container', `/machine.slice/libpod-${ID}.scope/container`, undefined],
  ['Docker with --cgroup-parent, or containerd', `/batch/${ID}`, 'docker containerd'],
  ['Docker with --cgroup-parent, or containerd, in the root', `/${ID}`, 'docker containerd'],
  ["a name in the systemd driver's format", `/system.slice:docker:${ID}`, 'docker'],
  ['Podman within a unit', `/system.slice/web.service/libpod-payload-${ID}`, 'podman'],
  ['nerdctl by systemd', `/system.slice/nerdctl-${ID}.scope`, 'nerdctl'],
  ['containerd by systemd', `/system.slice/cri-containerd-${ID}.scope`, 'containerd'],
  ['containerd by cgroupfs', `/kubepods-besteffort-pod1.slice:cri-containerd:${ID}`, 'containerd'],
  ['CRI-O by systemd', `/kubepods.slice/kubepods-pod1.slice/crio-${ID}.scope`, 'cri-o'],
  ['CRI-O by cgroupfs', `/kubepods/pod1/crio-${ID}`, 'cri-o'],
  ['the conmon cgroup of a CRI-O container', `/system.slice/crio-conmon-${ID}.scope`, undefined],
  ['an id that is too long', `/docker/0${ID}`, undefined],
  ['an unknown prefix', `/x-${ID}`, undefined],
  ['an id that is cut off', `/docker/${ID.slice(0, 12)}`, undefined],
  ['an id in capitals', `/docker/${ID.toUpperCase()}`, undefined],
  ['the parent of all', '/docker', undefined],
])('%s', (_rule, path, engines) => {
  expect(containerScope(path)).toEqual(engines && { engines: engines.split(' '), id: ID });
});

test.each<[path: string, names: readonly string[]]>([
  ['/lxc.payload.web', ['web']],
  ['/lxc.payload.project_web', ['project_web']],
  ['/machine.slice/machine-web.scope', ['web']],
  [String.raw`/machine.slice/machine-qemu\x2d12\x2dmy\x2ddb.scope`, ['qemu-12-my-db', 'my-db']],
  ['/lxc.monitor.web', []],
  ['/lxc.payload.web/ns', []],
])('the cgroup of %s has the names %s', (path, names) => {
  expect(machineNames(path)).toEqual(names);
});
