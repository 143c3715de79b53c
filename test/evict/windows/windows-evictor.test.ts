import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openWindowsEvictor } from '../../../src/evict/windows/windows-evictor.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import type { WorkloadSourceSpec } from '../../../src/workloads/kinds/source-spec.js';
import { HostError, isShortage } from '../../../src/errors.js';
import type { KillInProgress } from '../../../src/monitor/ports/ports.js';
import { openWindowsWorkloads } from '../../../src/workloads/windows/windows-workloads.js';
import { PlayedWindows } from '../../support/played-windows.js';

const OWN = 90_000;
const APPS: WorkloadSourceSpec = { process: { path: 'C:\\Apps\\**' } };

function workload(windows: PlayedWindows, source: WorkloadSourceSpec): Workload {
  const workloads = openWindowsWorkloads({ workloads: [source], rules: [] }, windows, OWN);
  const [usage] = workloads.candidates().usages;
  if (usage === undefined) throw new Error('no workload was found');
  return usage.workload;
}

/** 'db.exe' is critical by a rule. */
function begin(windows: PlayedWindows, source: WorkloadSourceSpec, chosen = workload(windows, source)): KillInProgress {
  return openWindowsEvictor(windows, ({ name, path }) => name === 'db.exe' && path !== '', OWN).begin(chosen);
}

describe('the eviction of a process tree', () => {
  test('ends all processes, the oldest first, and is complete when each has exited', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const child = windows.start({ name: 'b.exe', parent: root });
    const stranger = windows.start({ name: 'c.exe', path: 'D:\\c.exe' });
    const kill = begin(windows, APPS);
    const exits: bigint[] = [];
    expect(kill.kill()).toMatchObject({ processes: 2, error: undefined });
    kill.onExit((atNs) => exits.push(atNs));
    expect(windows.done).toEqual([`terminate ${String(root)}`, `terminate ${String(child)}`]);
    expect(kill.read()).toMatchObject({ processes: 2, usageBytes: 20n, removed: false });
    windows.end(root);
    expect([kill.read().processes, exits]).toEqual([1, []]);
    windows.settle();
    expect(kill.read()).toMatchObject({ processes: 0, usageBytes: 0n, removed: true });
    expect([exits, windows.runs(stranger)]).toEqual([[7n], true]);
    kill.close();
    expect(windows.openHandles).toBe(0);
  });

  test('finds processes that fork during the end, until there are no new ones', () => {
    const windows = new PlayedWindows();
    windows.start({ name: 'bomb.exe', forks: 3 });
    const kill = begin(windows, APPS);
    expect(kill.kill().error).toBeUndefined();
    windows.settle();
    expect(kill.read()).toMatchObject({ processes: 0, removed: true });
  });

  test('includes an orphan whose parent has ended first, because the handle of the parent keeps its pid', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const child = windows.start({ name: 'b.exe', parent: root });
    const kill = begin(windows, APPS);
    kill.kill();
    windows.end(root);
    windows.end(child);
    const late = windows.start({ name: 'late.exe', parent: child });
    expect(() => windows.start({ name: 'stranger.exe', pid: root })).toThrow('taken');
    expect(kill.read()).toMatchObject({ processes: 1, removed: false });
    kill.kill();
    expect(windows.done.at(-1)).toBe(`terminate ${String(late)}`);
  });

  test('ends a tree at a soft threshold, too, because Windows has no request to end one', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    begin(windows, APPS).terminate();
    expect(windows.done).toEqual([`terminate ${String(root)}`]);
  });

  test.each<[rule: string, start: (windows: PlayedWindows, root: number) => void, error: string]>([
    [
      'evictd',
      (windows, root) => windows.start({ name: 'node.exe', pid: OWN, parent: root }),
      'no process was ended: it contains evictd or an ancestor of evictd',
    ],
    [
      'an ancestor of evictd',
      (windows, root) => windows.start({ name: 'node.exe', pid: OWN, parent: windows.start({ name: 'shell.exe', parent: root }) }),
      'no process was ended: it contains evictd or an ancestor of evictd',
    ],
    [
      'a critical process',
      (windows, root) => windows.start({ name: 'b.exe', parent: root, critical: true }),
      'no process was ended: Windows needs it: b.exe: the machine stops without it',
    ],
    [
      'a program that a rule calls critical',
      (windows, root) => windows.start({ name: 'db.exe', parent: windows.start({ name: 'cmd.exe', parent: root }) }),
      'no process was ended: contains db.exe, which is protected',
    ],
  ])('ends no process if at the last moment the tree has %s', (_rule, start, error) => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const kill = begin(windows, APPS);
    start(windows, root);
    expect(kill.kill()).toMatchObject({ processes: 0, error });
    expect(windows.done).toEqual([]);
  });

  test('reports a process that may not be ended, and ends the others', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const child = windows.start({ name: 'b.exe', parent: root });
    windows.refusals.set(`terminate ${String(root)}`, PlayedWindows.refusal('ERROR_ACCESS_DENIED'));
    const kill = begin(windows, APPS);
    expect(kill.kill()).toMatchObject({
      processes: 1,
      passing: 'in part',
      error: `TerminateProcess: process ${String(root)}: ERROR_ACCESS_DENIED (access is denied)`,
    });
    windows.settle();
    expect([windows.runs(child), kill.read().processes]).toEqual([false, 1]);
  });

  test('tries again to open a process that could not be opened for want of resources', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    windows.refusals.set(`open ${String(root)}`, PlayedWindows.refusal('ERROR_COMMITMENT_LIMIT'));
    const kill = begin(windows, APPS);
    expect(kill.kill()).toMatchObject({
      processes: 0,
      passing: 'unsent',
      error: `TerminateProcess: process ${String(root)}: ERROR_COMMITMENT_LIMIT (the page files are too small)`,
    });
    windows.refusals.clear();
    expect(kill.kill()).toMatchObject({ processes: 1, error: undefined });
  });

  test('does not try a denied process again', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    windows.refusals.set(`open ${String(root)}`, PlayedWindows.refusal('ERROR_ACCESS_DENIED'));
    expect(begin(windows, APPS).kill()).toMatchObject({ processes: 0, passing: undefined });
  });

  test('still counts the ended processes when a new one is denied', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const kill = begin(windows, APPS);
    windows.afterLook = () => {
      const late = windows.start({ name: 'late.exe', parent: root });
      windows.refusals.set(`open ${String(late)}`, PlayedWindows.refusal('ERROR_ACCESS_DENIED'));
      windows.afterLook = () => {
        windows.end(root);
      };
    };
    expect(kill.kill()).toMatchObject({
      processes: 1,
      passing: 'in part',
      error: expect.stringContaining('ERROR_ACCESS_DENIED') as string,
    });
  });

  test('ends no process if processes cannot be listed, and the next call tries again', () => {
    const windows = new PlayedWindows();
    windows.start({ name: 'a.exe' });
    const kill = begin(windows, APPS);
    windows.refusals.set('processes', PlayedWindows.refusal('ERROR_NOT_ENOUGH_MEMORY'));
    expect(kill.kill()).toMatchObject({
      processes: 0,
      passing: 'unsent',
      error: expect.stringContaining('ERROR_NOT_ENOUGH_MEMORY') as string,
    });
    expect(kill.read()).toMatchObject({ processes: 1, usageBytes: undefined, removed: false });
    windows.refusals.clear();
    expect(kill.kill().error).toBeUndefined();
  });

  test('is not complete while processes cannot be listed, because there may be new ones', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const kill = begin(windows, APPS);
    windows.end(root);
    windows.refusals.set('processes', PlayedWindows.refusal('ERROR_NOT_ENOUGH_MEMORY'));
    expect(kill.read()).toMatchObject({ processes: 1, removed: false });
  });

  test('does not affect another process with the pid', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const chosen = workload(windows, APPS);
    windows.end(root);
    windows.start({ name: 'a.exe', pid: root });
    expect(() => begin(windows, APPS, chosen)).toThrow(expect.objectContaining({ code: 'EVICTD_KILL_GONE', errno: 'ESRCH' }));
  });

  test('does not affect a process that gets the pid between list and open', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const chosen = workload(windows, APPS);
    windows.afterLook = () => {
      windows.end(root);
      windows.start({ name: 'stranger.exe', pid: root });
    };
    expect(() => begin(windows, APPS, chosen)).toThrow(expect.objectContaining({ code: 'EVICTD_KILL_GONE', errno: 'ESRCH' }));
    expect([windows.done, windows.openHandles]).toEqual([[], 0]);
  });

  test('does not include a process that reuses the pid of one that could not be opened, nor its children', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    windows.refusals.set(`open ${String(root)}`, PlayedWindows.refusal('ERROR_ACCESS_DENIED'));
    const kill = begin(windows, APPS);
    windows.refusals.clear();
    windows.end(root);
    windows.start({ name: 'stranger.exe', pid: root });
    windows.start({ name: 'its.exe', parent: root });
    kill.kill();
    expect([windows.done, kill.read()]).toMatchObject([[], { processes: 0, removed: true }]);
  });

  test('tries again if the root cannot be opened for want of memory', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const chosen = workload(windows, APPS);
    windows.silence(root, 1455);
    windows.refusals.set(`open ${String(root)}`, PlayedWindows.refusal('ERROR_COMMITMENT_LIMIT'));
    const kill = begin(windows, APPS, chosen);
    expect(kill.kill()).toMatchObject({ processes: 0, passing: 'unsent' });
    expect([kill.read().processes, windows.done]).toEqual([1, []]);
  });

  test('ends no process if Windows does not report a child, which may be critical', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const kill = begin(windows, APPS);
    windows.start({ name: 'b.exe', parent: root, closed: true });
    expect(kill.kill()).toMatchObject({ processes: 0, error: expect.stringContaining('no process was ended') as string });
    expect(windows.done).toEqual([]);
  });

  test('keeps a process that is open, although the list does not have it any more', () => {
    const windows = new PlayedWindows();
    const root = windows.start({ name: 'a.exe' });
    const child = windows.start({ name: 'b.exe', parent: root });
    const kill = begin(windows, APPS);
    kill.read();
    windows.silence(root);
    kill.kill();
    expect(windows.done).toEqual([`terminate ${String(root)}`, `terminate ${String(child)}`]);
  });
});

describe('the eviction of a service', () => {
  const WEB: WorkloadSourceSpec = { service: 'web' };
  const play = (): { windows: PlayedWindows; pid: number } => {
    const windows = new PlayedWindows();
    const pid = windows.start({ name: 'web.exe' });
    windows.service('web', pid);
    return { windows, pid };
  };

  test('asks the service manager to stop it at a soft threshold, and ends no process', () => {
    const { windows, pid } = play();
    const kill = begin(windows, WEB);
    expect(kill.terminate()).toMatchObject({ processes: 1, error: undefined });
    expect(windows.done).toEqual(['stop web']);
    windows.end(pid);
    expect(kill.read()).toMatchObject({ processes: 0, removed: true });
  });

  test('ends its processes at a hard threshold', () => {
    const { windows, pid } = play();
    const child = windows.start({ name: 'cgi.exe', parent: pid });
    begin(windows, WEB).kill();
    expect(windows.done).toEqual([`terminate ${String(pid)}`, `terminate ${String(child)}`]);
  });

  test.each<[code: string, done: readonly string[], passing: string | undefined]>([
    ['ERROR_SERVICE_NOT_ACTIVE', ['stop web'], undefined],
    ['ERROR_SERVICE_CANNOT_ACCEPT_CTRL', ['stop web'], 'unsent'],
    ['ERROR_DEPENDENT_SERVICES_RUNNING', ['stop web'], 'unsent'],
    ['ERROR_COMMITMENT_LIMIT', ['stop web'], 'unsent'],
    ['ERROR_OUTOFMEMORY', ['stop web'], 'unsent'],
    ['RPC_S_OUT_OF_RESOURCES', ['stop web'], 'unsent'],
    ['ERROR_INVALID_SERVICE_CONTROL', ['stop web', 'terminate 100'], undefined],
    ['ERROR_ACCESS_DENIED', ['stop web', 'terminate 100'], undefined],
  ])('has the state of a service that answers %s', (code, done, passing) => {
    const { windows } = play();
    windows.refusals.set('stop web', PlayedWindows.refusal(code));
    expect(begin(windows, WEB).terminate().passing).toBe(passing);
    expect(windows.done).toEqual(done);
  });

  test('sends a stopping service no request, waits for its grace period, and ends it then', () => {
    const { windows, pid } = play();
    const kill = begin(windows, WEB);
    windows.service('web', pid, { state: 'stop-pending', acceptsStop: false });
    expect(kill.terminate()).toMatchObject({ processes: 1, error: undefined });
    expect(windows.done).toEqual([]);
    kill.kill();
    expect(windows.done).toEqual([`terminate ${String(pid)}`]);
  });

  test('stops a starting service as soon as it accepts that', () => {
    vi.useFakeTimers({ toFake: ['hrtime'] });
    onTestFinished(() => void vi.useRealTimers());
    const { windows, pid } = play();
    const kill = begin(windows, WEB);
    windows.service('web', pid, { state: 'start-pending', acceptsStop: false });
    expect(kill.terminate()).toMatchObject({ passing: 'unsent', error: 'service web does not take a stop yet: start-pending' });
    expect(windows.done).toEqual([]);
    windows.service('web', pid, { acceptsStop: true });
    vi.advanceTimersByTime(250);
    expect(kill.terminate()).toMatchObject({ error: undefined });
    expect(windows.done).toEqual(['stop web']);
  });

  test('repeats a failed stop after a quarter of a second, however often it is read, and SIGKILL does not wait', () => {
    vi.useFakeTimers({ toFake: ['hrtime'] });
    onTestFinished(() => void vi.useRealTimers());
    const { windows, pid } = play();
    windows.refusals.set('stop web', PlayedWindows.refusal('ERROR_DEPENDENT_SERVICES_RUNNING'));
    const kill = begin(windows, WEB);
    for (let ms = 0; ms < 500; ms += 50) {
      expect(kill.terminate()).toMatchObject({ passing: 'unsent', error: 'service web: ERROR_DEPENDENT_SERVICES_RUNNING' });
      vi.advanceTimersByTime(50);
    }
    expect(windows.done).toEqual(['stop web', 'stop web']);
    kill.kill();
    expect(windows.done).toEqual(['stop web', 'stop web', `terminate ${String(pid)}`]);
  });

  test.each(['processes', 'services'])('stops the service later, and does not end it, if %s cannot be listed', (what) => {
    const { windows } = play();
    const kill = begin(windows, WEB);
    windows.refusals.set(what, PlayedWindows.refusal('ERROR_NO_SYSTEM_RESOURCES'));
    expect(kill.terminate()).toMatchObject({ passing: 'unsent', error: expect.stringContaining('ERROR_NO_SYSTEM_RESOURCES') as string });
    expect(windows.done).toEqual([]);
    windows.refusals.clear();
    expect(kill.terminate().error).toBeUndefined();
    expect(windows.done).toEqual(['stop web']);
  });

  test('does not stop a service that was restarted meanwhile, because it is another workload', () => {
    const { windows, pid } = play();
    const kill = begin(windows, WEB);
    windows.end(pid);
    windows.service('web', windows.start({ name: 'web.exe' }));
    expect(kill.terminate()).toMatchObject({ processes: 0, error: undefined });
    expect([windows.done, kill.read().removed]).toEqual([[], true]);
  });

  test('does not end a service that starts a critical program in its grace', () => {
    const { windows, pid } = play();
    const kill = begin(windows, WEB);
    expect(kill.terminate().error).toBeUndefined();
    windows.start({ name: 'db.exe', parent: pid });
    expect(kill.kill()).toMatchObject({ error: 'no process was ended: contains db.exe, which is protected', passing: undefined });
    expect(windows.done).toEqual(['stop web']);
  });

  test('does not stop a service with evictd among its processes', () => {
    const { windows, pid } = play();
    const kill = begin(windows, WEB);
    windows.start({ name: 'node.exe', pid: OWN, parent: pid });
    expect(kill.terminate().error).toBe('no stop was sent: it contains evictd or an ancestor of evictd');
    expect(windows.done).toEqual([]);
  });
});

describe('the eviction of a job', () => {
  const BATCH: WorkloadSourceSpec = { job: 'batch' };

  test('ends all processes at once, and is complete when each has exited', () => {
    const windows = new PlayedWindows();
    const pids = [windows.start({ name: 'a.exe' }), windows.start({ name: 'b.exe' })];
    windows.job('batch', pids);
    const kill = begin(windows, BATCH);
    expect(kill.kill()).toMatchObject({ processes: 2, error: undefined });
    expect([windows.done, kill.read()]).toMatchObject([['terminate job batch'], { processes: 2, usageBytes: 20n, removed: false }]);
    const exits: bigint[] = [];
    kill.onExit((atNs) => exits.push(atNs));
    windows.settle();
    expect([kill.read(), exits]).toMatchObject([{ processes: 0, removed: true }, [7n]]);
    kill.close();
    expect([windows.openHandles, windows.openJobs]).toEqual([0, 0]);
  });

  test('is not complete while a process that has left the job still runs', () => {
    const windows = new PlayedWindows();
    const pid = windows.start({ name: 'a.exe' });
    windows.job('batch', [pid]);
    const kill = begin(windows, BATCH);
    kill.kill();
    windows.job('batch', []);
    expect(kill.read()).toMatchObject({ processes: 1, removed: false });
  });

  test('ends no process if evictd is in the job', () => {
    const windows = new PlayedWindows();
    windows.job('batch', [windows.start({ name: 'a.exe' })]);
    const kill = begin(windows, BATCH);
    windows.job('batch', [windows.start({ name: 'node.exe', pid: OWN })]);
    expect(kill.kill().error).toBe('no process was ended: it contains evictd or an ancestor of evictd');
    expect(windows.done).toEqual([]);
  });

  test('ends no process if a critical process is in the job', () => {
    const windows = new PlayedWindows();
    windows.job('batch', [windows.start({ name: 'a.exe' })]);
    const kill = begin(windows, BATCH);
    windows.job('batch', [windows.start({ name: 'db.exe' })]);
    expect(kill.kill()).toMatchObject({ error: 'no process was ended: contains db.exe, which is protected', passing: undefined });
    expect(windows.done).toEqual([]);
  });

  test('is refused for good if a rule calls a process critical, though another is not reported', () => {
    const windows = new PlayedWindows();
    const silent = windows.start({ name: 'a.exe' });
    windows.job('batch', [silent, windows.start({ name: 'db.exe' })]);
    const kill = begin(windows, BATCH);
    windows.silence(silent);
    expect(kill.kill()).toMatchObject({ error: 'no process was ended: contains db.exe, which is protected', passing: undefined });
  });

  test.each<[what: string, code: string, passing: string | undefined]>([
    ['processes', 'ERROR_NOT_ENOUGH_MEMORY', 'unsent'],
    ['terminate job batch', 'ERROR_NO_SYSTEM_RESOURCES', 'unsent'],
    ['terminate job batch', 'ERROR_ACCESS_DENIED', undefined],
  ])('refused %s with %s is tried again or not', (what, code, passing) => {
    const windows = new PlayedWindows();
    windows.job('batch', [windows.start({ name: 'a.exe' })]);
    const kill = begin(windows, BATCH);
    windows.refusals.set(what, PlayedWindows.refusal(code));
    expect(kill.kill()).toMatchObject({ processes: 0, passing, error: expect.stringContaining(code) as string });
    windows.refusals.clear();
    expect(kill.kill()).toMatchObject({ processes: 1, error: undefined });
  });

  test('is not complete if a process cannot be opened for want of resources', () => {
    const windows = new PlayedWindows();
    windows.job('batch', [windows.start({ name: 'a.exe' })]);
    const chosen = workload(windows, BATCH);
    windows.refusals.set('job batch', PlayedWindows.refusal('ERROR_COMMITMENT_LIMIT'));
    let thrown: unknown;
    try {
      begin(windows, BATCH, chosen);
    } catch (error) {
      thrown = error;
    }
    expect([isShortage(thrown), thrown]).toMatchObject([true, { code: 'EVICTD_KILL_GONE', errno: 'ERROR_COMMITMENT_LIMIT' }]);
  });

  test.each<[rule: string, errno: number, passing: string | undefined]>([
    ['for want of resources, and may end it the next time', 1450, 'unsent'],
    ['for good', 5, undefined],
  ])('ends no process if Windows does not report one of the job, %s', (_rule, errno, passing) => {
    const windows = new PlayedWindows();
    const pid = windows.start({ name: 'a.exe' });
    windows.job('batch', [pid]);
    const kill = begin(windows, BATCH);
    windows.silence(pid, errno);
    expect(kill.kill()).toMatchObject({ processes: 0, passing, error: expect.stringContaining('no process was ended') as string });
    expect(windows.done).toEqual([]);
  });

  test('reports a refusal', () => {
    const windows = new PlayedWindows();
    windows.job('batch', [windows.start({ name: 'a.exe' })]);
    windows.refusals.set('terminate job batch', PlayedWindows.refusal('ERROR_ACCESS_DENIED'));
    expect(begin(windows, BATCH).kill().error).toBe('TerminateJobObject: ERROR_ACCESS_DENIED (access is denied)');
  });

  test('is complete if the job does not exist any more', () => {
    const windows = new PlayedWindows();
    windows.job('batch', [windows.start({ name: 'a.exe' })]);
    const chosen = workload(windows, BATCH);
    expect(() => begin(new PlayedWindows(), BATCH, chosen)).toThrow(expect.objectContaining({ code: 'EVICTD_KILL_GONE', errno: 'ESRCH' }));
  });
});

test('a protected workload is refused', () => {
  const windows = new PlayedWindows();
  windows.start({ name: 'csrss.exe' });
  expect(() => begin(windows, APPS)).toThrow(HostError);
  expect(() => begin(windows, APPS)).toThrow(expect.objectContaining({ code: 'EVICTD_KILL_PROTECTED' }));
});

test('a workload of Linux is refused', () => {
  const windows = new PlayedWindows();
  windows.start({ name: 'a.exe' });
  expect(() => begin(windows, APPS, { ...workload(windows, APPS), id: '/web#12' })).toThrow(
    expect.objectContaining({ code: 'EVICTD_KILL_GONE' }),
  );
});
