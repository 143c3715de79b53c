import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OwnProcesses } from '../../../src/workloads/cgroup/own-processes.js';
import { memoryHierarchy } from '../../support/cgroup.js';

/** Another file of the kernel names the parent, too. */
function parentOf(pid: number): number {
  return Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'latin1'))?.[1]);
}

function ancestry(pid: number): readonly number[] {
  return pid === 0 ? [] : [pid, ...ancestry(parentOf(pid))];
}

test('the own processes are this one and its ancestors up to process 1, also when they are read again', () => {
  const own = new OwnProcesses(memoryHierarchy());
  const expected = ancestry(process.pid);
  expect(expected.length).toBeGreaterThan(2);
  for (const _ of ['first', 'again']) expect(own.read().map(({ pid }) => pid)).toEqual(expected);
  own.close();
});
