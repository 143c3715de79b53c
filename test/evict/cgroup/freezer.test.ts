import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Freezer } from '../../../src/evict/cgroup/freezer.js';
import type { CgroupHandle } from '../../../src/native/binding.js';
import { native } from '../../../src/native/index.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { withoutDescriptors } from '../../support/descriptors.js';
import { eventually } from '../../support/eventually.js';
import { stateOf } from '../../support/process-state.js';
import { besideVictim, hasFreezer, thawBesides, type Beside } from './beside.js';

const { SIGKILL } = constants.signals;

let victim: TestCgroup;
let handle: CgroupHandle;
beforeEach(() => {
  victim = testCgroup();
  handle = new native.CgroupHandle(victim.dir);
});
afterEach(async () => {
  thawBesides();
  handle.close();
  await victim.cleanup();
});

describe('processes that are stopped with SIGSTOP', () => {
  const alone = () => new Freezer({ handle, openShared: () => undefined, openFreezers: () => [] });

  test('continue if they are left at the end', async () => {
    const { pid } = await victim.spawn('sleep', ['600']);
    const freezer = alone();
    expect(freezer.whileFrozen(() => 'EMFILE')).toBe('EMFILE');
    await eventually('it to stop', () => stateOf(pid) === 'T');
    freezer.thaw(); // that is not yet the end
    expect(stateOf(pid)).toBe('T');
    freezer.release();
    await eventually('it to go on', () => stateOf(pid) === 'S');
  });

  test('that another program stopped stay stopped, if evictd did not stop any', async () => {
    const { pid } = await victim.spawn('sleep', ['600']);
    process.kill(pid, 'SIGSTOP');
    await eventually('it to stop', () => stateOf(pid) === 'T');
    alone().release();
    expect(stateOf(pid)).toBe('T');
  });
});

describe.runIf(hasFreezer)('processes that are frozen', () => {
  let beside: Beside;
  let pid: number;
  beforeEach(async () => {
    beside = besideVictim('freezer', victim);
    ({ pid } = await victim.spawn('sleep', ['600']));
    beside.add(pid);
  });
  afterEach(async () => {
    thawBesides();
    writeFileSync(`${beside.dir}/freezer.state`, 'THAWED');
    await victim.cleanup();
    await eventually('it to be empty', () => beside.processes().length === 0);
    beside.cleanup();
  });
  const isFrozen = () => beside.read('freezer.state') !== 'THAWED\n';

  test('are thawed though the signals have used every free descriptor', async () => {
    const freezer = new Freezer({ handle, openShared: (name) => open(name), openFreezers: () => [] });
    let giveBack = (): void => undefined;
    let over = Promise.resolve();
    freezer.whileFrozen(() => {
      expect(isFrozen()).toBe(true);
      over = withoutDescriptors(() => new Promise((done) => (giveBack = done)));
    });
    giveBack();
    await over;
    expect(isFrozen()).toBe(false);
    freezer.release();
  });

  test('are thawed with the next reading, or at the end, after a thaw that failed', () => {
    for (const again of ['thaw', 'release'] as const) {
      let failures = 1;
      const shared = new native.CgroupHandle(beside.dir);
      const failing = {
        kill: () => {
          throw new Error('ENOENT');
        },
        freeze: (limitMs: number) => shared.freeze(limitMs),
        thaw: () => {
          if (failures-- > 0) throw new Error('EMFILE');
          shared.thaw();
        },
        close: () => {
          shared.close();
        },
      } as unknown as CgroupHandle;
      const freezer = new Freezer({
        handle,
        openShared: (name) => (name === 'freezer' ? failing : undefined),
        openFreezers: () => [],
      });
      freezer.whileFrozen(() => undefined);
      expect(isFrozen()).toBe(true);
      freezer[again]();
      expect(isFrozen()).toBe(false);
      freezer.release();
    }
  });

  test('end when they are killed and thawed', async () => {
    const freezer = new Freezer({ handle, openShared: (name) => open(name), openFreezers: () => [] });
    expect(freezer.whileFrozen(() => [isFrozen(), handle.signal(SIGKILL).signalled])).toEqual([true, 1]);
    await eventually('it to end', () => handle.processes().length === 0);
    freezer.release();
  });

  const open = (name: 'unified' | 'freezer') => (name === 'freezer' ? new native.CgroupHandle(beside.dir) : undefined);
});
