import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Closers } from '../../src/compose/closers.js';
import { lock } from '../../src/compose/phases/lock.js';
import { native } from '../../src/native/index.js';
import { load } from '../config/scratch.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const quiet = (): undefined => undefined;

test('the lock is acquired before evictd reads anything of the node, because a reading may hang', () => {
  const runtimeDirectory = temporaryDirectory();
  const loaded = load({
    'config.yaml': `node: { cgroup: /none/there/ }\nruntimeDirectory: ${runtimeDirectory}\nstateDirectory: ${runtimeDirectory}\n`,
  });
  const closers = new Closers();
  const requests = { reload: quiet, resume: quiet, stop: quiet };
  const start = () => {
    try {
      lock(
        loaded,
        {
          ...{ dryRun: true, isTTY: false, env: {}, logFile: undefined, recording: undefined, requests },
          ...{ collectAll: quiet, whenIdle: quiet, whenMany: quiet },
        },
        closers,
      );
    } finally {
      closers.close();
    }
  };
  expect(start).toThrow(expect.objectContaining({ code: 'EVICTD_NODE_MISSING' }));
  const held = new native.FileLock(join(runtimeDirectory, 'cgroup-%2Fnone%2Fthere-dry-run.lock'));
  onTestFinished(() => {
    held.close();
  });
  expect(start).toThrow(expect.objectContaining({ code: 'EVICTD_INSTANCE_RUNNING' }));
});
