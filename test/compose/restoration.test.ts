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
