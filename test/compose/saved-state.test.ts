import { expect, test } from 'vitest';
import { openSavedState, stateFilePath } from '../../src/compose/saved-state.js';
import { inFlight } from '../../src/core/decide/eviction.js';
import { initialState } from '../../src/core/decide/state.js';
import { selectHost } from '../../src/host/select.js';
import { OrderFile, orderFilePath } from '../../src/journal/order-file.js';
import { native } from '../../src/native/index.js';
import { savedParts } from '../../src/state/saved-parts.js';
import { savedStateText } from '../../src/state/saved-state.js';
import { StateFile } from '../../src/state/state-file.js';
import { policy } from '../core/support.js';
import { carryOut } from '../journal/carried-out-order.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { decision } from '../features/notify/evictions.js';

const ORDERED = decision({}, { serial: 7 });
const MINUTE = 60_000_000_000n;

/** What the next evictd takes over. @param agoNs  when an order was carried out @param known  the last decision in the state */
function restoredAfter(agoNs: bigint, { known = 6, over = [] as number[] }) {
  const directory = temporaryDirectory();
  const owner = { node: 'machine', cgroupId: '', bootId: selectHost().readBootId() };
  const clocks = { monotonicNs: process.hrtime.bigint() - agoNs, bootNs: native.bootTimeNs() - agoNs };
  const textOf = (state: typeof initialState) =>
    savedStateText(owner, clocks, { state: savedParts(state), signals: new Map(), sections: {} });
  const path = orderFilePath(directory, 'machine');
  const order = new OrderFile(path);
  const state = textOf({ ...initialState, decisions: ORDERED.serial, evictions: [inFlight(ORDERED)] });
  const record = order.bytesOf({ line: '{"decision":7}', state, atLeast: 1_000, limit: '100' });
  order.close();
  carryOut(path, record, 5n, 8n);
  const file = new StateFile(stateFilePath(directory, 'machine'));
  file.write(textOf({ ...initialState, decisions: known }));
  file.close();
  const journal = { earlier: { over: new Set(over), last: known, unfinished: new Map() }, record: () => undefined };
  const log = { info: () => undefined, warn: () => undefined };
  const saved = openSavedState(
    { runtimeDirectory: directory },
    { node: { name: 'machine' }, instance: 'machine', policy: policy([]), journal, log },
  );
  saved.close();
  const { ordered, restored } = saved;
  const { state: taken, signals, abandoned } = restored;
  return {
    continues: ordered?.serial,
    evictions: taken.evictions.map(({ decision: { serial } }) => [serial, signals.get(serial)?.sent, abandoned.get(serial)]),
    decisions: taken.decisions,
  };
}

test.each<[rule: string, agoNs: bigint, known: object, taken: object]>([
  ['continues within a minute', 50n * (MINUTE / 60n), {}, { continues: 7, evictions: [], decisions: 6 }],
  ['is in the journal later with its outcome', 2n * MINUTE, {}, { evictions: [[7, 'killNs', 'no evictd ran for 120 s']], decisions: 7 }],
  [
    'is in the journal with its outcome even hours later',
    600n * MINUTE,
    {},
    { evictions: [[7, 'killNs', 'no evictd ran for 36000 s']], decisions: 7 },
  ],
  ['is not added if the saved state has it', 0n, { known: 7 }, { evictions: [], decisions: 7 }],
  ['is not added if the journal has its outcome', 2n * MINUTE, { over: [7] }, { evictions: [], decisions: 7 }],
])("a standing order's eviction at whose time evictd was killed %s", (_rule, agoNs, known, taken) => {
  expect(restoredAfter(agoNs, known)).toEqual(taken);
});
