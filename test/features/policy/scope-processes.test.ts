import { statSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { readProcesses } from '../../../src/features/policy/scope-processes.js';
import { native } from '../../../src/native/index.js';
import { workload as anyWorkload } from '../../core/support.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { isV2 } from './ladder.js';

const inode = ({ dir }: TestCgroup): bigint => statSync(dir, { bigint: true }).ino;

/** A workload with processes in /one, and in /group and below it; the pids that may be ended, with the path of their group. */
async function processes(files: Readonly<Record<string, string>> = {}) {
  const web = testCgroup();
  onTestFinished(() => web.cleanup());
  const group = web.child('group');
  const places = { one: web.child('one'), main: group.child('main'), helper: group.child('helper') };
  const pids = new Map<string, number>();
  for (const [name, place] of Object.entries(places)) pids.set(name, (await place.spawn('sleep', ['600'])).pid);
  for (const [file, text] of Object.entries(files)) web.write(file, text);
  const read = (): Record<string, string | null> => {
    const found = readProcesses(native, memoryHierarchy(), [anyWorkload('web', { path: web.path, startOrder: inode(web) })]);
    const of = (pid: number | undefined) => found.find((one) => one.pid === pid);
    return Object.fromEntries(
      [...pids].flatMap(([name, pid]) => {
        const one = of(pid);
        return one === undefined ? [] : [[name, one.group === undefined ? null : one.group.path.slice(web.path.length)]];
      }),
    );
  };
  return { web, group, pids, read };
}

test('without memory.oom.group each process ends alone', async () => {
  const { read } = await processes();
  expect(read()).toEqual({ one: null, main: null, helper: null });
});

test.runIf(isV2)('a process stands for its highest cgroup with memory.oom.group, with the memory of all of it', async () => {
  const { web, group, read } = await processes({ 'group/memory.oom.group': '1', 'group/main/memory.oom.group': '1' });
  expect(read()).toEqual({ one: null, main: '/group', helper: '/group' });
  const [main] = readProcesses(native, memoryHierarchy(), [anyWorkload('g', { path: group.path, startOrder: inode(group) })]);
  expect(main?.group).toMatchObject({ path: group.path, id: inode(group) });
  expect(main?.group?.anonBytes).toBeGreaterThan(main?.anonBytes ?? 0n);
  web.write('memory.oom.group', '1');
  expect(read()).toEqual({ one: '', main: '', helper: '' });
});

test.runIf(isV2)('a group with a process that must not be ended is not chosen', async () => {
  const { web, pids, read } = await processes({ 'group/memory.oom.group': '1' });
  writeFileSync(`/proc/${String(pids.get('helper'))}/oom_score_adj`, '-1000');
  expect(read()).toEqual({ one: null });
  web.write('memory.oom.group', '1'); // the workload ends as a whole, which it may
  expect(read()).toEqual({ one: '', main: '' });
});
