import { expect, test } from 'vitest';
import { updateContainerFsThresholds, type ReportedLayout } from '../../../src/core/decide/containerfs.js';
import { thresholdId, type Threshold } from '../../../src/core/threshold/threshold.js';
import { listed } from '../listed.js';
import { threshold } from '../support.js';

const node = threshold('nodefs.available', '10%', { minReclaim: '1Gi' });
const nodeSoft = threshold('nodefs.available', '20%', { graceSeconds: 60 });
const nodeInodes = threshold('nodefs.inodesFree', '5%');
const images = threshold('imagefs.available', '15%');
const containers = threshold('containerfs.available', '50%');
const memory = threshold('memory.available', '100Mi');

/** More, as the kubelet v1.36.2 has them, are in test/vectors/thresholds.jsonl. */
test.each<[rule: string, layout: ReportedLayout, given: Threshold[], expected: string[], overridden: boolean]>([
  ['there is no threshold to derive from', 'single', [memory], ['memory.available<100Mi/0'], false],
  [
    'single: from the node filesystem, minimum reclaim and grace period with it',
    'single',
    [node, nodeSoft, nodeInodes, images],
    [
      'nodefs.available<10%/0+1Gi',
      'nodefs.available<20%/60000000000',
      'nodefs.inodesFree<5%/0',
      'imagefs.available<15%/0',
      'containerfs.available<10%/0+1Gi',
      'containerfs.available<20%/60000000000',
      'containerfs.inodesFree<5%/0',
    ],
    false,
  ],
  [
    'split: from the node filesystem',
    'split',
    [node, images],
    ['nodefs.available<10%/0+1Gi', 'imagefs.available<15%/0', 'containerfs.available<10%/0+1Gi'],
    false,
  ],
  [
    'imagefs: from the image filesystem',
    'imagefs',
    [node, images],
    ['nodefs.available<10%/0+1Gi', 'imagefs.available<15%/0', 'containerfs.available<15%/0'],
    false,
  ],
  [
    'a configured containerfs threshold is replaced in its position',
    'single',
    [containers, node],
    ['containerfs.available<10%/0+1Gi', 'nodefs.available<10%/0+1Gi'],
    true,
  ],
  ['a configured containerfs threshold without a source is left out', 'imagefs', [containers, node], ['nodefs.available<10%/0+1Gi'], true],
  [
    'a container filesystem alone: nothing is derived',
    'containerfs-only',
    [containers, node],
    ['containerfs.available<50%/0', 'nodefs.available<10%/0+1Gi'],
    true,
  ],
  [
    'the last of two hard thresholds is the source',
    'single',
    [node, threshold('nodefs.available', '7%', { graceSeconds: 0 })],
    ['nodefs.available<10%/0+1Gi', 'nodefs.available<7%/0', 'containerfs.available<7%/0'],
    false,
  ],
  [
    'only the last of two configured hard thresholds is replaced',
    'single',
    [containers, threshold('containerfs.available', '60%'), nodeSoft],
    ['containerfs.available<50%/0', 'nodefs.available<20%/60000000000', 'containerfs.available<20%/60000000000'],
    true,
  ],
])('%s', (_rule, layout, given, expected, overridden) => {
  const derived = updateContainerFsThresholds(given, layout);
  expect({ thresholds: derived.thresholds.map(thresholdId), overridden: derived.overridden }).toEqual({ thresholds: expected, overridden });
});

test('an entry of the threshold list is not a source: it names its own signals', () => {
  const entry = listed('nodefs.available<10% & io.pressure.some>5%', 'hard');
  expect(updateContainerFsThresholds([entry], 'single')).toEqual({ thresholds: [entry], replaced: [entry], overridden: false });
});
