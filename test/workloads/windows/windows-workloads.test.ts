import { describe, expect, test } from 'vitest';
import type { Rule } from '../../../src/core/workload/rule.js';
import { protectionText } from '../../../src/core/rank/rank.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import type { WorkloadSourceSpec } from '../../../src/workloads/kinds/source-spec.js';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import type { ServiceEntry } from '../../../src/native/windows-binding.js';
import { openWindowsWorkloads } from '../../../src/workloads/windows/windows-workloads.js';
import { PlayedWindows } from '../../support/played-windows.js';

const APPS: WorkloadSourceSpec = { process: { path: 'C:\\Apps\\**' } };

function open(
  windows: PlayedWindows,
  workloads: readonly WorkloadSourceSpec[],
  rules: readonly Rule[] = [],
  ownPid = 99_999,
): WorkloadSource {
  return openWindowsWorkloads({ workloads, rules }, windows, ownPid);
}

/** 'path = why it is protected'. */
const shown = ({ usages }: Candidates): string[] =>
  usages.map(({ workload: { path, protection } }) => (protection ? `${path} = ${protectionText(protection)}` : path));

describe('process trees as workloads', () => {
  test('have the named program with all processes that it has started', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'web.exe', privateBytes: 100n });
    const child = windows.start({ name: 'worker.exe', parent: root, path: 'D:\\elsewhere\\worker.exe', privateBytes: 20n });
    windows.start({ name: 'worker.exe', parent: child, path: 'D:\\elsewhere\\worker.exe', privateBytes: 3n });
    windows.start({ name: 'other.exe', path: 'D:\\other.exe' });
    const found = open(windows, [APPS]).candidates();
    expect(found.usages).toMatchObject([
      {
        workload: {
          id: `${String(root)}:${String(windows.createdAt(root))}`,
          name: 'web.exe',
          path: `C:\\Apps\\web.exe#${String(root)}`,
          startOrder: windows.createdAt(root),
          terminationGracePeriodNs: 0n,
          protection: undefined,
        },
        stats: { workingSetBytes: 123n, usageBytes: 123n, processes: 3n },
      },
    ]);
    expect(found.processes?.()).toEqual(new Map([[found.usages[0]?.workload.id, 3n]]));
  });

  test('include a named program that another named one has started, directly or not', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'web.exe' });
    const between = windows.start({ name: 'cmd.exe', path: 'C:\\Windows\\System32\\cmd.exe', parent: root });
    windows.start({ name: 'web.exe', parent: between });
    expect(shown(open(windows, [APPS]).candidates())).toEqual([`C:\\Apps\\web.exe#${String(root)}`]);
  });

  test('do not take a process that reuses the pid of an ended parent as the parent', () => {
    const windows = new PlayedWindows();
    const child = windows.start({ name: 'b.exe', parent: 77 });
    windows.start({ name: 'a.exe', pid: 77 });
    expect(shown(open(windows, [APPS]).candidates())).toEqual([`C:\\Apps\\b.exe#${String(child)}`, 'C:\\Apps\\a.exe#77']);
  });

  test('match rules by name and program, whatever the case and slashes', () => {
    const windows = new PlayedWindows();
    windows.start({ name: 'Web.exe' });
    const rules: Rule[] = [
      { match: { name: 'WEB.EXE' }, priority: 7 },
      { match: { path: 'c:/apps/*' }, requestsMemory: 5n },
    ];
    const [usage] = open(windows, [APPS], rules).candidates().usages;
    expect(usage?.workload).toMatchObject({ priority: 7, requests: { memory: 5_000_000_000n }, qosClass: 'Burstable' });
  });
});

describe('services as workloads', () => {
  test('are running services that match, with a grace period only for those that accept a stop', () => {
    const windows = new PlayedWindows();
    const web = windows.start({ name: 'web.exe' });
    windows.service('Web', web);
    windows.service('webold', windows.start({ name: 'old.exe' }), { acceptsStop: false });
    windows.service('webstopped', 0, { state: 'stopped' });
    windows.service('db', windows.start({ name: 'db.exe' }));
    const rules: Rule[] = [{ match: {}, terminationGracePeriodNs: 9n }];
    const { usages } = open(windows, [{ service: 'web*' }], rules).candidates();
    expect(usages.map(({ workload }) => [workload.path, workload.terminationGracePeriodNs])).toEqual([
      ['service:Web', 9n],
      ['service:webold', 0n],
    ]);
    expect(usages[0]?.workload.id).toBe(`service:${String(web)}:${String(windows.createdAt(web))}:Web`);
  });

  test.each<[state: ServiceEntry['state'], grace: bigint]>([
    ['start-pending', 9n],
    ['stop-pending', 9n],
    ['pause-pending', 9n],
    ['continue-pending', 9n],
    ['paused', 0n],
    ['running', 0n],
  ])('in state %s, which accept no stop, have a grace period or none', (state, grace) => {
    const windows = new PlayedWindows();
    windows.service('web', windows.start({ name: 'web.exe' }), { state, acceptsStop: false });
    const rules: Rule[] = [{ match: {}, terminationGracePeriodNs: 9n }];
    const { usages } = open(windows, [{ service: 'web' }], rules).candidates();
    expect(usages[0]?.workload.terminationGracePeriodNs).toBe(grace);
  });

  test('are no process trees, too', () => {
    const windows = new PlayedWindows();
    windows.service('web', windows.start({ name: 'web.exe' }));
    expect(shown(open(windows, [APPS, { service: 'web' }]).candidates())).toEqual(['service:web']);
  });

  test('that share a process are protected', () => {
    const windows = new PlayedWindows();
    windows.service('web', windows.start({ name: 'host.exe' }), { ownProcess: false });
    expect(shown(open(windows, [{ service: 'web' }]).candidates())).toEqual([
      'service:web = Windows needs it: it shares its process with other services',
    ]);
  });

  test('are not listed if no source names any', () => {
    const windows = new PlayedWindows();
    windows.refusals.set('services', PlayedWindows.refusal('ERROR_ACCESS_DENIED'));
    expect(open(windows, [APPS]).candidates().unreadable).toEqual([]);
  });
});

describe('jobs as workloads', () => {
  test('have processes and a limit, and their handle is closed, or the job would outlive its owner', () => {
    const windows = new PlayedWindows();
    const [a, b] = [windows.start({ name: 'a.exe', privateBytes: 1n }), windows.start({ name: 'b.exe', privateBytes: 2n })];
    windows.job('batch', [b, a], 64n);
    const { usages } = open(windows, [{ job: 'batch' }]).candidates();
    expect(usages).toMatchObject([
      {
        workload: {
          id: 'job:batch',
          name: 'batch',
          path: 'job:batch',
          startOrder: windows.createdAt(a),
          limits: { memory: 64_000_000_000n },
        },
      },
    ]);
    expect(usages[0]?.stats).toMatchObject({ workingSetBytes: 3n, processes: 2n });
    expect(windows.openJobs).toBe(0);
  });

  test('that do not exist are reported until they do', () => {
    const windows = new PlayedWindows();
    const source = open(windows, [{ job: 'batch' }]);
    expect(source.candidates()).toMatchObject({ usages: [], unreadable: [] });
    expect(source.problems()).toMatchObject([{ code: 'EVICTD_SOURCE_MISSING', message: 'workload source job batch does not exist' }]);
    windows.job('batch', [windows.start({ name: 'a.exe' })]);
    source.candidates();
    expect(source.problems()).toEqual([]);
  });

  test('that may not be opened are named, and the others are read', () => {
    const windows = new PlayedWindows();
    windows.refusals.set('job secret', PlayedWindows.refusal('ERROR_ACCESS_DENIED'));
    windows.job('batch', [windows.start({ name: 'a.exe' })]);
    const { usages, unreadable } = open(windows, [{ job: 'secret' }, { job: 'batch' }]).candidates();
    expect(unreadable).toEqual([{ name: 'secret', path: 'job:secret', reason: 'ERROR_ACCESS_DENIED (access is denied)' }]);
    expect(usages).toHaveLength(1);
  });

  test('without a process are no candidates', () => {
    const windows = new PlayedWindows();
    windows.job('batch', []);
    expect(open(windows, [{ job: 'batch' }]).candidates().usages).toEqual([]);
  });
});

describe('workloads that are never evicted', () => {
  test('are evictd and its ancestors', () => {
    const windows = new PlayedWindows();
    const shell = windows.start({ name: 'shell.exe' });
    const own = windows.start({ name: 'node.exe', parent: shell });
    expect(shown(open(windows, [APPS], [], own).candidates())).toEqual([
      `C:\\Apps\\shell.exe#${String(shell)} = it contains evictd or an ancestor of evictd`,
    ]);
  });

  test('are the ancestors of evictd, also after the clock was set back', () => {
    const windows = new PlayedWindows();
    const shell = windows.start({ name: 'shell.exe' });
    windows.setClockBack(1_000n);
    const own = windows.start({ name: 'node.exe', path: 'D:\\node.exe', parent: shell });
    expect(shown(open(windows, [APPS], [], own).candidates())).toEqual([
      `C:\\Apps\\shell.exe#${String(shell)} = it contains evictd or an ancestor of evictd`,
    ]);
  });

  test('are trees with a process that Windows needs', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    windows.start({ name: 'b.exe', parent: root, critical: true });
    expect(shown(open(windows, [APPS]).candidates())).toEqual([
      `C:\\Apps\\a.exe#${String(root)} = Windows needs it: b.exe: the machine stops without it`,
    ]);
  });

  test('are trees with a process that a rule calls critical', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'launcher.exe' });
    windows.start({ name: 'db.exe', parent: root });
    const rules: Rule[] = [{ match: { name: 'db.exe' }, critical: true }];
    expect(shown(open(windows, [APPS], rules).candidates())).toEqual([
      `C:\\Apps\\launcher.exe#${String(root)} = contains db.exe, which is protected`,
    ]);
  });

  test('are workloads that a rule calls critical', () => {
    const windows = new PlayedWindows();
    windows.service('db', windows.start({ name: 'x.exe' }));
    expect(shown(open(windows, [{ service: 'db' }], [{ match: { name: 'DB' }, critical: true }]).candidates())).toEqual([
      'service:db = critical',
    ]);
  });

  test('are trees with a process in a protected job', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    windows.job('kept', [windows.start({ name: 'b.exe', parent: root })]);
    const rules: Rule[] = [{ match: { path: 'job:kept' }, critical: true }];
    expect(shown(open(windows, [{ job: 'kept' }, APPS], rules).candidates())).toEqual([
      'job:kept = critical',
      `C:\\Apps\\a.exe#${String(root)} = contains kept, which is protected`,
    ]);
  });

  test('are jobs with a process that Windows does not report', () => {
    const windows = new PlayedWindows();
    windows.job('batch', [windows.start({ name: 'odd.exe', closed: true })]);
    const { usages } = open(windows, [{ job: 'batch' }]).candidates();
    expect(usages[0]).toMatchObject({ workload: { protection: { kind: 'unlisted' } }, stats: { workingSetBytes: undefined } });
  });
});

test('the veto reads the processes again', () => {
  const windows = new PlayedWindows();
  const root = windows.start({ name: 'a.exe' });
  const { usages, veto } = open(windows, [APPS]).candidates();
  const [usage] = usages;
  if (usage === undefined) throw new Error('no workload was found');
  expect(veto?.(usage.workload)).toBeUndefined();
  windows.start({ name: 'csrss.exe', parent: root });
  expect(veto?.(usage.workload)).toMatchObject({ kind: 'system' });
  windows.refusals.set('processes', PlayedWindows.refusal('ERROR_NOT_ENOUGH_MEMORY'));
  expect(veto?.(usage.workload)).toEqual({ kind: 'unlisted' });
  windows.refusals.clear();
  windows.end(root);
  expect(veto?.(usage.workload)).toEqual({ kind: 'removed' });
});

test('processes that cannot be listed are unreadable, and there are no candidates', () => {
  const windows = new PlayedWindows();
  windows.start({ name: 'a.exe' });
  windows.refusals.set('processes', PlayedWindows.refusal('ERROR_NOT_ENOUGH_MEMORY'));
  expect(open(windows, [APPS]).candidates()).toMatchObject({
    usages: [],
    unreadable: [{ name: 'processes', reason: 'ERROR_NOT_ENOUGH_MEMORY (not enough memory)' }],
  });
});
