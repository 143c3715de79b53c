import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openJournal } from '../../src/compose/journal.js';
import { endOrderly, type EndingParts } from '../../src/compose/shutdown-order.js';
import { Closers } from '../../src/compose/closers.js';
import type { Journal } from '../../src/journal/journal.js';
import { ringPath, undrainedRecords } from '../../src/journal/journal-ring.js';
import { closeJournal } from '../support/close-journal.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined, flush: () => Promise.resolve() };

test('a record that comes while the recorder waits for a disk is in the ring for the next evictd', async () => {
  const directory = temporaryDirectory();
  const [stateDirectory, runtimeDirectory] = [join(directory, 'state'), join(directory, 'run')];
  mkdirSync(runtimeDirectory);
  const open = (): Journal =>
    openJournal(
      { stateDirectory, runtimeDirectory, journal: { maxBytes: 1 << 20, maxFiles: 2 } },
      { node: 'machine', instance: 'machine', dryRun: false, log },
    );
  const closers = new Closers();
  const journal = closers.add(open());
  const recorder = {
    flush: async () => {
      await vi.waitFor(() => expect(undrainedRecords(ringPath(runtimeDirectory, 'machine'))).toEqual([]), 30_000);
      await new Promise(setImmediate); // the journal is flushed
      renameSync(stateDirectory, `${stateDirectory}-moved`);
      writeFileSync(stateDirectory, 'a file where the directory should be');
      journal.record({ type: 'hook', message: 'late' });
    },
  };
  await endOrderly({
    monitor: { remaining: { evictions: [] } },
    removals: { unfinished: [] },
    journal,
    recorder,
    kernelKills: { counted: {} },
    shutdown: { lasts: true },
    log,
    closers,
  } as unknown as EndingParts);
  rmSync(stateDirectory);
  const next = open();
  expect(next.recovered).toBe(1);
  expect(await closeJournal(next)).toBe(true);
});
