import { chownSync, rmdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Rule } from '../../../src/core/workload/rule.js';
import type { SystemdSpec } from '../../../src/workloads/kinds/systemd-source.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { native, type Binding, type CgroupTreeConstructor } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { memoryController, memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { canSetXattr, removeXattr, setXattr } from '../../support/xattr.js';

// Cgroups of the shape that systemd gives them, made by hand: what systemd itself makes is in
// test/systemd/units.test.ts.
const hierarchy = memoryHierarchy();
const controller = memoryController();
const v2 = controller?.version === 2;

/** 'evictdtestPID.slice': a dash in its name would be a level. */
const sliceName = `evictdtest${String(process.pid)}`;
let slice: TestCgroup;
/** Those below it, by their path. */
const cgroups = new Map<string, TestCgroup>();
const opened: WorkloadSource[] = [];

beforeEach(() => {
  cgroups.clear();
  slice = testCgroup(`${sliceName}.slice`);
});
afterEach(async () => {
  for (const source of opened.splice(0)) source.close();
  await slice.cleanup();
});

interface Options {
  readonly source?: Partial<SystemdSpec>;
  readonly cgroups?: readonly string[];
  readonly rules?: readonly Rule[];
  readonly binding?: Binding;
}
function open({
  source = { slices: [`${sliceName}.slice`] },
  cgroups: parents = [],
  rules = [],
  binding = native,
}: Options = {}): WorkloadSource {
  const systemd = { slices: [], units: [], ...source };
  const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
  const workloads = [...(systemd.slices.length + systemd.units.length > 0 ? [{ systemd }] : []), ...parents.map((cgroup) => ({ cgroup }))];
  const found = openWorkloads({ workloads, rules }, binding, { identity, hierarchy });
  opened.push(found);
  return found;
}
/** Below the test's slice. */
const paths = ({ usages }: Candidates): string[] => usages.map(({ workload }) => workload.path.slice(slice.path.length + 1)).sort();
const protections = (found: Candidates): Record<string, string | undefined> =>
  Object.fromEntries(found.usages.map(({ workload }) => [workload.name, (workload.protection ?? found.veto?.(workload))?.kind]));

/** A cgroup below the slice, made with those between; `path` 'a.slice/b.service'. */
function make(path: string): TestCgroup {
  let cgroup = slice;
  for (const [index, name] of path.split('/').entries()) {
    const key = path.split('/', index + 1).join('/');
    const made = cgroups.get(key) ?? cgroup.child(name);
    cgroups.set(key, made);
    cgroup = made;
  }
  return cgroup;
}
async function sleeping(path: string): Promise<TestCgroup> {
  const cgroup = make(path);
  await cgroup.spawn('sleep', ['600']);
  return cgroup;
}
const namesAndProtection = (source: WorkloadSource) => protections(source.candidates());

describe('the cgroups that are workloads', () => {
  test('are services and scopes anywhere below the slice, and no parts of them', async () => {
    await Promise.all(
      [
        'a.service',
        'run-1.scope',
        `${sliceName}-b.slice/${sliceName}-b-c.slice/deep.service`,
        '_memory.service',
        'delegated.service/worker/1',
        'box.scope/system.slice/inner.service',
        'mnt.mount',
        'web.socket',
        'other',
      ].map(sleeping),
    );
    make(`${sliceName}-empty.slice`);
    const found = open().candidates();
    expect(paths(found)).toEqual(
      [
        '_memory.service',
        'a.service',
        'box.scope',
        'delegated.service',
        `${sliceName}-b.slice/${sliceName}-b-c.slice/deep.service`,
        'run-1.scope',
      ].sort(),
    );
    expect(found.usages.map(({ workload }) => workload.name)).toContain('memory.service');
    expect(found.unreadable).toEqual([]);
  });

  test('have the values of all their own cgroups', async () => {
    const worker = await sleeping('delegated.service/worker');
    // It may have just begun, and take more.
    await eventually('it has what it takes', () => {
      const [usage] = open().candidates().usages;
      const taken = BigInt(worker.read(v2 ? 'memory.current' : 'memory.usage_in_bytes'));
      return taken > 0n && taken <= (usage?.stats?.usageBytes ?? 0n);
    });
  });

  test('are named units, wherever they are, and no others', async () => {
    const [named, ...instances] = [`${sliceName}.service`, `${sliceName}@1.service`, `${sliceName}@2.service`];
    await Promise.all([`${sliceName}-b.slice/${named}`, ...instances, 'other.service'].map(sleeping));
    const source = open({ source: { units: [named, `${sliceName}@?.service`, 'absent.service'] } });
    expect(paths(source.candidates())).toEqual([`${sliceName}-b.slice/${named}`, ...instances]);
    expect(source.problems()).toEqual([]);
  });

  test('are listed once if a unit is selected by cgroup, slice and name', async () => {
    const unit = `${sliceName}.service`; // selected by its name alone, wherever it is: no other test has it
    await sleeping(unit);
    const source = open({ source: { slices: [`${sliceName}.slice`], units: [unit] }, cgroups: [slice.path] });
    expect(paths(source.candidates())).toEqual([unit]);
    expect(paths(source.candidates())).toEqual([unit]);
  });

  // A user's manager has cgroups of its own only on v2; on v1 it is one workload, and protected.
  test("are a user's units, and the user's manager as a protected one", async () => {
    const manager = 'user-1.slice/user@1.service';
    if (v2) await Promise.all([`${manager}/app.slice/editor.service`, `${manager}/init.scope`].map(sleeping));
    else await sleeping(manager);
    expect(namesAndProtection(open())).toEqual(v2 ? { 'editor.service': undefined, 'init.scope': 'unit' } : { 'user@1.service': 'unit' });
  });
});

describe('new and removed units', () => {
  const refusing: Binding = {
    ...native,
    CgroupTree: function (): never {
      throw Object.assign(new Error('EMFILE: no'), { code: 'EMFILE', syscall: 'inotify_init1' });
    } as unknown as CgroupTreeConstructor,
  };

  test.each<[rule: string, binding: Binding]>([
    ['reported by the kernel', native],
    ['listed, where it cannot be watched', refusing],
  ])('are found: units, and slices with units in them, %s', async (_rule, binding) => {
    const source = open({ binding });
    source.refresh();
    expect(paths(source.candidates())).toEqual([]);
    const [a, deep] = [await sleeping('a.service'), await sleeping(`${sliceName}-b.slice/deep.service`)];
    expect(paths(source.candidates())).toEqual(['a.service', `${sliceName}-b.slice/deep.service`]);
    await a.cleanup();
    await deep.cleanup();
    rmdirSync(make(`${sliceName}-b.slice`).dir);
    expect(paths(source.candidates())).toEqual([]);
    cgroups.clear();
    await sleeping(`${sliceName}-b.slice/again.service`);
    expect(paths(source.candidates())).toEqual([`${sliceName}-b.slice/again.service`]);
    expect(source.problems().map(({ code }) => code)).toEqual(binding === native ? [] : ['EVICTD_SOURCE_WATCH']);
  });

  test('and the slice itself, which is missing meanwhile', async () => {
    const source = open();
    await slice.cleanup();
    expect(paths(source.candidates())).toEqual([]);
    expect(source.problems()).toMatchObject([
      { code: 'EVICTD_SOURCE_MISSING', message: `workload source ${sliceName}.slice (systemd) does not exist (looked for ${slice.dir})` },
    ]);
    cgroups.clear();
    slice = testCgroup(`${sliceName}.slice`);
    await sleeping('a.service');
    expect(paths(source.candidates())).toEqual(['a.service']);
    source.refresh();
    await sleeping('b.service');
    expect(paths(source.candidates())).toEqual(['a.service', 'b.service']);
    expect(source.problems()).toEqual([]);
  });
});

describe('units that are protected without a rule', () => {
  test('are protected by name, from either source', async () => {
    await Promise.all(['sshd.service', 'init.scope', 'a.service'].map(sleeping));
    const expected = { 'sshd.service': 'unit', 'init.scope': 'unit', 'a.service': undefined };
    expect(namesAndProtection(open())).toEqual(expected);
    expect(namesAndProtection(open({ source: {}, cgroups: [slice.path] }))).toEqual(expected);
  });

  test('lose their protection by a rule', async () => {
    await Promise.all(['sshd.service', 'dbus.service'].map(sleeping));
    const rules = [{ match: { name: 'sshd.service' }, critical: false, liftProtection: true }];
    expect(namesAndProtection(open({ rules }))).toEqual({ 'sshd.service': undefined, 'dbus.service': 'unit' });
  });

  test('protect a slice that contains them, at any depth, if it would be evicted as a whole', async () => {
    const inner = `${sliceName}-b.slice`;
    await Promise.all([`${inner}/${sliceName}-b-c.slice/sshd.service`, `${sliceName}-d.slice/a.service`].map(sleeping));
    const source = open({ source: {}, cgroups: [slice.path] });
    expect(namesAndProtection(source)).toEqual({ [inner]: 'contains', [`${sliceName}-d.slice`]: undefined });
  });
});

describe.runIf(canSetXattr)('the preference of a cgroup (where attributes can be set)', () => {
  const avoided = (found: Candidates): Record<string, boolean> =>
    Object.fromEntries(found.usages.map(({ workload }) => [workload.name, workload.avoid ?? false]));

  test('is avoid or omit, and omit overrides avoid', async () => {
    const [avoid, omit, both] = await Promise.all(['avoid.service', 'omit.service', 'both.service', 'none.service'].map(sleeping));
    for (const cgroup of [avoid, both]) setXattr(cgroup?.dir ?? '', 'user.oomd_avoid', '1');
    for (const cgroup of [omit, both]) setXattr(cgroup?.dir ?? '', 'user.oomd_omit', '1');
    const source = open();
    expect(namesAndProtection(source)).toEqual({
      'avoid.service': undefined,
      'omit.service': 'omit',
      'both.service': 'omit',
      'none.service': undefined,
    });
    expect(avoided(source.candidates())).toEqual({
      'avoid.service': true,
      'omit.service': false,
      'both.service': false,
      'none.service': false,
    });
  });

  test('is none for 0, and only root may set it', async () => {
    const [no, foreign] = await Promise.all(['no.service', 'foreign.service'].map(sleeping));
    setXattr(no?.dir ?? '', 'user.oomd_omit', '0');
    setXattr(foreign?.dir ?? '', 'user.oomd_omit', '1');
    chownSync(foreign?.dir ?? '', 1000, 1000);
    expect(namesAndProtection(open())).toEqual({ 'no.service': undefined, 'foreign.service': undefined });
  });

  test("is overridden by a rule's priority if it is avoid, and not if it is omit", async () => {
    const [avoid, omit] = await Promise.all(['avoid.service', 'omit.service'].map(sleeping));
    setXattr(avoid?.dir ?? '', 'user.oomd_avoid', '1');
    setXattr(omit?.dir ?? '', 'user.oomd_omit', '1');
    const source = open({ rules: [{ match: {}, priority: 0 }] });
    expect(avoided(source.candidates())['avoid.service']).toBe(false);
    expect(namesAndProtection(source)).toEqual({ 'avoid.service': undefined, 'omit.service': 'omit' });
  });

  test('is read again: for the victim first, and then for all', async () => {
    const [first, second] = await Promise.all(['first.service', 'second.service'].map(sleeping));
    const source = open();
    const before = source.candidates();
    for (const cgroup of [first, second]) setXattr(cgroup?.dir ?? '', 'user.oomd_omit', '1');
    const workload = before.usages.find(({ workload: { name } }) => name === 'first.service')?.workload;
    expect(workload && before.veto?.(workload)?.kind).toBe('changed');
    expect(namesAndProtection(source)).toEqual({ 'first.service': 'omit', 'second.service': 'omit' });
    removeXattr(first?.dir ?? '', 'user.oomd_omit');
    expect(namesAndProtection(source)).toEqual({ 'first.service': undefined, 'second.service': 'omit' });
  });

  test('does not change a slice with a protected unit in it', async () => {
    const name = `${sliceName}-b.slice`;
    await sleeping(`${name}/sshd.service`);
    const found = open({ source: {}, cgroups: [slice.path] }).candidates();
    setXattr(make(name).dir, 'user.oomd_avoid', '1');
    const workload = found.usages.find((usage) => usage.workload.name === name)?.workload;
    expect(workload && found.veto?.(workload)).toEqual({ kind: 'contains', name: 'sshd.service' });
  });
});
