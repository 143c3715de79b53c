import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { membership } from '../../../src/core/workload/cgroup.js';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { inotifyWatches } from '../../support/inotify.js';
import { makeDeep, makeWide } from '../../support/many-cgroups.js';

// The processes of a workload can make cgroups inside it.
const hierarchy = memoryHierarchy();
const name = `evictdtest${String(process.pid)}`;

let slice: TestCgroup;
let source: WorkloadSource;

beforeEach(() => {
  slice = testCgroup(`${name}.slice`);
});
afterEach(async () => {
  source.close();
  await slice.cleanup();
});

const open = (workloads: Parameters<typeof openWorkloads>[0]['workloads']) => {
  const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
  return (source = openWorkloads({ workloads, rules: [] }, native, { identity, hierarchy }));
};
const ofSlice = () => open([{ systemd: { slices: [`${name}.slice`], units: [] } }]);
/** What the ranking would say of the only workload with a process. */
const veto = () => {
  const { usages, veto: objection } = source.candidates();
  return usages.map(({ workload }) => objection?.(workload)?.kind);
};

describe('inotify watches', () => {
  test('are on slices, and none is inside a workload', async () => {
    const before = inotifyWatches().length;
    await slice.child(`${name}-a.slice`).child('web.service').spawn('sleep', ['600']);
    const scope = slice.child('hostile.scope');
    await scope.spawn('sleep', ['600']);
    makeWide(scope.dir, 5_000);
    makeDeep(scope.dir, 200);
    const found = ofSlice();
    found.refresh();
    expect(
      found
        .candidates()
        .usages.map(({ workload }) => workload.name)
        .sort(),
    ).toEqual(['hostile.scope', 'web.service']);
    expect(inotifyWatches().length - before).toBe(2);
    mkdirSync(`${scope.dir}/later`);
    mkdirSync(`${slice.dir}/${name}-b.slice`);
    mkdirSync(`${slice.dir}/${name}-b.slice/${name}-b-c.slice`);
    found.refresh();
    expect(inotifyWatches().length - before).toBe(4);
    rmdirSync(`${slice.dir}/${name}-b.slice/${name}-b-c.slice`);
    rmdirSync(`${slice.dir}/${name}-b.slice`);
    found.refresh();
    expect(inotifyWatches().length - before).toBe(2);
  });

  test('are one on the parent of workloads', () => {
    const before = inotifyWatches().length;
    makeDeep(slice.child('a').dir, 200);
    open([{ cgroup: slice.path }]).refresh();
    expect(inotifyWatches().length - before).toBe(1);
  });
});

describe('a workload with more cgroups than the limit', () => {
  test.each([
    ['wide', (directory: string) => makeWide(directory, 5_000)[4_999]],
    ['deep', (directory: string) => makeDeep(directory, 700)],
  ])('may be evicted: %s', async (_shape, fill) => {
    const scope = slice.child('hostile.scope');
    const last = fill(scope.dir) ?? '';
    await scope.spawn('/bin/sh', ['-c', `echo $$ > ${last}/cgroup.procs; exec sleep 600`]);
    ofSlice();
    expect(veto()).toEqual([undefined]);
  });

  test('is protected if evictd is in it', async () => {
    const scope = slice.child('own.scope');
    const [inside] = makeWide(scope.dir, 600);
    ofSlice();
    const home = membership(readFileSync('/proc/self/cgroup', 'utf8'), hierarchy) ?? '/';
    try {
      writeFileSync(`${inside ?? ''}/cgroup.procs`, String(process.pid));
      expect(veto()).toEqual(['self']);
    } finally {
      writeFileSync(`${hierarchy.mountPoint}${home}/cgroup.procs`, String(process.pid));
    }
    await slice.cleanup();
  });
});
