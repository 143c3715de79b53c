import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { liftAbandoned } from '../../../src/features/policy/restraint/abandoned-restraints.js';
import { restraintFilePath } from '../../../src/features/policy/restraint/restraint-file.js';
import { native } from '../../../src/native/index.js';
import { scratch } from '../../config/scratch.js';
import { CollectedLog } from '../../support/oom-score-adj.js';
import { eventually } from '../../support/eventually.js';
import { freezable, freezers, ladder } from './ladder.js';

describe.runIf(freezers.length > 0)('cgroups that an earlier evictd has frozen', () => {
  const workload = freezable(freezers[0] ?? 'freezer');

  /** A directory with the file of an evictd that has frozen the workload, and its lock file. */
  const frozen = async () => {
    const directory = scratch();
    mkdirSync(join(directory, 'run'));
    const lock = join(directory, 'run', 'machine.lock');
    const { target, isFrozen } = workload();
    const file = restraintFilePath(lock, directory);
    expect(await ladder({ file, lock }).act({ action: 'freeze', target, forNs: 60_000_000_000n })).toEqual({ result: 'done' });
    await eventually('it is frozen', isFrozen);
    return { directory, lock, files: () => readdirSync(directory).filter((name) => name.startsWith('held-')) };
  };

  test('stay frozen while that evictd runs, and are released when it has ended', async () => {
    const { directory, lock, files } = await frozen();
    const living = new native.FileLock(lock);
    expect(liftAbandoned(undefined, { directory })).toEqual({ lifted: [], left: [] });
    expect([workload().isFrozen(), files().length]).toEqual([true, 1]);
    living.close();
    expect(liftAbandoned(undefined, { directory, own: lock })).toEqual({ lifted: [], left: [] });
    expect(liftAbandoned(undefined, { directory, own: '/other.lock' })).toMatchObject({
      lifted: [{ path: workload().target.path }],
      left: [],
    });
    expect([workload().isFrozen(), files()]).toEqual([false, []]);
  });

  test('are released by the evictd that holds the same lock by another path', async () => {
    const { directory, lock } = await frozen();
    const own = new native.FileLock(lock);
    symlinkSync('run', join(directory, 'var-run'));
    const { lifted } = liftAbandoned(undefined, { directory, own: join(directory, 'var-run', 'machine.lock') });
    own.close();
    expect([lifted.length, workload().isFrozen()]).toEqual([1, false]);
  });

  test('are released where the directory of the lock was deleted', async () => {
    const { directory } = await frozen();
    rmSync(join(directory, 'run'), { recursive: true });
    expect(liftAbandoned(undefined, { directory }).lifted).toHaveLength(1);
    expect(workload().isFrozen()).toBe(false);
  });
});

test('a file that cannot be read is kept with a warning, and one of another boot is removed', () => {
  const directory = scratch();
  const [bad, old] = ['a', 'b'].map((lock) => restraintFilePath(lock, directory));
  writeFileSync(bad ?? '', '{');
  writeFileSync(old ?? '', JSON.stringify({ version: 2, bootId: 'before', lock: '/x', restraints: [] }));
  const log = new CollectedLog();
  expect(liftAbandoned(log, { directory })).toEqual({ lifted: [], left: [bad] });
  expect(log.codes).toEqual(['EVICTD_RESTRAINT_UNREAD']);
  expect(readdirSync(directory)).toHaveLength(1);
  expect(liftAbandoned(log, { directory: '/no/such/directory' })).toEqual({ lifted: [], left: [] });
});
