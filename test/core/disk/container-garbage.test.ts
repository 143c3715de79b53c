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
  ['no container uses it', image(DIGEST, ['docker.io/library/web:1']), [user('docker.io/library/other:1')], false],
  ['by its id', image(DIGEST), [user('web', DIGEST)], true],
  ['by its name', image(DIGEST, ['docker.io/library/web:1']), [user('docker.io/library/web:1')], true],
  ['by its name as people write it', image(DIGEST, ['docker.io/library/web:1']), [user('web:1')], true],
  ['by its name without a tag', image(DIGEST, ['docker.io/library/web:latest']), [user('web')], true],
  ['by a name of a registry with a port, without a tag', image(DIGEST, ['registry:5000/web:latest']), [user('registry:5000/web')], true],
  ['by its digest', image('sha256:id', [`docker.io/library/web@${DIGEST}`]), [user('web', `docker.io/library/web@${DIGEST}`)], true],
  ['another tag is another image', image(DIGEST, ['docker.io/library/web:2']), [user('web:1')], false],
  ['its runtime keeps it', image(DIGEST, [], { pinned: true }), [], true],
  ['what every pod begins with', image(DIGEST, ['registry.k8s.io/pause:3.9']), [], true],
  ['what is only called after that', image(DIGEST, ['registry.k8s.io/pauses:1']), [], false],
])('%s', (_rule, one, users, stays) => {
  expect(unusedImages([one], users, undefined, () => false)).toEqual(stays ? [] : [one]);
});

test('where the runtime tells what every pod begins with, that stays, and nothing else for its name', () => {
  const [sandbox, pause] = [image('a', ['mirror.example/sandbox:1']), image('b', ['registry.k8s.io/pause:3.1'])];
  expect(unusedImages([sandbox, pause], [], 'mirror.example/sandbox:1', () => false)).toEqual([pause]);
});

test('what was fetched a moment ago is about to be used', () => {
  const [old, fresh] = [image('a'), image('b')];
  expect(unusedImages([old, fresh], [], undefined, (id) => id === 'b')).toEqual([old]);
});
