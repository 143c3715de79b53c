import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { UnavailableError } from '../../../src/errors.js';
import { readBootId } from '../../../src/host/windows/windows-process.js';
import { lockInstance, holderOf, recordedHolder } from '../../../src/host/windows/windows-lock-files.js';
import { askByFile, listenToRequests } from '../../../src/host/windows/request-file.js';
import type { ProcessEntry, WindowsBinding } from '../../../src/native/windows-binding.js';
import { eventually } from '../../support/eventually.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const machine = { name: 'machine', cgroup: undefined, cgroupVersion: undefined } as const;

let directory: string;
let path: string;
const listed: Pick<ProcessEntry, 'pid' | 'createdAt'>[] = [];

/** The paths that a lock was made for. */
const held = new Set<string>();
const native = {
  processes: () => listed as ProcessEntry[],
  FileLock: class {
    readonly #path: string;
    constructor(locked: string) {
      if (held.has(locked)) throw Object.assign(new Error('held'), { code: 'ERROR_LOCK_VIOLATION', errno: -33, syscall: 'LockFileEx' });
      this.#path = locked;
      held.add(locked);
    }
    close(): void {
      held.delete(this.#path);
    }
  },
} as Pick<WindowsBinding, 'processes' | 'FileLock'>;

beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, 'machine.lock');
  held.clear();
  listed.splice(0, Infinity, { pid: 4, createdAt: 100n }, { pid: process.pid, createdAt: 200n });
});

test('a file beside the lock records the holder with its start time', () => {
  const lock = lockInstance(directory, machine, native);
  expect(lock).toMatchObject({ instance: 'machine', recordError: undefined });
  expect(holderOf(path, native)).toMatchObject({ pid: process.pid, version: expect.any(String) as string });
  lock.close();
});

test('a second evictd is refused, with the pid of the first', () => {
  lockInstance(directory, machine, native);
  const again = (): unknown => lockInstance(directory, machine, native);
  expect(again).toThrow(UnavailableError);
  expect(again).toThrow(`another evictd (process ${String(process.pid)}) guards this node (machine)`);
});

test('a dry run has a lock of its own', () => {
  lockInstance(directory, machine, native);
  expect(lockInstance(directory, machine, native, true).instance).toBe('machine-dry-run');
});

test.each<[rule: string, entry: Pick<ProcessEntry, 'pid' | 'createdAt'> | undefined]>([
  ['the recorded process has ended', undefined],
  ['another process with the same pid does not hold the lock', { pid: process.pid, createdAt: 201n }],
])('%s', (_rule, entry) => {
  lockInstance(directory, machine, native);
  listed.splice(1, 1, ...(entry ? [entry] : []));
  expect(holderOf(path, native)).toBeUndefined();
  expect(recordedHolder(path)?.pid).toBe(process.pid);
});

test('a missing or truncated record, or one of another shape, means no holder', () => {
  expect(recordedHolder(path)).toBeUndefined();
  writeFileSync(join(directory, 'machine.holder.json'), '{"pid":');
  expect(holderOf(path, native)).toBeUndefined();
  writeFileSync(join(directory, 'machine.holder.json'), JSON.stringify({ pid: [process.pid], version: '1', createdAt: '200' }));
  expect(recordedHolder(path)).toBeUndefined();
});

test('a failed write of the record does not lose the lock', () => {
  const refusing = { ...native, processes: () => { throw new Error('refused'); } }; // oxfmt-ignore
  expect(lockInstance(directory, machine, refusing).recordError?.message).toBe('refused');
});

test.each<[rule: string, createdAt: readonly bigint[], id: string]>([
  ['the oldest process with a start time dates the boot', [300n, 100n, 200n], '100'],
  ['a process without a start time (0) does not count', [0n, 200n], '200'],
  ['no process has a start time', [0n], ''],
])('%s', (_rule, times, id) => {
  expect(readBootId({ processes: () => times.map((createdAt, pid) => ({ pid, createdAt })) as ProcessEntry[] })).toBe(id);
});

test('without a list of processes there is no boot ID', () => {
  const refused = (): never => {
    throw new Error('ERROR_ACCESS_DENIED');
  };
  expect(readBootId({ processes: refused })).toBe('');
});

test('a request is delivered once, but not one for another process, from before or of another shape', async () => {
  const requests: string[] = [];
  askByFile(path, process.pid, 'stop');
  const listening = listenToRequests(path, {
    reload: () => requests.push('reload'),
    resume: () => requests.push('resume'),
    stop: () => requests.push('stop'),
  });
  onTestFinished(() => {
    listening.close();
  });
  askByFile(path, process.pid + 1, 'stop');
  await eventually('a request', () => readFileSync(join(directory, 'machine.request.json'), 'utf8') !== '');
  writeFileSync(join(directory, 'machine.request.json'), JSON.stringify({ pid: process.pid, what: 'other', id: 'a' }));
  await pause(600); // two looks
  askByFile(path, process.pid, 'reload');
  await eventually('the request arrives', () => requests.length > 0);
  utimesSync(join(directory, 'machine.request.json'), 1, 1);
  await pause(600); // two looks
  askByFile(path, process.pid, 'resume');
  await eventually('the next one arrives', () => requests.length > 1);
  askByFile(path, process.pid, 'stop');
  await eventually('the last one arrives', () => requests.length > 2);
  expect(requests).toEqual(['reload', 'resume', 'stop']);
});
