import { expect, test } from 'vitest';
import { layoutOf, type Devices } from '../../../src/core/signal/layout.js';

const on = (nodefs?: bigint, imagefs?: bigint, containerfs?: bigint): Devices => ({ nodefs, imagefs, containerfs });

test.each<[rule: string, devices: Devices, layout: string, unsupported: RegExp | undefined]>([
  ['one filesystem has everything', on(1n, 1n, 1n), 'single', undefined],
  ['images and containers share a filesystem of their own', on(1n, 2n, 2n), 'imagefs', undefined],
  ['images have a filesystem of their own, and containers are on that of the node', on(1n, 2n, 1n), 'split', undefined],
  ['containers alone', on(1n, 1n, 2n), 'single', /none for images/],
  ['images and containers have a filesystem each', on(1n, 2n, 3n), 'split', /containers and images on separate filesystems/],
  ['no filesystem is known', on(), 'single', undefined],
  ['the images are not known yet', on(1n), 'single', undefined],
  ['the containers are not known yet: with the images', on(1n, 2n), 'imagefs', undefined],
])('%s', (_rule, devices, layout, unsupported) => {
  const found = layoutOf(devices);
  expect(found.layout).toBe(layout);
  if (unsupported === undefined) expect(found.unsupported).toBeUndefined();
  else expect(found.unsupported).toMatch(unsupported);
});
