import { expect, test } from 'vitest';
import { unusedImages, type RuntimeImage } from '../../../src/core/disk/container-garbage.js';

const image = (id: string, names: readonly string[] = [], rest: Partial<RuntimeImage> = {}): RuntimeImage => ({
  id,
  repoTags: names.filter((name) => !name.includes('@')),
  repoDigests: names.filter((name) => name.includes('@')),
  size: 1,
  pinned: false,
  ...rest,
});
const user = (requested: string, made = '') => ({ image: { image: requested }, imageRef: made });
const DIGEST = `sha256:${'a'.repeat(64)}`;

test.each<[rule: string, image: RuntimeImage, users: readonly ReturnType<typeof user>[], stays: boolean]>([
  ['no container uses the image', image(DIGEST, ['docker.io/library/web:1']), [user('docker.io/library/other:1')], false],
  ['a container uses the image by its id', image(DIGEST), [user('web', DIGEST)], true],
  ['a container uses the image by its name', image(DIGEST, ['docker.io/library/web:1']), [user('docker.io/library/web:1')], true],
  ['a container uses the image by the short name that users write', image(DIGEST, ['docker.io/library/web:1']), [user('web:1')], true],
  ['a container uses the image by its name without a tag', image(DIGEST, ['docker.io/library/web:latest']), [user('web')], true],
  [
    'a container uses the image by a name with the port of a registry, without a tag',
    image(DIGEST, ['registry:5000/web:latest']),
    [user('registry:5000/web')],
    true,
  ],
  [
    'a container uses the image by its digest',
    image('sha256:id', [`docker.io/library/web@${DIGEST}`]),
    [user('web', `docker.io/library/web@${DIGEST}`)],
    true,
  ],
  ['an image with another tag is another image', image(DIGEST, ['docker.io/library/web:2']), [user('web:1')], false],
  ['its runtime pins the image', image(DIGEST, [], { pinned: true }), [], true],
  ['the image is the sandbox image of pods', image(DIGEST, ['registry.k8s.io/pause:3.9']), [], true],
  ['the image has a name that only begins like the sandbox image', image(DIGEST, ['registry.k8s.io/pauses:1']), [], false],
])('%s', (_rule, one, users, stays) => {
  expect(unusedImages([one], users, undefined, () => false)).toEqual(stays ? [] : [one]);
});

test('where the runtime reports the sandbox image, only that image is kept, whatever the names of others', () => {
  const [sandbox, pause] = [image('a', ['mirror.example/sandbox:1']), image('b', ['registry.k8s.io/pause:3.1'])];
  expect(unusedImages([sandbox, pause], [], 'mirror.example/sandbox:1', () => false)).toEqual([pause]);
});

test('an image that was fetched a moment ago is kept, because a container may be about to use it', () => {
  const [old, fresh] = [image('a'), image('b')];
  expect(unusedImages([old, fresh], [], undefined, (id) => id === 'b')).toEqual([old]);
});
