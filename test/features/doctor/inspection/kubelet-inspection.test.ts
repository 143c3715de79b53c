import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kubeletMemory } from '../../../../src/features/doctor/inspection/daemons-inspection.js';
import { valueText } from '../../../../src/core/threshold/threshold.js';
import { scratch } from '../../../config/scratch.js';

const FILE = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
evictionHard:
  memory.available: 300Mi
  imagefs.available: 15%
`;

test.each<[rule: string, args: readonly string[], threshold: string | undefined]>([
  ['its default', ['/usr/bin/kubelet', '--v=2'], '100Mi'],
  ['its file', ['/usr/bin/kubelet', '--config=/kubelet.yaml'], '300Mi'],
  ['its file, in two words', ['kubelet', '--config', '/kubelet.yaml'], '300Mi'],
  ['its flag', ['kubelet', '--eviction-hard=memory.available<7%'], '7%'],
  ['a drop-in over its file', ['kubelet', '--config=/kubelet.yaml', '--config-dir=/kubelet.d'], '500Mi'],
  ['a drop-in without a file', ['kubelet', '--config-dir', '/kubelet.d'], '500Mi'],
  ['its flag over a drop-in', ['kubelet', '--config-dir=/kubelet.d', '--eviction-hard=memory.available<7%'], '7%'],
  ['drop-ins that are not there', ['kubelet', '--config=/kubelet.yaml', '--config-dir=/nothing'], undefined],
  ['a place that is not known', ['kubelet', '--config=kubelet.yaml'], undefined],
  ['none for memory', ['kubelet', '--eviction-hard=nodefs.available<7%'], undefined],
  ['a file that is not there', ['kubelet', '--config=/nothing.yaml'], undefined],
  ["built into another program: its flags are not the kubelet's", ['/usr/local/bin/k3s', 'server'], undefined],
])('a kubelet acts at: %s', async (_rule, args, threshold) => {
  const root = scratch();
  writeFileSync(join(root, 'kubelet.yaml'), FILE, { mode: 0o644 });
  mkdirSync(join(root, 'kubelet.d'));
  const dropIn = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nevictionHard: {memory.available: 500Mi}\n';
  writeFileSync(join(root, 'kubelet.d/10.conf'), dropIn, { mode: 0o644 });
  // Drop-ins of evictd, which a kubelet does not read.
  writeFileSync(join(root, 'kubelet.d/20.yaml'), dropIn.replace('500Mi', '900Mi'), { mode: 0o644 });
  const found = await kubeletMemory(root, args);
  expect(found && valueText(found.value)).toBe(threshold);
});
