import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restore } from '../../src/compose/restoration.js';
import { stateFilePath } from '../../src/compose/saved-state.js';
import { initialState } from '../../src/core/decide/state.js';
import { selectHost } from '../../src/host/select.js';
import { savedStateText } from '../../src/state/saved-state.js';
import { savedParts } from '../../src/state/saved-parts.js';
import { StateFile } from '../../src/state/state-file.js';
import { scratch } from '../config/scratch.js';
import { carryOut } from '../journal/carried-out-order.js';
import { OrderFile, orderFilePath } from '../../src/journal/order-file.js';
import { ringPath } from '../../src/journal/journal-ring.js';
import { addLinesToRing } from '../../src/journal/ring-recovery.js';

test('a forgotten unit is not started and not reported as unrestored, and the journal records that it stays stopped', async () => {
  const directory = scratch();
  const held = {
    unit: 'evictd-test-b.service',
    decision: 1,
    start: ['evictd-test-b.service'],
    unstarted: [],
    condition: 'MemoryPressure',
    untilNs: undefined,
  } as const;
  const state = { ...initialState, held: new Map([[held.unit, held]]) };
  const owner = { node: 'machine', cgroupId: '', bootId: selectHost().readBootId() };
  const file = new StateFile(stateFilePath(directory, 'machine'));
  file.write(savedStateText(owner, { monotonicNs: 1n, bootNs: 1n }, { state: savedParts(state), signals: new Map(), sections: {} }));
  file.close();
  writeFileSync(join(directory, 'machine.lock'), '');
  const directories = {
    runtimeDirectory: directory,
    stateDirectory: join(directory, 'state'),
    journal: { maxBytes: 1 << 20, maxFiles: 2 },
  };

  expect(await restore(directories, new Set([held.unit]))).toEqual({
    restored: [`${held.unit}, which was kept stopped: left stopped`, `1 journal record to ${directories.stateDirectory}`],
    unrestored: [],
    hangs: false,
  });
  const [line = ''] = readFileSync(join(directories.stateDirectory, 'journal.jsonl'), 'utf8').split('\n');
  expect(JSON.parse(line)).toMatchObject({ type: 'release', unit: held.unit, errors: ['it is left stopped (evictd restore --forget)'] });
  expect(await restore(directories, new Set())).toEqual({ restored: [], unrestored: [], hangs: false });
});

test.each([
  ['is recorded', [], ['the order']],
  ['is recorded once, if evictd was killed after the record', ['the decision'], ['the decision']],
])('a standing order that was carried out as evictd ended %s', async (_rule, recorded, journal) => {
  const directory = scratch();
  const lineOf = (text: string): string =>
    `{"time":"t","type":"decision","node":"machine","dryRun":false,"decision":1,"message":"${text}"}`;
  const order = new OrderFile(orderFilePath(directory, 'machine'));
  carryOut(order.path, order.bytesOf({ line: lineOf('the order'), state: '', atLeast: 1_000, limit: '100' }));
  order.close();
  addLinesToRing(ringPath(directory, 'machine'), recorded.map(lineOf));
  writeFileSync(join(directory, 'machine.lock'), '');
  const stateDirectory = join(directory, 'state');
  const directories = { runtimeDirectory: directory, stateDirectory, journal: { maxBytes: 1 << 20, maxFiles: 2 } };
  for (const [call, restored] of [[`1 journal record to ${stateDirectory}`], []].entries()) {
    expect([call, await restore(directories, new Set())]).toEqual([call, { restored, unrestored: [], hangs: false }]);
  }
  const lines = readFileSync(join(stateDirectory, 'journal.jsonl'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(journal);
});
