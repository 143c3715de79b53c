import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../../src/core/workload/cgroup.js';
import { podsOf } from '../../../../src/host/linux/facts/cgroup-reader.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

test.each<[rule: string, parents: readonly string[], limits: Record<string, string>, pods: ReturnType<typeof podsOf>]>([
  ['no pod', ['/system.slice', '/'], {}, undefined],
  ['no limit', ['/kubepods.slice'], { '/kubepods.slice': 'max' }, { path: '/kubepods.slice', limitBytes: undefined }],
  [
    'the outermost of all pods and a QoS class',
    ['/a', '/kubepods/burstable'],
    { '/kubepods': '1000', '/kubepods/burstable': '500' },
    { path: '/kubepods', limitBytes: 1000n },
  ],
  [
    'kind, and a smaller limit above',
    ['/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice'],
    { '/kubelet.slice': '800', '/kubelet.slice/kubelet-kubepods.slice': '1000' },
    { path: '/kubelet.slice/kubelet-kubepods.slice', limitBytes: 800n },
  ],
])('the cgroup of all pods of a kubelet and its limit: %s', (_rule, parents, limits, pods) => {
  const mountPoint = temporaryDirectory();
  const hierarchy: CgroupHierarchy = { version: 2, controller: '', mountPoint, root: '/' };
  for (const [path, limit] of Object.entries(limits)) {
    mkdirSync(join(mountPoint, path), { recursive: true });
    writeFileSync(join(mountPoint, path, 'memory.max'), `${limit}\n`);
  }
  expect(podsOf(parents, hierarchy)).toEqual(pods);
});
