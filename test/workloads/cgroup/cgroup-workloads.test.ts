import { once } from 'node:events';
import { renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../src/core/workload/cgroup.js';
import type { Rule } from '../../../src/core/workload/rule.js';
import type { Candidates, QosClass, WorkloadUsage } from '../../../src/core/workload/workload.js';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { memoryController, memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { holdMemory } from '../../support/hold-memory.js';
import { typescriptProgram } from '../../support/program.js';

const MiB = 1024n * 1024n;
const NANO = 1_000_000_000n;
const hierarchy = memoryHierarchy();
const controller = memoryController();
const v2 = controller?.version === 2;

let root: TestCgroup;
const opened: WorkloadSource[] = [];

interface Options {
  readonly sources?: readonly string[];
  readonly rules?: readonly Rule[];
  readonly node?: string | undefined;
  readonly hierarchy?: CgroupHierarchy;
}
function open({ sources = [root.path], rules = [], node, ...options }: Options = {}): WorkloadSource {
  const identity = { name: node ?? 'machine', cgroup: node, cgroupVersion: hierarchy.version };
  const config = { workloads: sources.map((cgroup) => ({ cgroup })), rules };
  const source = openWorkloads(config, native, { identity, hierarchy: options.hierarchy ?? hierarchy });
  opened.push(source);
  return source;
}

beforeEach(() => {
  root = testCgroup();
});
afterEach(async () => {
  for (const source of opened.splice(0)) source.close();
  await root.cleanup();
});

const names = (candidates: Candidates) => candidates.usages.map(({ workload }) => workload.name).sort();
/** v1 tells only when it is asked whether a process lives in a cgroup. */
const inhabited = (found: Candidates): string[] =>
  names({ ...found, usages: found.usages.filter(({ workload }) => found.veto?.(workload)?.kind !== 'vacant') });
const find = (source: WorkloadSource, name: string): WorkloadUsage => {
  const usage = source.candidates().usages.find(({ workload }) => workload.name === name);
  if (!usage) throw new Error(`${name} is no candidate`);
  return usage;
};
const sleeping = async (name: string, parent = root): Promise<TestCgroup> => {
  const child = parent.child(name);
  await child.spawn('sleep', ['600']);
  return child;
};

describe('candidates', () => {
  test('are all children with a process, by their name below the root and their full path', async () => {
    await sleeping('web');
    await sleeping('db');
    const source = open();
    expect(names(source.candidates())).toEqual(['db', 'web']);
    expect(find(source, 'web').workload).toMatchObject({ path: `${root.path}/web`, priority: 0, protection: undefined });
  });

  test('do not include children without processes, but those whose processes are all further below', async () => {
    root.child('empty');
    await sleeping('inner', root.child('outer'));
    const found = open().candidates();
    expect(inhabited(found)).toEqual(['outer']);
    expect(found.unreadable).toEqual([]);
  });

  test('the version changes at the next tick with a new workload and a removed one, and with nothing else', async () => {
    root.child('web');
    const source = open();
    const first = source.version?.();
    source.refresh();
    source.candidates();
    expect([first, source.version?.()]).toEqual([expect.any(Number), first]);
    const db = root.child('db');
    source.refresh();
    const second = source.version?.();
    expect(second).not.toBe(first);
    await db.cleanup();
    source.refresh();
    expect([first, second]).not.toContain(source.version?.());
  });

  test('have an upper bound as usage if they are many, and the working set is measured on request', async () => {
    await Promise.all(Array.from({ length: 17 }, (_, index) => sleeping(`w${String(index)}`)));
    const source = open();
    const all = source.candidates();
    expect(all.usages.some(({ stats }) => stats?.workingSetAtMost)).toBe(false);
    expect(all.measure).toBeUndefined();
    const found = source.candidates('bounds');
    expect(found.usages.every(({ stats }) => stats?.workingSetAtMost && stats.workingSetBytes === stats.usageBytes)).toBe(true);
    const { workload } = found.usages[3] ?? {};
    if (workload === undefined) throw new Error('too few');
    const measured = found.measure?.(workload);
    expect(measured?.workingSetAtMost).toBeUndefined();
    expect(measured?.workingSetBytes).toBeLessThanOrEqual(measured?.usageBytes ?? 0n);
    expect(found.usages[3]?.stats).toBe(measured); // a recording has what was decided on
    expect(found.measure?.({ ...workload, startOrder: 1n })).toBeUndefined(); // another cgroup of that name
  });

  test('have their working sets at once if they are few', async () => {
    await sleeping('web');
    const [usage] = open().candidates('bounds').usages;
    expect(usage?.stats?.workingSetAtMost).toBeUndefined();
  });

  test('include new cgroups, and no removed ones', async () => {
    const source = open();
    const web = await sleeping('web');
    expect(names(source.candidates())).toEqual(['web']);
    await web.cleanup();
    expect(source.candidates()).toMatchObject({ usages: [], unreadable: [] });
  });

  test('treat a cgroup made again under the same name as another one', async () => {
    const source = open();
    const before = await sleeping('web');
    const first = find(source, 'web').workload;
    await before.cleanup();
    await sleeping('web');
    const second = find(source, 'web').workload;
    expect(second.id).not.toBe(first.id);
    expect(second.startOrder).toBeGreaterThan(first.startOrder);
  });

  if (!v2) {
    test('have only the new name of a renamed cgroup, which v1 permits', async () => {
      const source = open();
      const web = await sleeping('web');
      expect(names(source.candidates())).toEqual(['web']);
      renameSync(web.dir, `${root.dir}/api`);
      const found = source.candidates();
      expect(names(found)).toEqual(['api']);
      renameSync(`${root.dir}/api`, web.dir); // after the pass: no cgroup has its name
      expect(found.usages.map(({ workload }) => found.veto?.(workload)?.kind)).toEqual(['removed']);
      expect(names(source.candidates())).toEqual(['web']);
    });
  }

  test('do not include grandchildren', async () => {
    await sleeping('inner', root.child('outer'));
    expect(names(open().candidates())).toEqual(['outer']);
  });

  test('that two sources reach are listed once', async () => {
    await sleeping('web');
    expect(names(open({ sources: [root.path, `${root.path}/`] }).candidates())).toEqual(['web']);
  });

  test('are its children for the root of the hierarchy as a source', async () => {
    await root.spawn('sleep', ['600']);
    expect(find(open({ sources: ['/'] }), root.path.slice(1)).workload.path).toBe(root.path);
  });
});

const memoryOf = ({ stats }: WorkloadUsage): { usageBytes: bigint; workingSetBytes: bigint } => {
  if (stats?.usageBytes === undefined || stats.workingSetBytes === undefined) throw new Error('its memory is not known');
  return { usageBytes: stats.usageBytes, workingSetBytes: stats.workingSetBytes };
};

describe('the facts of a candidate', () => {
  test('include usage, and usage without reclaimable page cache', async () => {
    await holdMemory(root.child('batch'), 40);
    const source = open();
    const usage = await eventually('40 MiB to be taken', () => {
      const seen = memoryOf(find(source, 'batch'));
      return seen.workingSetBytes >= 40n * MiB && seen;
    });
    expect(usage.usageBytes).toBeGreaterThanOrEqual(usage.workingSetBytes);
    expect(usage.usageBytes).toBeLessThan(48n * MiB);
  });

  test('count files that were read as usage, not as working set', async () => {
    const file = `/var/tmp/evictd-test-${String(process.pid)}-workload`;
    const { child } = await root.child('reader').spawn('/bin/sh', ['-c', 'head -c 40M /dev/zero > "$0"; sync "$0"; echo; sleep 600', file]);
    await once(child.stdout ?? child, 'data');
    const { usageBytes, workingSetBytes } = memoryOf(find(open(), 'reader'));
    rmSync(file);
    expect(usageBytes).toBeGreaterThan(40n * MiB);
    expect(workingSetBytes).toBeLessThan(10n * MiB);
  });

  test('have no value that the cgroup does not report', async () => {
    await sleeping('web');
    expect(find(open(), 'web')).toMatchObject({
      workload: { pod: undefined },
      stats: { processes: undefined, ephemeralStorageBytes: undefined, containers: [], volumes: [] },
    });
  });

  test('have priority, request, grace and critical of rules', async () => {
    await sleeping('web');
    const rules: Rule[] = [
      { match: { name: 'web' }, priority: 7, requestsMemory: 5n * MiB, terminationGracePeriodNs: 3n },
      { match: { path: `${root.path}/*` }, critical: true },
    ];
    expect(find(open({ rules }), 'web').workload).toMatchObject({
      priority: 7,
      requests: { memory: 5n * MiB * NANO, ephemeralStorage: 0n, inodes: 0n },
      terminationGracePeriodNs: 3n,
      protection: { kind: 'critical' },
    });
  });

  test.each<[rule: string, request: bigint | undefined, limit: string | undefined, qosClass: QosClass]>([
    ['there is no request', undefined, undefined, 'BestEffort'],
    ['there is no request, but a limit', undefined, '64M', 'BestEffort'],
    ['a request without a limit', 64n * MiB, undefined, 'Burstable'],
    ['a request below the limit', 64n * MiB - 1n, '64M', 'Burstable'],
    ['a request of the whole limit', 64n * MiB, '64M', 'Guaranteed'],
    ['a request above the limit', 65n * MiB, '64M', 'Guaranteed'],
  ])('have the QoS class: %s', async (_rule, requestsMemory, limit, qosClass) => {
    const web = await sleeping('web');
    if (limit !== undefined) web.write(v2 ? 'memory.max' : 'memory.limit_in_bytes', limit);
    const rules = requestsMemory === undefined ? [] : [{ match: {}, requestsMemory }];
    const { workload } = find(open({ rules }), 'web');
    expect(workload.qosClass).toBe(qosClass);
    expect(workload.limits.memory).toBe(limit === undefined ? undefined : 64n * MiB * NANO);
  });

  if (v2) {
    test('have the larger of memory.low and memory.min as the request without a rule', async () => {
      const web = await sleeping('web');
      web.write('memory.low', String(20n * MiB));
      web.write('memory.min', String(30n * MiB));
      const source = open();
      expect(find(source, 'web').workload.requests.memory).toBe(30n * MiB * NANO);
      web.write('memory.low', 'max');
      expect(find(source, 'web').workload.requests.memory).toBe((2n ** 63n - 1n) * NANO);
    });

    test('have the name of a cgroup without the memory controller as a problem, and no guess', async () => {
      await sleeping('web');
      const source = open();
      root.write('cgroup.subtree_control', '-memory');
      expect(source.candidates()).toMatchObject({
        usages: [],
        unreadable: [
          { name: 'web', path: `${root.path}/web`, reason: expect.stringContaining('memory controller is not enabled') as string },
        ],
      });
      root.write('cgroup.subtree_control', '+memory');
      expect(names(source.candidates())).toEqual(['web']);
    });
  } else {
    test('have a request of 0 without a rule, because v1 has no guarantee', async () => {
      await sleeping('web');
      expect(find(open(), 'web').workload.requests.memory).toBe(0n);
    });
  }
});

describe('protected candidates', () => {
  const program = typescriptProgram('test/workloads/cgroup/protections-after-moves.ts');
  /**
   * What a process in `home`, and from there a child of it that moves, sees after each move: the ranking after a tick,
   * the veto without one.
   */
  const afterMoves = async (
    home: TestCgroup,
    moves: readonly TestCgroup[],
    options: Options & { readonly by?: 'ranking' | 'veto' } = {},
  ): Promise<unknown> => {
    const task = {
      by: options.by ?? 'ranking',
      hierarchy: options.hierarchy ?? hierarchy,
      sources: options.sources ?? [root.path],
      moves: moves.map(({ dir }) => dir),
    };
    const { child } = await home.spawn('/bin/sh', ['-c', '"$@" & wait', 'sh', ...program, JSON.stringify(task)]);
    return json(child.stdout ?? Readable.from([]));
  };

  describe.each(['ranking', 'veto'] as const)('by the %s', (by) => {
    test('include the workload that evictd runs in, as soon as it has moved there, and the workloads that contain it', async () => {
      const home = root.child('home');
      const [web, batch] = [await sleeping('web'), await sleeping('batch')];
      expect(await afterMoves(home, [web, batch], { by })).toEqual([
        { home: 'self', web: 'self', batch: 'none' },
        { home: 'self', web: 'none', batch: 'self' },
      ]);
    });

    test('include a workload with evictd further below', async () => {
      const outer = root.child('outer');
      const inner = await sleeping('inner', outer);
      expect(await afterMoves(root.child('home'), [inner], { by })).toEqual([{ home: 'self', outer: 'self' }]);
    });
  });

  test('are found by the members where a cgroup namespace hides the names', async () => {
    const [web, batch] = [await sleeping('web'), await sleeping('batch')];
    expect(await afterMoves(root.child('home'), [web, batch], { hierarchy: { ...hierarchy, root: '/../..' } })).toEqual([
      { home: 'self', web: 'self', batch: 'none' },
      { home: 'self', web: 'none', batch: 'self' },
    ]);
  });

  test('include a workload that contains a critical one, which would die with it', async () => {
    const outer = root.child('outer');
    await sleeping('db', outer);
    await sleeping('job', outer);
    const rules: Rule[] = [{ match: { name: 'db' }, critical: true }];
    const source = open({ sources: [root.path, outer.path], rules });
    expect(find(source, 'outer').workload.protection).toEqual({ kind: 'contains', name: 'db' });
    expect(find(source, 'db').workload.protection).toEqual({ kind: 'critical' });
    expect(find(source, 'job').workload.protection).toBeUndefined();
  });

  test('include those outside the node, whose end would not help, and the node itself', async () => {
    const node = root.child('node');
    await sleeping('web', node);
    await sleeping('other');
    const source = open({ sources: [root.path, node.path], node: node.path });
    expect(find(source, 'web').workload.protection).toBeUndefined();
    expect(find(source, 'other').workload.protection).toEqual({ kind: 'outside' });
    expect(find(source, 'node').workload.protection).toEqual({ kind: 'outside' });
  });
});

describe('a source that does not exist', () => {
  test('is a problem, and is used as soon as it exists', async () => {
    const path = `${root.path}/later`;
    const source = open({ sources: [path] });
    expect(source.candidates().usages).toEqual([]);
    expect(source.problems()).toMatchObject([{ code: 'EVICTD_SOURCE_MISSING', message: expect.stringContaining(path) as string }]);
    await sleeping('web', root.child('later'));
    expect(names(source.candidates())).toEqual(['web']);
    expect(source.problems()).toEqual([]);
  });

  test('a machine without a source has no candidates and no problems', () => {
    const source = open({ sources: [] });
    expect(source.candidates()).toMatchObject({ usages: [], unreadable: [] });
    expect(source.problems()).toEqual([]);
  });

  test('a machine without a memory controller is a problem', () => {
    const identity = { name: 'machine', cgroup: undefined, cgroupVersion: 2 } as const;
    const source = openWorkloads({ workloads: [{ cgroup: '/a' }], rules: [] }, native, { identity, hierarchy: undefined });
    expect(source.candidates().usages).toEqual([]);
    expect(source.problems()).toMatchObject([{ code: 'EVICTD_SOURCE_MISSING' }]);
    source.close();
  });
});

test('many workloads may be created and removed while they are read', async () => {
  const source = open();
  for (let round = 0; round < 5; round++) {
    const children = Array.from({ length: 20 }, (_, index) => root.child(`c${String(index)}`));
    await children[0]?.spawn('sleep', ['600']);
    const found = source.candidates();
    expect(inhabited(found)).toEqual(['c0']);
    expect(found.unreadable).toEqual([]);
    for (const child of children) await child.cleanup();
    expect(source.candidates()).toMatchObject({ usages: [], unreadable: [] });
  }
});
