import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pathsByRole, type FilesystemPaths } from '../../../src/core/signal/layout.js';
import { filesystemsRecord } from '../../../src/journal/records/node-records.js';
import type { StepReport, ReportedFilesystems } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { FoundFilesystems } from '../../../src/workloads/disk/found-filesystems.js';
import { eventually } from '../../support/eventually.js';

type Reported = { readonly imagefs: string; readonly containerfs: string | undefined } | undefined;

let nodefs: string;
let images: string;
let reported: Record<string, Reported>;
let found: [reported: ReportedFilesystems | undefined, isApart: boolean][];
let filesystems: FoundFilesystems;

beforeEach(() => {
  nodefs = mkdtempSync(join(tmpdir(), 'evictd-test-nodefs-'));
  images = mkdtempSync(join(tmpdir(), 'evictd-test-images-'));
  reported = { 'unix:///a': undefined, 'unix:///b': undefined };
  found = [];
});
afterEach(() => {
  filesystems.close();
  for (const directory of [nodefs, images]) rmSync(directory, { recursive: true, force: true });
});

function open(configured: FilesystemPaths = { nodefs }): void {
  filesystems = new FoundFilesystems(
    configured,
    native,
    () => Object.entries(reported).map(([endpoint, said]) => ({ endpoint, filesystems: () => said })),
    (...news) => found.push(news),
  );
}
/** A step at this second. */
const stepped = (seconds: number): void => {
  filesystems.stepped({ input: { nowNs: BigInt(seconds) * 1_000_000_000n } as StepReport['input'] });
};

test('the configured filesystems hold until a runtime reports, and then those of the first runtime', async () => {
  open();
  stepped(1);
  expect(pathsByRole(filesystems)).toEqual({ nodefs, imagefs: nodefs, containerfs: nodefs });
  expect(filesystems.isAwaited).toBe(true);
  reported['unix:///b'] = { imagefs: images, containerfs: undefined };
  stepped(2);
  await eventually('it is taken over', () => found.length === 1);
  expect(filesystems.isAwaited).toBe(false);
  expect(pathsByRole(filesystems)).toEqual({ nodefs, imagefs: images, containerfs: images });
  expect(found).toEqual([[{ endpoint: 'unix:///b', imagefs: images, containerfs: undefined }, false]]);
  stepped(3);
  reported['unix:///a'] = { imagefs: images, containerfs: nodefs };
  stepped(4);
  await eventually('another one says otherwise', () => found.length === 2);
  expect(pathsByRole(filesystems)).toEqual({ nodefs, imagefs: images, containerfs: nodefs });
  reported = {};
  stepped(5);
  await eventually('none is a source any more', () => found.length === 3);
  expect(found[2]).toEqual([undefined, false]);
  expect(filesystems.isAwaited).toBe(false);
  expect(pathsByRole(filesystems)).toEqual({ nodefs, imagefs: nodefs, containerfs: nodefs });
});

test('found filesystems report that images are on another filesystem than nodefs', async () => {
  open({ nodefs: '/proc' });
  reported['unix:///a'] = { imagefs: images, containerfs: undefined };
  stepped(1);
  await eventually('it is taken over', () => found.length === 1);
  expect(found[0]?.[1]).toBe(true);
});

test.each<[rule: string, configured: (directory: string) => FilesystemPaths]>([
  ['imagefs', (directory) => ({ nodefs: directory, imagefs: directory })],
  ['containerfs', (directory) => ({ nodefs: directory, containerfs: directory })],
])('if %s is configured no runtime is asked', async (_rule, configured) => {
  open(configured(nodefs));
  reported['unix:///a'] = { imagefs: images, containerfs: images };
  await filesystems.look(1n);
  expect(found).toEqual([]);
  expect(filesystems.isAwaited).toBe(false);
  expect(pathsByRole(filesystems)).toEqual({ nodefs, imagefs: nodefs, containerfs: nodefs });
});

test('a path that does not exist is not used, and is tried again a minute later', async () => {
  open();
  rmSync(images, { recursive: true });
  reported['unix:///a'] = { imagefs: images, containerfs: undefined };
  await filesystems.look(1_000_000_000n);
  expect(found).toEqual([]);
  expect(filesystems.isAwaited).toBe(true);
  images = nodefs;
  reported['unix:///a'] = { imagefs: nodefs, containerfs: undefined };
  stepped(60);
  await new Promise(setImmediate);
  expect(found).toEqual([]);
  stepped(61);
  await eventually('it is taken over', () => found.length === 1);
});

test('the journal has the found filesystems', () => {
  const record = (containerfs: string | undefined, isApart: boolean) =>
    filesystemsRecord({ endpoint: 'unix:///a', imagefs: '/i', containerfs }, isApart);
  expect(record(undefined, true)).toEqual({
    type: 'filesystems',
    endpoint: 'unix:///a',
    imagefs: '/i',
    containerfs: '/i',
    message: 'unix:///a says that images and containers are in /i, not on nodefs',
  });
  expect(record('/c', false).message).toBe('unix:///a says that containers are in /c, images in /i, on nodefs');
  expect(filesystemsRecord(undefined, false)).toEqual({
    type: 'filesystems',
    message: 'images and containers are where the configuration says',
  });
});
