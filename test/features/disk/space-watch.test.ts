import { expect, test, vi } from 'vitest';
import type { DiskHolders } from '../../../src/core/disk/filesystem-holders.js';
import { initialState } from '../../../src/core/decide/state.js';
import type { StepReport } from '../../../src/monitor/ports/ports.js';
import { SpaceWatch } from '../../../src/features/disk/space-watch.js';
import { Mi, threshold } from '../../core/support.js';

const holders: DiskHolders = {
  nodefs: {
    deleted: [],
    directories: { root: { path: '/', amount: { bytes: Mi, inodes: 1n } }, below: [], atNs: 0n, isPartial: false },
  },
};

/** Its looks are answered by hand. */
function watching() {
  const answers: { resolve: (found: DiskHolders) => void; reject: (error: Error) => void }[] = [];
  const look = vi.fn(() => new Promise<DiskHolders>((resolve, reject) => answers.push({ resolve, reject })));
  const onFound = vi.fn();
  const onError = vi.fn();
  const watch = new SpaceWatch({ readHolders: look, onFound, onError });
  let nowNs = 1n;
  const stepped = (...signals: Parameters<typeof threshold>[0][]): void => {
    const episodes = new Map(signals.map((signal) => [signal, threshold(signal, '100Mi')]));
    watch.stepped({ input: { nowNs }, state: { ...initialState, episodes } } as unknown as StepReport);
  };
  const after = (seconds: number): void => {
    nowNs += BigInt(seconds) * 1_000_000_000n;
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const done = async (): Promise<void> => {
    answers.at(-1)?.resolve(holders);
    await settled();
  };
  const failed = async (): Promise<void> => {
    answers.at(-1)?.reject(new Error('EMFILE'));
    await settled();
  };
  return { watch, look, onFound, onError, stepped, after, done, failed };
}

test('directories are searched when a disk threshold is met, once an episode, and the result is reported', async () => {
  const { look, onFound, stepped, done } = watching();
  stepped();
  stepped('memory.available');
  expect(look).not.toHaveBeenCalled();
  stepped('memory.available', 'nodefs.available', 'nodefs.inodesFree');
  stepped('nodefs.available', 'nodefs.inodesFree');
  expect(look.mock.calls).toEqual([[['nodefs']]]);
  await done();
  expect(onFound.mock.calls.map(([signal]) => signal as string)).toEqual(['nodefs.available', 'nodefs.inodesFree']);
  expect(onFound.mock.calls[0]?.[1]).toMatchObject([{ kind: 'directory', path: '/' }]);
  stepped('nodefs.available', 'nodefs.inodesFree');
  expect(look).toHaveBeenCalledOnce();
});

test('the next episode is searched after a minute at the earliest, and results of a past episode are dropped', async () => {
  const { look, onFound, stepped, after, done } = watching();
  stepped('nodefs.available');
  stepped();
  await done();
  expect(onFound).not.toHaveBeenCalled();
  after(60);
  stepped('nodefs.available');
  await done();
  after(30);
  stepped();
  stepped('nodefs.available');
  after(29);
  stepped('nodefs.available');
  expect([look.mock.calls.length, onFound.mock.calls.length]).toEqual([2, 1]);
  after(1);
  stepped('nodefs.available');
  await done();
  expect([look.mock.calls.length, onFound.mock.calls.length]).toEqual([3, 2]);
});

test('another filesystem that becomes short meanwhile is searched next', async () => {
  const { look, stepped, done } = watching();
  stepped('nodefs.available');
  stepped('nodefs.available', 'imagefs.available');
  expect(look).toHaveBeenCalledOnce();
  await done();
  stepped('nodefs.available', 'imagefs.available');
  expect(look.mock.calls).toEqual([[['nodefs']], [['imagefs']]]);
});

test('an error is reported, and the search is not repeated in the same episode', async () => {
  const { look, onError, stepped, failed } = watching();
  stepped('nodefs.available');
  await failed();
  stepped('nodefs.available');
  expect([look.mock.calls.length, onError.mock.calls.length]).toEqual([1, 1]);
});

test('no result is reported after close()', async () => {
  const { watch, look, onFound, stepped, done } = watching();
  stepped('nodefs.available');
  watch.close();
  await done();
  stepped('imagefs.available');
  expect([look.mock.calls.length, onFound.mock.calls.length]).toEqual([1, 0]);
});
