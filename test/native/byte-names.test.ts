import { mkdirSync, rmdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fsPath, namesText } from '../../src/byte-paths.js';
import { native, type DirectoryUsageResult } from '../../src/native/index.js';
import { testCgroup } from '../support/cgroup.js';
import { after, closing, makeDirectory, memoryV1, thrownBy, until } from './kernel.js';

// Names are bytes: a byte that is no UTF-8 is a lone surrogate on the way to JavaScript and back.

const LEAK = 'leak\udcff';

function cgroup() {
  const made = testCgroup();
  after(() => made.cleanup());
  return made;
}

test('the tree reports a cgroup with such a name, and the table and the handle open it', async () => {
  const above = cgroup();
  const tree = closing(new native.CgroupTree(above.dir));
  const leak = above.child(LEAK);
  const sleeper = await leak.spawn('sleep', ['300']);
  expect(namesText(`/proc/${String(sleeper.pid)}/cgroup`)).toContain(`${leak.path}\n`);
  expect(tree.changes()?.list).toEqual([{ path: LEAK, kind: 'appeared' }]);

  const table = closing(new native.CgroupTable([{ path: 'cgroup.procs', format: 'occupied' }]));
  const row = table.add(leak.dir);
  const [values, errors] = [new Float64Array(1), new Int32Array(1)];
  table.read(values, errors);
  expect([values[0], errors[0]]).toEqual([1, 0]);

  const handle = closing(new native.CgroupHandle(leak.dir, table.id(row)));
  expect(handle.processes()).toEqual([sleeper.pid]);
  await leak.cleanup();
  expect(tree.changes()?.list.at(-1)).toEqual({ path: LEAK, kind: 'vanished' });
});

test('a cgroup whose name has U+FFFD for the byte is another cgroup', () => {
  const above = cgroup();
  const [leak, replaced] = [above.child(LEAK), above.child('leak\ufffd')];
  const table = closing(new native.CgroupTable([]));
  expect(table.id(table.add(leak.dir))).not.toBe(table.id(table.add(replaced.dir)));
});

test('an error has the path with its bytes', () => {
  const path = `${memoryV1}/evictd-test-none/\udc80ä\udcff`;
  const error = thrownBy(() => new native.CgroupHandle(path));
  expect(error.path).toBe(path);
  expect(error.message).toContain(path);
});

test('a walk may begin at such a name', async () => {
  const directory = makeDirectory();
  mkdirSync(fsPath(`${directory}/${LEAK}`));
  after(() => {
    rmdirSync(fsPath(`${directory}/${LEAK}`));
  });
  let usage: DirectoryUsageResult | undefined;
  closing(new native.DirectoryUsage(`${directory}/${LEAK}`, (found) => (usage = found)));
  await until('the walk ends', () => usage !== undefined);
  expect(usage).toMatchObject({ inodes: 1, errors: 0, complete: true });
});

test('the kernel log has such names', () => {
  const line =
    '6,100,1000,-;Out of memory: Killed process 12 (a\\xff) total-vm:8kB, anon-rss:4kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:4kB oom_score_adj:0\n';
  expect(native.parseOomRecords([line])).toMatchObject([{ pid: 12, name: 'a\udcff' }]);
});
