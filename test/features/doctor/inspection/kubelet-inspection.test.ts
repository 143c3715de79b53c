import { writeFileSync } from 'node:fs';
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
  ['none for memory', ['kubelet', '--eviction-hard=nodefs.available<7%'], undefined],
  ['a file that is not there', ['kubelet', '--config=/nothing.yaml'], undefined],
  ["built into another program: its flags are not the kubelet's", ['/usr/local/bin/k3s', 'server'], undefined],
])('a kubelet acts at: %s', async (_rule, args, threshold) => {
  const root = scratch();
  writeFileSync(join(root, 'kubelet.yaml'), FILE, { mode: 0o644 });
  const found = await kubeletMemory(root, args);
  expect(found && valueText(found.value)).toBe(threshold);
});
