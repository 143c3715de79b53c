import { expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import { Status } from '../../../src/metrics/status.js';
import type { Actors, EffectHandler, EffectTable } from '../../../src/monitor/effects/handler.js';
import { journalRecords, runEffects } from '../../../src/monitor/effects/run.js';
import { EFFECTS } from '../../../src/monitor/effects/table.js';
import type { JournalRecord } from '../../../src/journal/records/record.js';
import { Reporter } from '../../../src/monitor/reporter.js';

/** A kind that no step returns. This is all that its file would export. */
interface Toy {
  readonly kind: 'toy';
  readonly name: string;
}
const done: string[] = [];
const toy: EffectHandler<Toy> = {
  record: ({ name }) => ({ type: 'toy', name, message: `toy ${name}` }),
  isRecordedFirst: true,
  recordLater: ({ name }) => [{ type: 'more', message: `more of ${name}` }],
  isSignal: () => true,
  perform: ({ name }) => done.push(`perform ${name}`),
  log: ({ name }) => ({ level: 'warn', fields: { name } }),
  metric: (_effect, metrics) => {
    metrics.held(7);
  },
};
/** The list with one line more. */
const table: EffectTable<Effect | Toy> = { ...EFFECTS, toy };

const condition: Effect = { kind: 'condition', type: 'DiskPressure', status: true };
const effects: readonly (Effect | Toy)[] = [condition, { kind: 'toy', name: 'a' }, { kind: 'toy', name: 'b' }];
const wake = { source: 'tick', atNs: 0n } as const;
const actors = { victims: { timesOf: () => undefined } } as unknown as Actors;

test('a new kind of effect is one handler and one line of the table: recorded, performed, logged and counted in a kill-safe order', () => {
  done.length = 0;
  const status = new Status();
  const write = (level: string) => (message: string) => void done.push(`${level}: ${message}`);
  const log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    dropped: 0,
    flush: () => Promise.resolve(),
  };
  runEffects(
    table,
    effects,
    wake,
    { wakeNs: 0n },
    {
      journal: {
        record: ({ message }: JournalRecord) => void done.push(`record ${message}`),
        recordLater: (records) => void done.push(...[...records].map(({ message }) => `later ${message}`)),
      },
      reporter: new Reporter(log, status),
      actors,
      saveState: () => void done.push('save state'),
      performed: () => void done.push('performed'),
    },
  );
  expect(done).toEqual([
    'record toy a',
    'record toy b',
    'save state',
    'perform a',
    'perform b',
    'performed',
    'record node condition DiskPressure is now true',
    'warn: node condition DiskPressure is now true',
    'later more of a',
    'warn: toy a',
    'later more of b',
    'warn: toy b',
  ]);
  expect([status.heldUnits, status.conditions.has('DiskPressure')]).toEqual([7, true]);
});

test('without a signal the state is not saved first', () => {
  let saved = 0;
  const quiet = { ...table, toy: { ...toy, isSignal: () => false } };
  const ports = {
    journal: { record: () => undefined, recordLater: () => undefined },
    reporter: { effect: () => undefined },
    actors,
    performed: () => undefined,
  };
  runEffects(quiet, effects, wake, { wakeNs: 0n }, { ...ports, saveState: () => (saved += 1) });
  expect(saved).toBe(0);
});

test('a replay has the records in the order of the journal', () => {
  const records = journalRecords(table, effects, { wake, timesOf: () => undefined });
  expect(records.map(({ message }) => message)).toEqual([
    'toy a',
    'toy b',
    'node condition DiskPressure is now true',
    'more of a',
    'more of b',
  ]);
});
