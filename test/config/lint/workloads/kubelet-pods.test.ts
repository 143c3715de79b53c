import { expect, test } from 'vitest';
import { kubeletPodsRule } from '../../../../src/config/lint/workloads/kubelet-pods.js';
import type { WorkloadSourceSpec } from '../../../../src/workloads/kinds/source-spec.js';
import { subject } from '../support.js';

const slices = (...names: string[]): WorkloadSourceSpec => ({ systemd: { slices: names, units: [] } });

test.each<[what: string, sources: readonly WorkloadSourceSpec[], keys: readonly string[]]>([
  ['all pods', [{ cgroup: '/kubepods' }], ['workloads[0]']],
  ['a QoS class, as the second source', [{ cgroup: '/batch' }, { cgroup: '/kubepods/burstable' }], ['workloads[1]']],
  ['one pod', [{ cgroup: '/kubepods/pod1f0c3a52-9d1e-4f57-8f4c-0a4a2b5d7c11' }], ['workloads[0]']],
  ['pods in a cgroup root', [{ cgroup: '/kubelet/kubepods' }], ['workloads[0]']],
  ['the slice of all pods', [slices('batch.slice', 'kubepods.slice')], ['workloads[0]']],
  ['the slice of a QoS class', [slices('kubepods-besteffort.slice')], ['workloads[0]']],
  ['other cgroups', [{ cgroup: '/batch' }, { cgroup: '/mykubepods' }, slices('batch.slice')], []],
  ['pods that the API server names', [{ cgroup: '/kubepods' }, { kubernetes: true }], []],
  ['pods of a container runtime', [{ cgroup: '/kubepods' }, { cri: { endpoint: 'unix:///run/containerd/containerd.sock' } }], []],
])('a source of pods of a kubelet: %s', (_what, workloads, keys) => {
  const found = kubeletPodsRule.find(subject([], { workloads }), undefined);
  expect(found.map(({ code, key }) => [code, key])).toEqual(keys.map((key) => ['EVICTD_LINT_KUBELET_PODS', key]));
});
