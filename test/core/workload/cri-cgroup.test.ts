import { expect, test } from 'vitest';
import { isCriCgroup, isInPodsCgroup, isPodsCgroup } from '../../../src/core/workload/cri-cgroup.js';

const ID = 'f9d27c33e35fb828d72c158fa87c671c501d8059897f2d972fb9a205b009f51a';
const UID = '1f0c3a52-9d1e-4f57-8f4c-0a4a2b5d7c11';
const SLICE = `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${UID.replaceAll('-', '_')}.slice`;

test.each<[path: string, isOne: boolean]>([
  [`/system.slice/cri-containerd-${ID}.scope`, true],
  [`/batch.slice/crio-${ID}.scope`, true],
  [`/k8s.io/${ID}`, true],
  [`/batch.slice/${ID}.scope`, true],
  [SLICE, true],
  [`${SLICE}/cri-containerd-${ID}.scope`, true],
  [`/kubepods/besteffort/pod${UID}`, true],
  [`/kubepods/pod${UID.replaceAll('-', '')}`, true],
  ['/kubepods', true],
  ['/kubepods/burstable', true],
  ['/kubepods.slice', true],
  ['/kubepods.slice/kubepods-besteffort.slice', true],
  [`/system.slice/docker-${ID}.scope`, false],
  [`/docker/${ID}`, false],
  [`/machine.slice/libpod-${ID}.scope`, false],
  [`/system.slice/crio-conmon-${ID}.scope`, false],
  [`/system.slice/cri-containerd-${ID.slice(1)}.scope`, false],
  [`/k8s.io/${ID}/workers`, false],
  ['/kubelet.slice/kubelet-kubepods.slice', true],
  [`/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod${UID.replaceAll('-', '_')}.slice`, true],
  ['/batch/burstable', false],
  ['/pods', false],
  ['/system.slice/web.service', false],
])('%s: %s', (path, isOne) => {
  expect(isCriCgroup(path)).toBe(isOne);
});

test.each<[path: string, isOne: boolean]>([
  ['/kubepods', true],
  ['/kubepods/besteffort', true],
  ['/kubepods/burstable', true],
  ['/kubelet/kubepods', true],
  ['/kubepods.slice', true],
  ['/kubepods.slice/kubepods-burstable.slice', true],
  ['/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice', true],
  [SLICE, false],
  [`/kubepods/besteffort/pod${UID}`, false],
  ['/kubepods/web', false],
  ['/besteffort', false],
  ['/mykubepods', false],
  ['/kubepods-web.slice', false],
])('the cgroup of all pods or of a QoS class: %s: %s', (path, isOne) => {
  expect(isPodsCgroup(path)).toBe(isOne);
});

test.each<[path: string, isIn: boolean]>([
  ['/kubepods', true],
  [`/kubepods/pod${UID}`, true],
  ['/kubepods/web', true],
  [`${SLICE}/cri-containerd-${ID}.scope/workers`, true],
  [`/docker/${ID}/kubelet/kubepods/besteffort/pod${UID}`, true],
  ['/mykubepods/web', false],
  ['/burstable/pod1', false],
  ['/', false],
])('what a kubelet manages: %s: %s', (path, isIn) => {
  expect(isInPodsCgroup(path)).toBe(isIn);
});
