import { readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loopWorks, type LoopType } from '../support/loop-filesystem.js';
import { alive, available, disk, holder, inodeHolder } from './disk-holder.js';
import { Evictd, victimOf } from './evictd.js';
import { MIB, ON, testNode } from './node.js';
import { aWhile } from './wait.js';

// The journal is on the disk that fills. One evictd for all steps: emulated machines are slow to start one.

const types: readonly [type: LoopType, keptBack: number][] = [
  ['ext4', 0],
  ['xfs', 32 * 1024], // xfs keeps its last blocks for its own trees
];

/** Below this, the journal has only the room that it has reserved. */
const FIRST_BLOCK = 1024;

const freeInodes = (directory: string): number => statfsSync(directory).ffree;

describe.each(types)(`%s to the last byte and to the last inode (${ON})`, (type, keptBack) => {
  test.runIf(loopWorks(type))(
    'evicts the workload that holds most in deleted files, none if there are no such files, and records everything',
    async () => {
      const node = testNode();
      const directory = disk(32, 500, type);
      const config = {
        evictionHard: { 'memory.available': '0%' },
        node: { cgroup: node.path },
        workloads: [{ cgroup: node.path }],
        filesystems: { nodefs: directory },
        stateDirectory: `${directory}/state`,
        journal: { maxSize: '64Ki', maxFiles: 2 },
        monitoringInterval: '1s',
      };
      const guard = await new Evictd({ config }).guarding();
      await guard.recorded('start'); // the journal has reserved its room
      /** Waits for the record. */
      const watching = (evictionHard: Readonly<Record<string, string>> = {}) =>
        guard.reloaded({ ...config, evictionHard: { ...config.evictionHard, ...evictionHard } });
      const isOver = (signal: string, times = 1) =>
        guard.until(
          `${signal} is enough`,
          () =>
            guard.journal().filter((line) => line.type === 'threshold' && line.signal === signal && line.met === false).length === times,
        );
      const some = await holder(node.child('some'), `${directory}/some`, 1);
      const bytes = await holder(node.child('bytes'), `${directory}/bytes`, 8);
      const keeps = await holder(node.child('keeps'), `${directory}/keeps`, Infinity, 'kept');
      expect(available(directory)).toBeLessThanOrEqual(keptBack);
      while (statSync(guard.journalFile).size <= FIRST_BLOCK) await watching();
      await watching({ 'nodefs.available': '4Mi' });
      await isOver('nodefs.available');
      expect(await bytes.ended).toBe('SIGKILL');
      expect(await guard.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'bytes' }, signal: 'nodefs.available' });
      expect(available(directory)).toBeGreaterThan(7 * MIB);

      await watching();
      const names = await inodeHolder(node.child('names'), directory, Infinity, 'kept');
      expect(freeInodes(directory)).toBe(0);
      await watching({ 'nodefs.inodesFree': '40' });
      expect(await guard.recorded('alert')).toMatchObject({ alert: 'nothing-evictable', signal: 'nodefs.inodesFree' });
      expect(await guard.metric('evictd_node_condition{condition="DiskPressure"}')).toBe(1);
      expect(await guard.metric('evictd_signal_available_inodes{eviction_signal="nodefs.inodesFree"}')).toBe(0);
      await aWhile(); // a victim would be a defect
      for (const name of readdirSync(directory)) if (name.startsWith('of-')) rmSync(`${directory}/${name}`);
      await isOver('nodefs.inodesFree');

      await watching();
      const inodes = await inodeHolder(node.child('inodes'), directory, 200, 'deleted');
      const more = await inodeHolder(node.child('more'), directory, Infinity, 'kept');
      expect(freeInodes(directory)).toBe(0);
      await watching({ 'nodefs.inodesFree': '40' });
      await isOver('nodefs.inodesFree', 2);
      expect(await inodes.ended).toBe('SIGKILL');
      expect(await guard.recorded('outcome', 'inodes')).toMatchObject({ result: 'killed', signal: 'nodefs.inodesFree' });
      await aWhile();
      expect([some, keeps, names, more].map(alive)).toEqual([true, true, true, true]);
      expect(
        guard
          .journal()
          .filter((line) => line.type === 'decision')
          .map(victimOf),
      ).toEqual(['bytes', 'inodes']);
      expect(await guard.stop()).toBe(0);
    },
  );
});
