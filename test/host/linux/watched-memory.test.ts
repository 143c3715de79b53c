import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { departuresOf, type Departures } from '../../../src/core/decide/departures.js';
import type { CgroupHierarchy } from '../../../src/core/workload/cgroup.js';
import { watchedMachine } from '../../../src/host/linux/watched-memory.js';
import { meminfoText, type Meminfo } from '../../support/meminfo.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const evictd = departuresOf('evictd');
const pages = { MemTotal: 990300, MemFree: 604604, Buffers: 3656, Cached: 133560, SwapCached: 0, AnonPages: 213520 };
const estimated = { ...pages, MemAvailable: 718176 };
const ARCSTATS = '/proc/spl/kstat/zfs/arcstats';

function open(departures: Departures, fields: Meminfo, hierarchy?: CgroupHierarchy) {
  const zfs = { isLoaded: false };
  const findArcstats = (): string | undefined => (zfs.isLoaded ? ARCSTATS : undefined);
  const read = () => ({ meminfo: meminfoText(fields), arcstats: findArcstats() });
  const { memory, changed } = watchedMachine(hierarchy, departures, { read, findArcstats });
  const source = () => changed()?.memory.description;
  return { zfs, opened: memory.description, source, changed };
}

test('ZFS that is loaded while evictd runs counts from the next look on, and until it is unloaded', () => {
  const { zfs, opened, source, changed } = open(evictd, estimated);
  expect([opened, source()]).toEqual(['MemAvailable of /proc/meminfo', undefined]);
  zfs.isLoaded = true;
  const watched = changed();
  expect(watched?.memory.description).toBe(`MemAvailable of /proc/meminfo + size − c_min of ${ARCSTATS}`);
  expect(watched?.plan.sampled).toBe(watched?.memory.sampled);
  expect(watched?.plan.sampled.files.map(({ path }) => path)).toEqual(['/proc/meminfo', ARCSTATS]);
  expect(source()).toBeUndefined();
  zfs.isLoaded = false;
  expect([source(), source()]).toEqual(['MemAvailable of /proc/meminfo', undefined]);
});

test.each<[rule: string, departures: Departures, fields: Meminfo]>([
  ['with the definition of the kubelet', departuresOf('kubelet'), estimated],
  ['without the departure kernel-memory', { ...evictd, 'kernel-memory': false }, estimated],
  ['without MemAvailable', evictd, pages],
])('ZFS changes nothing %s', (_rule, departures, fields) => {
  const { zfs, source } = open(departures, fields);
  zfs.isLoaded = true;
  expect(source()).toBeUndefined();
});

test('a container follows its limit, and ZFS while it has none', () => {
  const mountPoint = temporaryDirectory();
  const limit = (text: string): void => {
    writeFileSync(join(mountPoint, 'memory.max'), text);
  };
  writeFileSync(join(mountPoint, 'cgroup.events'), 'populated 1\n'); // no root has it
  limit('max\n');
  const { zfs, opened, source } = open(evictd, estimated, { version: 2, controller: '', mountPoint, root: '/' });
  expect([opened, source()]).toEqual(['MemAvailable of /proc/meminfo', undefined]);
  limit('67108864\n');
  expect([source(), source()]).toEqual(['memory.current − reclaimable memory of /', undefined]);
  zfs.isLoaded = true;
  expect(source()).toBeUndefined();
  limit('max\n');
  expect([source(), source()]).toEqual([`MemAvailable of /proc/meminfo + size − c_min of ${ARCSTATS}`, undefined]);
});
