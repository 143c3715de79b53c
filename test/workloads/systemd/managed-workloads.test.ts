import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../src/core/workload/cgroup.js';
import { OOMD_DEFAULTS, type ManagedSettings } from '../../../src/core/systemd/oomd-settings.js';
import type { ManagedUnit } from '../../../src/core/systemd/managed-unit.js';
import type { ManagedOom } from '../../../src/monitor/ports/managed-oom.js';
import type { SourceProblem, WorkloadSource } from '../../../src/monitor/ports/ports.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { managedRoot, mayPrefer } from '../../../src/workloads/systemd/managed-tree.js';
import { unitProtectionOf, withManaged } from '../../../src/workloads/systemd/managed-workloads.js';
import { machine } from '../../core/usage.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

/** Directories of the shape of cgroups. `*`: with memory.oom.group. */
function tree(...paths: readonly string[]): CgroupHierarchy {
  const mountPoint = temporaryDirectory();
  for (const path of paths) {
    const directory = `${mountPoint}/${path.replace('*', '')}`;
    mkdirSync(directory, { recursive: true });
    writeFileSync(`${directory}/memory.oom.group`, path.endsWith('*') ? '1\n' : '0\n');
  }
  return { version: 2, controller: '', mountPoint, root: '/' };
}

describe('the cgroups that systemd-oomd would kill', () => {
  test.each<[rule: string, paths: readonly string[], managed: readonly string[], found: readonly string[]]>([
    ['a unit without cgroups of its own', ['a.service'], ['/a.service'], ['a.service']],
    [
      'the leaves below a slice, and nothing beside it',
      ['a.slice/b.slice/x.service', 'a.slice/y.scope', 'c.service'],
      ['/a.slice'],
      ['a.slice/b.slice/x.service', 'a.slice/y.scope'],
    ],
    ['a part of a unit by itself', ['a.service/one', 'a.service/two'], ['/a.service'], ['a.service/one', 'a.service/two']],
    ['one cgroup with memory.oom.group as a whole', ['a.slice/x.service*', 'a.slice/x.service/one'], ['/a.slice'], ['a.slice/x.service']],
    ['the cgroups in a managed unit that has memory.oom.group itself', ['a.service*', 'a.service/one'], ['/a.service'], ['a.service/one']],
    [
      'a managed unit in another, once',
      ['a.slice/x.service', 'a.slice/y.service'],
      ['/a.slice/x.service', '/a.slice', '/a.slice'],
      ['a.slice/x.service', 'a.slice/y.service'],
    ],
    ['a name that only begins alike', ['a.slice/x.service', 'a.slicey'], ['/a.slice'], ['a.slice/x.service']],
    ['everything below the root', ['a.slice/x.service', 'y.service'], ['/'], ['a.slice/x.service', 'y.service']],
    ['a unit that has ended', [], ['/a.slice'], []],
    ['none, if no unit is managed', ['a.service'], [], []],
  ])('%s', (_rule, paths, managed, found) => {
    expect(
      managedRoot(() => managed, tree(...paths))
        .list()
        .sort(),
    ).toEqual(found);
  });
});

test.runIf(process.getuid?.() === 0)('an owner of a managed cgroup may set preferences in it, and other users may not', () => {
  const hierarchy = tree('user@1000.service/a', 'user@1000.service/b', 'user@1000.service/c', 'system.slice/d');
  for (const [path, uid] of [
    ['/user@1000.service', 1000],
    ['/user@1000.service/a', 1000],
    ['/user@1000.service/b', 1001],
    ['/system.slice/d', 1000],
  ] as const)
    chownSync(hierarchy.mountPoint + path, uid, uid);
  const may = (path: string): boolean => mayPrefer(path, ['/user@1000.service', '/system.slice'], hierarchy);
  expect([may('/user@1000.service/a'), may('/user@1000.service/b'), may('/user@1000.service/c')]).toEqual([true, false, true]);
  expect([may('/system.slice/d'), may('/user@1000.service/gone')]).toEqual([false, false]);
});

const unit = (path: string, more: Partial<ManagedUnit> = {}): ManagedUnit => ({
  name: path.slice(1),
  path,
  swap: true,
  rules: [],
  ...more,
});

class Played implements ManagedOom {
  looks = 0;
  settings: ManagedSettings | undefined = { units: [unit('/a.slice')], settings: OOMD_DEFAULTS, rules: [], isLeftToOomd: false };
  look(): void {
    this.looks += 1;
  }
  read(): ManagedSettings | undefined {
    return this.settings;
  }
  problems(): readonly SourceProblem[] {
    return [];
  }
  close(): void {
    this.looks = -1;
  }
}

interface Counted extends WorkloadSource {
  passes: number;
  refreshed: number;
  closed: number;
}
function source(usages: readonly WorkloadUsage[], veto: 'self' | 'omit'): Counted {
  return {
    passes: 0,
    refreshed: 0,
    closed: 0,
    candidates() {
      this.passes += 1;
      return { usages, unreadable: [], timeNs: 0n, veto: () => ({ kind: veto }) };
    },
    refresh() {
      this.refreshed += 1;
    },
    holding: () => undefined,
    problems: () => [],
    close() {
      this.closed += 1;
    },
  };
}

const [web, leaf, guarded] = [machine('web', 1n), machine('leaf', 1n), machine('guarded', 1n)];
function joined(inside = [leaf]): { managedOom: Played; inner: Counted; opened: (() => readonly string[])[]; both: WorkloadSource } {
  const managedOom = new Played();
  const inner = source(inside, 'omit');
  const opened: (() => readonly string[])[] = [];
  const open = (paths: () => readonly string[]): WorkloadSource => {
    opened.push(paths);
    return inner;
  };
  const both = withManaged(source([web], 'self'), managedOom, open, (path) =>
    path === guarded.workload.path ? { kind: 'critical' } : undefined,
  );
  return { managedOom, inner, opened, both };
}

describe('managed workloads beside others', () => {
  test('are no candidates of thresholds, and are not even read for them', () => {
    const { both, opened } = joined();
    const found = both.candidates();
    expect(found.usages).toEqual([web]);
    expect(found.veto?.(web.workload)).toEqual({ kind: 'self' });
    both.refresh();
    expect(opened).toEqual([]);
  });

  test('are read once in a pass, with a veto of their own', () => {
    const { both, inner, opened } = joined();
    const found = both.candidates();
    expect(found.managed?.()).toEqual([leaf]);
    expect(found.managed?.()).toEqual([leaf]);
    expect(found.veto?.(leaf.workload)).toEqual({ kind: 'omit' });
    expect([opened.length, inner.passes]).toEqual([1, 1]);
    expect(opened[0]?.()).toEqual(['/a.slice']);
  });

  test('stay open from tick to tick while they are needed', () => {
    const { both, inner, opened } = joined();
    both.candidates().managed?.();
    both.refresh();
    expect([inner.refreshed, inner.closed]).toEqual([1, 0]);
    both.refresh();
    expect([inner.refreshed, inner.closed]).toEqual([1, 1]);
    both.candidates().managed?.();
    expect(opened).toHaveLength(2);
  });

  test('do not exist while systemd-oomd acts, which is a problem', () => {
    const { both, managedOom, opened } = joined();
    managedOom.settings = managedOom.settings && { ...managedOom.settings, isLeftToOomd: true };
    both.candidates().managed?.();
    expect(opened[0]?.()).toEqual([]);
    expect(both.problems().map(({ code, message }) => [code, message])).toEqual([
      ['EVICTD_MANAGED_OOM_TAKEN', 'systemd-oomd runs: evictd leaves units with ManagedOOM settings to it (1)'],
    ]);
  });

  test('are not those of a rule without a file, or one that kills all of a slice, which is a problem', () => {
    const { both, managedOom } = joined();
    const rules = [
      { name: 'known', action: 'kill-by-swap', swapAbove: 0.5, lastingNs: 0n },
      { name: 'all', action: 'kill-all', swapAbove: 0.5, lastingNs: 0n },
    ] as const;
    managedOom.settings = {
      units: [unit('/a.slice', { rules: ['known', 'other', 'all'] }), unit('/a.slice/web.service', { rules: ['all'] })],
      settings: OOMD_DEFAULTS,
      rules,
      isLeftToOomd: false,
    };
    expect(both.problems().map(({ code, message }) => [code, message.split(': ')[1]])).toEqual([
      ['EVICTD_MANAGED_OOM_RULE', 'other (of a.slice, no usable file), all (of a.slice, Action=kill-all of a slice)'],
    ]);
  });

  test('are protected as parts of a protected unit, in the list and at the last check', () => {
    const found = joined([leaf, guarded]).both.candidates();
    expect(found.managed?.().map(({ workload }) => workload.protection?.kind)).toEqual([undefined, 'critical']);
    expect([leaf, guarded].map(({ workload }) => found.veto?.(workload)?.kind)).toEqual(['omit', 'critical']);
  });

  test('are requested from systemd at every tick', () => {
    const { both, managedOom } = joined();
    both.refresh();
    expect(managedOom.looks).toBe(1);
  });
});

describe('the protection of a cgroup by its unit', () => {
  const names = { isOperator: () => false, isNamedByRoot: () => true };
  const rules = [
    { match: { name: 'db.service' }, critical: true },
    { match: { name: 'docker.service' }, critical: false, liftProtection: true },
  ];
  test.each([
    ['a unit that the machine needs', '/system.slice/systemd-udevd.service/udev', 'unit'],
    ['a unit that a rule makes critical', '/a.slice/db.service/worker', 'critical'],
    ['a unit of which a rule lifts it', '/system.slice/docker.service/x', undefined],
    ['any other unit', '/a.slice/web.service/worker', undefined],
    ['a unit itself, which has its own protection', '/a.slice/db.service', undefined],
    ['a cgroup of no unit', '/a/db.service', undefined],
  ])('%s', (_rule, path, kind) => {
    expect(unitProtectionOf(rules, names)(path)?.kind).toBe(kind);
  });
});
