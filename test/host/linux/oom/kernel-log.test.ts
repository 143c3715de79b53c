import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../../src/core/workload/cgroup.js';
import { KernelLogWatch } from '../../../../src/host/linux/oom/kernel-log.js';
import { native, type Binding, type KernelLogConstructor, type OnWake, type OomRecord } from '../../../../src/native/index.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

/** As the kernel logs it: paths of the machine, whatever a namespace or a mount shows. */
const RECORD: OomRecord = {
  ...{ sequence: 1, timeUs: 2, constraint: 'memcg', oomMemcg: '/docker/4f1', taskMemcg: '/docker/4f1/app' },
  ...{ pid: 4711, name: 'tail', uid: 0, anonRssBytes: 1, oomScoreAdj: 0 },
};

test.each<[rule: string, version: 1 | 2, root: string, file: string | undefined, cgroup: string | undefined, limited: string | undefined]>([
  ["the machine's tree (v2)", 2, '/', undefined, '/docker/4f1/app', '/docker/4f1'],
  ["the machine's tree (v1)", 1, '/', 'release_agent', '/docker/4f1/app', '/docker/4f1'],
  ['a part of it, by its mount', 1, '/docker/4f1', undefined, '/app', '/'],
  ['a part of it that holds the process only', 1, '/docker/4f1/app', undefined, '/', undefined],
  ['another part of the tree', 1, '/docker/5a2', undefined, undefined, undefined],
  ['a part of it, by a namespace, which hides where it is (v2)', 2, '/', 'cgroup.events', undefined, undefined],
  ['a part of it, by a namespace, which hides where it is (v1)', 1, '/', undefined, undefined, undefined],
])('the cgroups of a logged kill are found where the mount shows %s', (_rule, version, root, file, cgroup, limited) => {
  const mountPoint = temporaryDirectory();
  if (file !== undefined) writeFileSync(join(mountPoint, file), '');
  const wakes: OnWake[] = [];
  class PlayedLog {
    readonly live = true;
    constructor(onWake: OnWake) {
      wakes.push(onWake);
    }
    records = () => ({ list: [RECORD], overruns: 0, dropped: 0 });
    close = () => undefined;
  }
  const binding: Binding = { ...native, KernelLog: PlayedLog as unknown as KernelLogConstructor };
  const hierarchy: CgroupHierarchy = { version, controller: version === 1 ? 'memory' : '', mountPoint, root };
  const seen: unknown[] = [];
  const watch = new KernelLogWatch(binding, hierarchy, { killed: (kills) => seen.push(...kills), gone: () => undefined });
  expect(watch.open()).toBeUndefined();
  wakes[0]?.(native.WAKE.FIRED, 0n, 0);
  expect(seen).toMatchObject([{ pid: 4711, cgroup, limitedCgroup: limited }]);
});
