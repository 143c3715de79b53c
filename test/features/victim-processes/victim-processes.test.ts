import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { processesText, type VictimProcess } from '../../../src/core/oom/victim-process.js';
import type { Decision } from '../../../src/core/decide/eviction.js';
import { isUrgent } from '../../../src/core/rank/eviction-cause.js';
import { ReadProcesses } from '../../../src/features/victim-processes/open.js';
import { threshold, workload } from '../../core/support.js';
import { decisionOf } from '../../journal/decision.js';

/** A machine with one process in each workload, and what was read. */
function machine() {
  const read: string[] = [];
  const records = new ReadProcesses({
    *read({ id, name }) {
      read.push(id);
      yield;
      return [{ pid: 7, name }];
    },
  });
  return { read, records };
}

const hard = decisionOf('memory.available', {}, undefined);
const nowOf = (decision: Decision): Decision => ({ ...decision, decidedAtNs: process.hrtime.bigint() });
const disk = decisionOf('nodefs.available', {}, undefined);
const batch = hard.victim.workload;

test('no process is read before the signal of a hard memory threshold, and earlier readings are recorded', async () => {
  const { read, records } = machine();
  records.expect([workload('web'), batch]);
  expect(read).toEqual([]); // not at once
  await turn();
  await turn();
  const decision = nowOf(hard);
  const known = records.decided(decision);
  expect(known).toMatchObject({ processes: [{ pid: 7, name: 'batch' }] });
  expect(known?.processesSecondsBefore).toBeGreaterThanOrEqual(0);
  records.signalled(decision);
  expect(read).toEqual(['id-web', 'id-batch']);
  expect(records.ended(decision)).toBeUndefined(); // the decision has them
});

test.each<[rule: string, decision: (made: Decision) => Decision]>([
  ['the eviction was not expected', (made) => made],
  ['the eviction was expected more than ten seconds ago', (made) => ({ ...made, decidedAtNs: made.decidedAtNs + 11_000_000_000n })],
])('remaining processes are read after the signal, once, and are in the outcome: %s', async (rule, later) => {
  const { read, records } = machine();
  records.expect(rule.includes('not') ? [workload('web')] : [batch]);
  await turn();
  await turn();
  const decision = later(nowOf(hard));
  expect(records.decided(decision)).toBeUndefined();
  const before = read.length;
  records.signalled(decision);
  expect(read.length).toBe(before + 1);
  expect(records.ended(decision)).toEqual([{ pid: 7, name: 'batch' }]);
  expect(records.ended(decision)).toBeUndefined();
});

test.each<[rule: string, decision: Decision]>([
  ['a dry run sends no signal', { ...hard, dryRun: true }],
  ['a disk fills slowly', disk],
])('processes are read with the decision: %s', (_rule, decision) => {
  const { read, records } = machine();
  expect(records.decided(nowOf(decision))).toMatchObject({ processes: [{ pid: 7, name: 'batch' }] });
  expect(read).toEqual(['id-batch']);
});

test.each<[rule: string, cause: Decision['cause'], graceNs: bigint, urgent: boolean]>([
  ['hard, memory', hard.cause, 0n, true],
  ['hard, memory, with the second of the kubelet', hard.cause, 1_000_000_000n, true],
  ['hard, a disk', disk.cause, 0n, false],
  [
    'soft, memory',
    { ...hard.cause, threshold: threshold('memory.available', '100Mi', { graceSeconds: 1 }) } as Decision['cause'],
    0n,
    false,
  ],
])('a decision is urgent: %s', (_rule, cause, graceNs, urgent) => {
  expect(isUrgent(cause, graceNs)).toBe(urgent);
});

test.each<[rule: string, processes: readonly VictimProcess[], text: string | undefined]>([
  ['everything is known', [{ pid: 7, name: 'java', uid: 1000, user: 'app', rssBytes: 22 << 20 }], 'java (pid 7, user app, 22MiB)'],
  ['the user has no name', [{ pid: 7, name: 'java', uid: 1000 }], 'java (pid 7, user 1000)'],
  ['the largest three', [1, 2, 3, 4].map((pid) => ({ pid, name: 'sh' })), 'sh (pid 1), sh (pid 2), sh (pid 3)'],
  ['none', [], undefined],
])('the text about processes: %s', (_rule, processes, text) => {
  expect(processesText(processes)).toBe(text);
});

test('the other processes are not read where one process of the workload ends, because they continue', async () => {
  const { read, records } = machine();
  records.expect([batch]);
  await turn();
  await turn();
  const memory = { residentBytes: 1n, anonBytes: 1n, swapBytes: 0n };
  const only = { path: batch.path, pid: 7, startTicks: 1n, command: 'leak', ...memory, oomScore: 0 };
  const decision = nowOf({ ...hard, victim: { ...hard.victim, process: only } });
  expect(records.decided(decision)).toBeUndefined();
  records.signalled(decision);
  expect(records.ended(decision)).toBeUndefined();
  expect(read).toEqual(['id-batch']);
});
