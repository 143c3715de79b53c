import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keptDirectories } from '../../src/compose/emptying.js';
import { overlap } from '../../src/core/workload-directory.js';

const endpoint = 'unix:///r';
const isKept = (path: string, told: { imagefs: string; containerfs: undefined } | undefined): boolean =>
  keptDirectories([{ endpoint, filesystems: () => told }]).some((kept) => overlap(kept.path, path));

test('where a container runtime keeps its images is kept, also where its path leads over a link', () => {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'data/containerd'), { recursive: true });
  symlinkSync(join(directory, 'data/containerd'), join(directory, 'link'));
  const told = { imagefs: join(directory, 'link'), containerfs: undefined };
  expect(isKept(join(directory, 'link/below'), told)).toBe(true);
  expect(isKept(join(directory, 'data'), told)).toBe(true);
  expect(isKept(join(directory, 'other'), told)).toBe(false);
});

test('as long as it has not told where, nothing is emptied', () => {
  expect(isKept('/srv/data', undefined)).toBe(true);
});
