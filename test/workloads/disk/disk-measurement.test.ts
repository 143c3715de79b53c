import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, expect, test, vi } from 'vitest';
import { native } from '../../../src/native/index.js';
import { BackgroundReads } from '../../../src/native/pending-answers.js';
import { measureDisks, type DiskParts } from '../../../src/workloads/disk/disk-measurement.js';

const NOTHING: DiskParts = {
  directories: { of: () => [], problems: [] },
  containers: { of: () => ({ layers: [], logs: [] }), problems: [] },
  trees: { of: () => undefined, problems: [] },
  images: { holders: [] },
};

test('of the directories of a workload those on the filesystem count', async () => {
  const { dev } = statSync(tmpdir(), { bigint: true });
  const directory = (device: bigint, bytes: bigint) => ({ device, amount: { bytes, inodes: 1n }, atNs: 0n });
  const latest = new Map([['/web', [directory(dev, 100n), directory(dev, 20n), directory(dev + 1n, 4000n)]]]);
  const { of } = await measureDisks(
    native,
    undefined,
    { nodefs: tmpdir() },
    { ...NOTHING, directories: { of: (path) => latest.get(path) ?? [], problems: [] } },
  );
  expect(of('/web').nodefs).toEqual({ uses: { bytes: 120n, inodes: 2n }, frees: { bytes: 0n, inodes: 0n }, atNs: 0n });
  expect(of('/other').nodefs).toMatchObject({ uses: { bytes: 0n, inodes: 0n } });
});

test('of the layers and logs of its containers those on the filesystem count, and only layers are freed', async () => {
  const { dev } = statSync(tmpdir(), { bigint: true });
  const part = (device: bigint, bytes: bigint, atNs: bigint) => ({ device, amount: { bytes, inodes: 1n }, atNs });
  const requested: unknown[] = [];
  const containers = {
    of: (path: string, shortSinceNs?: bigint) => {
      requested.push([path, shortSinceNs]);
      if (path === '/new') return 'measuring' as const;
      return { layers: [part(dev, 100n, 5n), part(dev + 1n, 9000n, 1n)], logs: [part(dev, 20n, 7n), part(dev + 1n, 400n, 2n)] };
    },
    problems: [{ code: 'EVICTD_DISK_UNMEASURED', message: 'hangs' }],
  };
  const { of, problems } = await measureDisks(native, undefined, { nodefs: tmpdir(), imagefs: '/proc' }, { ...NOTHING, containers });
  expect(of('/web', { nodefs: 3n, imagefs: 4n, containerfs: 5n }).nodefs).toEqual({
    uses: { bytes: 120n, inodes: 2n },
    frees: { bytes: 100n, inodes: 1n },
    atNs: 5n,
  });
  expect(of('/new')).toEqual({ nodefs: 'measuring', imagefs: 'measuring', containerfs: 'measuring' });
  expect(requested).toEqual([['/web', 3n], ['/web', 4n], ['/web', 5n], ...Array.from({ length: 3 }, () => ['/new', undefined])]);
  expect(problems).toContainEqual(containers.problems[0]);
});

afterEach(() => {
  vi.useRealTimers();
});

test('a filesystem that does not answer delays no other, takes no time, and is left alone until it does', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
  const requested: string[] = [];
  const answers: (() => void)[] = [];
  class DeletedFiles {
    constructor(path: string, onDone: (result: object) => void) {
      requested.push(path);
      const answer = (): void => {
        onDone({ device: 1n, complete: true, groups: [], unreadable: 0 });
      };
      if (path === '/hung') answers.push(answer);
      else setTimeout(answer, 10);
    }
    close(): void {
      throw new Error('it is left to go on');
    }
  }
  const silent = new BackgroundReads();
  const fake = { ...native, DeletedFiles } as unknown as typeof native;
  const measure = async (advanceMs: number) => {
    const measured = measureDisks(fake, undefined, { nodefs: '/node', imagefs: '/hung' }, NOTHING, silent);
    await vi.advanceTimersByTimeAsync(advanceMs);
    const { of, beganNs, endedNs, problems } = await measured;
    return [Object.keys(of('/web')), endedNs - beganNs, problems.map(({ message }) => message)];
  };
  const why = (text: string) => [`cannot measure deleted files on the filesystem of /hung: ${text}`];
  expect(await measure(60_000)).toEqual([['nodefs'], 10_000_000n, why('no answer for 60 s')]);
  expect(await measure(10)).toEqual([['nodefs'], 10_000_000n, why('still no answer')]);
  vi.advanceTimersByTime(3_600_000);
  await measure(10);
  expect(requested).toEqual(['/node', '/hung', '/node', '/node']);
  answers[0]?.();
  await measure(60_000);
  expect(requested.slice(4)).toEqual(['/node', '/hung']);
});

test('images count where the image filesystem is, whatever else is there', async () => {
  const images = { holders: [{ kind: 'image' as const, name: 'web:1', holds: { bytes: 5n, inodes: 0n } }] };
  const of = async (filesystems: Parameters<typeof measureDisks>[2]) => {
    const { nodefs, imagefs } = (await measureDisks(native, undefined, filesystems, { ...NOTHING, images })).holders;
    return [nodefs?.images?.length, imagefs?.images?.length];
  };
  expect(await of({ nodefs: tmpdir() })).toEqual([1, 1]);
  expect(await of({ nodefs: tmpdir(), imagefs: '/proc' })).toEqual([undefined, 1]);
});
