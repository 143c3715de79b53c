import { expect, test } from 'vitest';
import { containerScope } from '../../../src/core/workload/container-scope.js';

const ID = 'f9d27c33e35fb828d72c158fa87c671c501d8059897f2d972fb9a205b009f51a';

test.each<[rule: string, path: string, engine: string | undefined]>([
  ['Docker by systemd', `/system.slice/docker-${ID}.scope`, 'docker'],
  ['Docker by systemd in a slice of its own', `/batch.slice/docker-${ID}.scope`, 'docker'],
  ['Docker by cgroupfs', `/docker/${ID}`, 'docker'],
  ['Podman by systemd', `/machine.slice/libpod-${ID}.scope`, 'podman'],
  ['Podman by cgroupfs', `/libpod_parent/libpod-${ID}`, 'podman'],
  ['what watches a container of Podman', `/machine.slice/libpod-conmon-${ID}.scope`, undefined],
  ['a part of one', `/machine.slice/libpod-${ID}.scope/container`, undefined],
  ["another runtime's", `/system.slice/cri-containerd-${ID}.scope`, undefined],
  ['an id elsewhere', `/k8s.io/${ID}`, undefined],
  ['an id that is cut off', `/docker/${ID.slice(0, 12)}`, undefined],
  ['an id in capitals', `/docker/${ID.toUpperCase()}`, undefined],
  ['the parent of all', '/docker', undefined],
])('%s', (_rule, path, engine) => {
  expect(containerScope(path)).toEqual(engine && { engine, id: ID });
});
