import { expect, test } from 'vitest';
import { layoutOf, type Devices } from '../../../src/core/signal/layout.js';

const on = (nodefs?: bigint, imagefs?: bigint, containerfs?: bigint): Devices => ({ nodefs, imagefs, containerfs });

test.each<[rule: string, devices: Devices, layout: string, unsupported: RegExp | undefined]>([
  ['one for everything', on(1n, 1n, 1n), 'single', undefined],
  ['images and containers on one of their own', on(1n, 2n, 2n), 'imagefs', undefined],
  ['images on one of their own, containers with the node', on(1n, 2n, 1n), 'split', undefined],
  ['containers alone', on(1n, 1n, 2n), 'single', /none for images/],
  ['each on its own', on(1n, 2n, 3n), 'split', /containers and images on separate filesystems/],
  ['nothing is known', on(), 'single', undefined],
  ['the images are not known yet', on(1n), 'single', undefined],
  ['the containers are not known yet: with the images', on(1n, 2n), 'imagefs', undefined],
])('%s', (_rule, devices, layout, unsupported) => {
  const found = layoutOf(devices);
  expect(found.layout).toBe(layout);
  if (unsupported === undefined) expect(found.unsupported).toBeUndefined();
  else expect(found.unsupported).toMatch(unsupported);
});
