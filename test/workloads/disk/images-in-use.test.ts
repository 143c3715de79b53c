import { expect, test } from 'vitest';
import { ImagesInUse } from '../../../src/workloads/disk/images-in-use.js';

const image = (id: string, size: number, ...repoTags: string[]) => ({ id, repoTags, repoDigests: [], size, pinned: false });

test('images have their tags as names; the last answer of a runtime stays while it does not answer', async () => {
  let answers = true;
  const runtimes = ['unix:///a', 'unix:///b'].map((endpoint, index) => ({
    endpoint,
    usedImages: () =>
      index === 0 || answers
        ? Promise.resolve([image(`sha256:${String(index)}`, 10 + index, ...(index ? ['web:1', 'web:2'] : []))])
        : Promise.reject(new Error('no')),
  }));
  const images = new ImagesInUse(() => runtimes);
  expect(images.holders).toEqual([]);
  const both = [
    { kind: 'image', name: 'sha256:0', holds: { bytes: 10n, inodes: 0n } },
    { kind: 'image', name: 'web:1', holds: { bytes: 11n, inodes: 0n } },
  ];
  await images.refresh();
  expect(images.holders).toEqual(both);
  answers = false;
  await images.refresh();
  expect(images.holders).toEqual(both);
  runtimes.pop();
  await images.refresh();
  expect(images.holders).toEqual(both.slice(0, 1));
});
