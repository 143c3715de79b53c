import { expect, onTestFinished, test, vi } from 'vitest';
import type { Binding, FilesystemTreeResult } from '../../../src/native/binding.js';
import { FilesystemTrees } from '../../../src/workloads/disk/filesystem-trees.js';

test('a filesystem that does not answer is not measured again until it has', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const answers: (() => void)[] = [];
  class FilesystemTree {
    constructor(path: string, onDone: (result: FilesystemTreeResult) => void) {
      answers.push(() => {
        onDone({ directories: [{ path, bytes: 1, inodes: 1 }], errors: 0, errno: 0, complete: true, device: 1n });
      });
    }
    close(): void {
      throw new Error('it is left to go on');
    }
  }
  const trees = new FilesystemTrees({ FilesystemTree } as unknown as Binding, { nodefs: '/node' });
  const walked = async (): Promise<readonly string[]> => {
    const walking = trees.walk(['nodefs']);
    await vi.advanceTimersByTimeAsync(300_000);
    await walking;
    return trees.problems.map(({ message }) => message.replace(/.*: /, ''));
  };
  expect(await walked()).toEqual(['no answer for 60 s']);
  expect(await walked()).toEqual(['still no answer']);
  expect(answers).toHaveLength(1);
  answers[0]?.();
  expect(await walked()).toEqual(['no answer for 60 s']);
  expect(answers).toHaveLength(2);
});
